// SPDX-License-Identifier: Apache-2.0
// An operation that lacks memory throws std::bad_alloc, and leaves nothing of itself in the connection.
#include <new>

#include "ends.hpp"
#include "tests/verbs/failing_allocation.hpp"

namespace weft::test {
namespace {

TEST(MissingMemory, OfAReceiveLeavesNothingOfItBehind) {
  int failures = 0;
  for (bool failed = true; failed; failures += failed ? 1 : 0) {
    Ends ends;
    must(ends.client.send({}, kPatience));
    bool thrown = false;
    {
      const FailingAllocation here(failures);
      try {
        static_cast<void>(ends.server.receive({}, kPatience));
      } catch (const std::bad_alloc&) {
        thrown = true;
      }
      failed = here.has_failed();
    }
    // The lack of memory may have ended the connection.
    const auto fine = [](const auto& result) { return result || result.error().code == Errc::kDisconnected; };
    if (thrown) {
      EXPECT_TRUE(fine(ends.server.receive({}, kPatience))) << "after failure " << failures;
    }
    EXPECT_TRUE(fine(ends.server.send({}, kPatience))) << "after failure " << failures;
  }
  EXPECT_GT(failures, 0);
}

}  // namespace
}  // namespace weft::test
