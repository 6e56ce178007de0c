// SPDX-License-Identifier: Apache-2.0
// An operation that lacks memory throws std::bad_alloc, and leaves nothing of itself in the connection.
#include <new>

#include "ends.hpp"
#include "tests/verbs/failing_allocation.hpp"

namespace weft::test {
namespace {

TEST(MissingMemory, OfAReceiveLeavesTheConnectionUsable) {
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
    if (thrown) EXPECT_EQ(must(ends.server.receive({}, kPatience)), 0U) << "after failure " << failures;
    must(ends.server.send({}, kPatience));
  }
  EXPECT_GT(failures, 0);
}

}  // namespace
}  // namespace weft::test
