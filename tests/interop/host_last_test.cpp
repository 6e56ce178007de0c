// SPDX-License-Identifier: Apache-2.0
// What leaves the guest in ruins, and so comes last: siw's process never gets out of the kernel again. Tests with a
// parameter run after all others, in the order of the files.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <chrono>

#include "tests/interop/vm.hpp"
#include "tests/interop/weft_end.hpp"
#include "verbs/options.hpp"

namespace weft::interop {
namespace {

class Last : public testing::TestWithParam<const char*> {
 protected:
  void SetUp() override {
    const auto& all = *testing::UnitTest::GetInstance();
    for (int i = all.total_test_suite_count() - 1; i >= 0; --i) {
      const auto& suite = *all.GetTestSuite(i);
      if (!suite.should_run()) continue;
      ASSERT_EQ(&suite, testing::UnitTest::GetInstance()->current_test_suite()) << suite.name() << " would find ruins";
      return;
    }
  }
};

// siw has no zero-length Send as ready-to-receive indication. Offered nothing else, it names the Write, which weft may
// not use: the initiator terminates (MPA2-9.2-13). siw then waits for a connection that never comes, and cannot be
// killed.
TEST_P(Last, NoCommonReadyToReceiveIndication) {
  Session guest = Vm::instance().start("siw_peer listen 7471 closed");
  ASSERT_TRUE(guest.wait_for("listening")) << guest.transcript();
  testing::internal::CaptureStderr();
  EXPECT_THROW(WeftEnd::connect(Vm::instance().peer_port(),
                                {.policy = {.startup = {.peer_to_peer = true, .rtr = {.send = true}}}}),
               std::runtime_error);
  EXPECT_TRUE(verbs::flush_log(std::chrono::seconds(10)));
  EXPECT_THAT(testing::internal::GetCapturedStderr(), testing::HasSubstr("layer 2 (LLP), type 0, code 0x07"));
  EXPECT_TRUE(guest.wait_for("request")) << guest.transcript();
}

INSTANTIATE_TEST_SUITE_P(Siw, Last, testing::Values("siw_peer"));

}  // namespace
}  // namespace weft::interop
