// SPDX-License-Identifier: Apache-2.0
// Revoking memory while the stream that does it, or another thread, still uses it.
#include <gtest/gtest.h>

#include <chrono>
#include <future>

#include "stream_memory_fixture.hpp"

namespace weft::verbs::detail {
namespace {

using ddp::AccessError;
using ddp::LocalFault;

// A window that holds the last reference to its region: the application's went while the window was bound.
class LastReference : public MemoryFixture {
 protected:
  std::shared_ptr<RegionState> base =
      RegionState::create(table, domain, {.start = octets.data(), .length = octets.size(), .access = kAllAccess});
  std::shared_ptr<WindowState> window = WindowState::create(table, domain);
  const std::array<Sge, 1> list{Sge{0, 16, base->stag()}};
  const std::uint32_t rkey = window->next_stag();

  std::expected<void, LocalFault> bind(const std::shared_ptr<WindowState>& which, std::uint32_t stag) {
    EXPECT_TRUE(memory.post_local({1, BindWindow{which, base, stag, 0, 8, Access::kRemoteRead}}));
    return memory.perform_local(1);
  }
  void SetUp() override {
    MemoryFixture::SetUp();
    ASSERT_TRUE(bind(window, rkey));
    memory.drop_leases();
    EXPECT_FALSE(base->deregister());
  }
  // STags in use: of the window, and of the region while it exists.
  [[nodiscard]] std::size_t stags() const { return table->size(); }
};

// Each of these waited for ever for the stream's own lease on the region.
TEST_F(LastReference, GoesWithAWindowThatThePeerInvalidates) {
  auto out = some(16, 0);
  EXPECT_TRUE(memory.gather(list, 0, out));  // leases the region
  base.reset();
  EXPECT_TRUE(memory.invalidate({rkey}));
  EXPECT_FALSE(window->bound());
  EXPECT_EQ(memory.invalidate({rkey}).error(), AccessError::kInvalidStag);
  memory.drop_leases();
  EXPECT_EQ(stags(), 1U);
}

// RDMAP-8.1.1-06, SEC-6.2.2-02: what the socket has yet to read stays registered.
TEST_F(LastReference, OutlivesOctetsOnLoan) {
  std::array<Bytes, 4> pieces;
  std::size_t used = 0;
  ASSERT_TRUE(memory.borrow(list, 0, 16, pieces, used));
  base.reset();
  ASSERT_TRUE(memory.post_local({2, LocalInvalidate{rkey}}));
  EXPECT_TRUE(memory.perform_local(2));
  EXPECT_FALSE(window->bound());
  EXPECT_TRUE(memory.lends());
  EXPECT_EQ(stags(), 2U);
  memory.drop_leases();
  EXPECT_EQ(stags(), 1U);
}

TEST_F(LastReference, GoesWithABindThatFails) {
  auto out = some(16, 0);
  ASSERT_TRUE(memory.post_local({2, BindWindow{window, base, 0, 0, 8, Access::kRemoteRead}}));
  EXPECT_TRUE(memory.invalidate({rkey}));
  EXPECT_TRUE(memory.gather(list, 0, out));
  base.reset();
  EXPECT_EQ(memory.perform_local(2).error(), LocalFault::kInvalidKey);
  memory.drop_leases();
  EXPECT_EQ(stags(), 1U);
}

TEST_F(LastReference, GoesWithABindThatIsFlushed) {
  auto out = some(16, 0);
  ASSERT_TRUE(memory.post_local({2, BindWindow{window, base, 0, 0, 8, Access::kRemoteRead}}));
  EXPECT_TRUE(memory.invalidate({rkey}));
  EXPECT_TRUE(memory.gather(list, 0, out));
  base.reset();
  memory.finish_local(2);
  memory.drop_leases();
  EXPECT_EQ(stags(), 1U);
}

class Revoking : public MemoryFixture {};

// RDMAP-8.1.1-06, SEC-6.2.2-02: also when the STag was invalidated before.
TEST_F(Revoking, WaitsForOctetsOnLoanAfterAnInvalidation) {
  const auto source = region(kAllAccess, kStream);
  const std::array<Sge, 1> list{Sge{0, 16, source->stag()}};
  std::array<Bytes, 4> pieces;
  std::size_t used = 0;
  ASSERT_TRUE(memory.borrow(list, 0, 16, pieces, used));
  ASSERT_TRUE(memory.post_local({1, LocalInvalidate{source->stag()}}));
  ASSERT_TRUE(memory.perform_local(1));
  EXPECT_FALSE(memory.borrow(list, 0, 16, pieces, used));
  auto owner = std::async(std::launch::async, [&] { return source->deregister(); });
  EXPECT_EQ(owner.wait_for(std::chrono::milliseconds(50)), std::future_status::timeout);
  memory.drop_leases();
  EXPECT_TRUE(owner.get());
}

// SEC-6.2.2-02: a thread that deregisters may free the memory then, also when another thread was first.
TEST_F(Revoking, LetsEveryCallerWait) {
  const auto source = region(kAllAccess);
  ASSERT_TRUE(memory.place_tagged({source->stag()}, {0}, some(8, 1)));
  auto first = std::async(std::launch::async, [&] { return source->deregister(); });
  while (auto lease = table->lease(source->stag())) lease->drop();  // until the first one has begun
  auto second = std::async(std::launch::async, [&] { return source->deregister(); });
  EXPECT_EQ(second.wait_for(std::chrono::milliseconds(50)), std::future_status::timeout);
  memory.drop_leases();
  EXPECT_TRUE(first.get());
  EXPECT_TRUE(second.get());
}

// RDMAP-8.1.1-06, SEC-6.2.2-02: other streams use a window of type 1 too, and its region knows nothing of them.
TEST_F(Revoking, ABindAnewWaitsForTheOtherStreams) {
  const auto base = region(kAllAccess);
  const auto window = WindowState::create(table, domain, {}, WindowType::kType1);
  const std::uint32_t rkey = window->next_stag();
  ASSERT_TRUE(memory.post_local({1, BindWindow{window, base, rkey, 0, 8, Access::kRemoteWrite}}));
  ASSERT_TRUE(memory.perform_local(1));
  StreamMemory other{table};
  other.attach({.domain = domain->number, .stream = kStream + 1}, receives, {});
  ASSERT_TRUE(memory.place_tagged({rkey}, {0}, some(8, 1)));  // its own lease is no hindrance
  ASSERT_TRUE(other.place_tagged({rkey}, {0}, some(8, 2)));
  ASSERT_TRUE(memory.post_local({2, BindWindow{.window = window}}));
  auto unbound = std::async(std::launch::async, [&] { return memory.perform_local(2).has_value(); });
  EXPECT_EQ(unbound.wait_for(std::chrono::milliseconds(50)), std::future_status::timeout);
  other.drop_leases();
  EXPECT_TRUE(unbound.get());
  EXPECT_FALSE(other.place_tagged({rkey}, {0}, some(8, 3)));
  EXPECT_TRUE(base->deregister());
}

}  // namespace
}  // namespace weft::verbs::detail
