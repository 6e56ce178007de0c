// SPDX-License-Identifier: Apache-2.0
// Behind the last test: the VM goes off, and tshark reads every packet that crossed the guest's network card. qemu
// recorded them, so weft's own capture tap has no part in this.
#include <gtest/gtest.h>

#include <cstdio>

#include "tests/captures/tshark.hpp"
#include "tests/interop/vm.hpp"

namespace weft::interop {
namespace {

class PowerOff : public testing::Environment {
 public:
  void TearDown() override {
    if (!Vm::booted()) return;
    Vm::instance().power_off();
    if (!captures::have_tshark()) {
      std::puts("tshark is not installed: the packets of this run are not looked at");
      return;
    }
    const captures::Verdict seen = captures::judge(Vm::instance().packets());
    EXPECT_GT(seen.good_crcs, 0U);
    const testing::UnitTest& program = *testing::UnitTest::GetInstance();
    if (program.test_to_run_count() == program.total_test_count()) {
      EXPECT_GT(seen.fpdus, seen.good_crcs) << "some connections had no CRC";
    }
    // Both ends check every CRC themselves. qemu's TCP cuts the stream where it likes, and once in a while tshark then
    // reads payload as FPDUs: seen once, with our test pattern (44 4f 5a 65) as CRC, in a stream that siw took.
    EXPECT_LE(seen.bad_crcs, seen.good_crcs / 20);
    EXPECT_EQ(seen.malformed, 0U);
    Vm::instance().forget_packets();
  }
};

const testing::Environment* const power_off = testing::AddGlobalTestEnvironment(new PowerOff);

}  // namespace
}  // namespace weft::interop
