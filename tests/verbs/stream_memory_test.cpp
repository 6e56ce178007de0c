// SPDX-License-Identifier: Apache-2.0
#include "verbs/memory/stream_memory.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <array>
#include <bit>
#include <set>
#include <thread>
#include <vector>

#include "stream_memory_fixture.hpp"
#include "tests/transport/support.hpp"

namespace weft::verbs::detail {
namespace {

using ddp::AccessError;
using ddp::LocalFault;
using AtomicKind = rdmap::AtomicOperation::Kind;

class Memory : public MemoryFixture {};

TEST_F(Memory, PlacesOrLeavesEveryOctetAlone) {
  const auto target = region(kAllAccess);
  const ddp::Stag stag{target->stag()};
  EXPECT_TRUE(memory.place_tagged(stag, {10}, some(5, 7)));
  EXPECT_EQ(octets[9], std::byte{0});
  EXPECT_EQ(octets[10], std::byte{7});
  EXPECT_EQ(octets[14], std::byte{7});
  EXPECT_EQ(octets[15], std::byte{0});
  const auto before = octets;
  EXPECT_EQ(memory.place_tagged(stag, {60}, some(5, 9)).error(), AccessError::kBaseOrBounds);
  EXPECT_EQ(memory.place_tagged({stag.value ^ 1}, {0}, some(5, 9)).error(), AccessError::kInvalidStag);
  EXPECT_EQ(octets, before);
  EXPECT_TRUE(memory.place_tagged(stag, {63}, some(1, 9)));
  EXPECT_EQ(octets[63], std::byte{9});
}

// DDP-7.1-16
TEST_F(Memory, AnAccessMayEndExactlyAt2To64) {
  constexpr std::uint64_t kLast = ~std::uint64_t{0};
  const auto target = region({.start = octets.data(), .length = 64, .first_offset = kLast - 63, .access = kAllAccess});
  const ddp::Stag stag{target->stag()};
  EXPECT_TRUE(memory.place_tagged(stag, {kLast - 7}, some(8, 1)));
  EXPECT_EQ(octets[63], std::byte{1});
  EXPECT_EQ(memory.place_tagged(stag, {kLast - 7}, some(9, 2)).error(), AccessError::kOffsetWrap);
  EXPECT_TRUE(memory.check_read(stag, {kLast - 63}, 64));
  EXPECT_EQ(memory.check_read(stag, {kLast - 63}, 65).error(), AccessError::kOffsetWrap);
  EXPECT_TRUE(memory.atomic(stag, {kLast - 7}, {}));
  const rdmap::LocalSegment whole{kLast - 63, 64, stag.value};
  EXPECT_TRUE(memory.scatter({&whole, 1}, 60, some(4, 3)));
  EXPECT_EQ(octets[63], std::byte{3});
}

// SEC-6.3.5-01, SEC-6.3.5-02
TEST_F(Memory, RightsAreChecked) {
  const auto readable = region(Access::kRemoteRead);
  EXPECT_TRUE(memory.check_read({readable->stag()}, {0}, 64));
  EXPECT_EQ(memory.check_read({readable->stag()}, {0}, 65).error(), AccessError::kBaseOrBounds);
  EXPECT_EQ(memory.place_tagged({readable->stag()}, {0}, some(1, 1)).error(), AccessError::kAccessRights);
  const auto writable = region(Access::kLocalWrite | Access::kRemoteWrite);
  auto out = some(4, 0);
  EXPECT_EQ(memory.read_tagged({writable->stag()}, {0}, out).error(), AccessError::kAccessRights);
  EXPECT_EQ(memory.atomic({writable->stag()}, {0}, {}).error(), AccessError::kAccessRights);
}

TEST_F(Memory, Atomics) {
  const auto target = region(kAllAccess);
  const ddp::Stag stag{target->stag()};
  auto* word = reinterpret_cast<std::uint64_t*>(octets.data());
  word[1] = 40;
  EXPECT_EQ(memory.atomic(stag, {8}, {.kind = AtomicKind::kFetchAdd, .add_or_swap = 2}), 40U);
  EXPECT_EQ(word[1], 42U);
  rdmap::AtomicOperation swap{
      .kind = AtomicKind::kCmpSwap, .add_or_swap = 1, .add_or_swap_mask = ~0ULL, .compare = 41, .compare_mask = ~0ULL};
  EXPECT_EQ(memory.atomic(stag, {8}, swap), 42U);
  EXPECT_EQ(word[1], 42U);
  swap.compare = 42;
  EXPECT_EQ(memory.atomic(stag, {8}, swap), 42U);
  EXPECT_EQ(word[1], 1U);
  EXPECT_EQ(memory.atomic(stag, {12}, swap).error(), AccessError::kUnaligned);
  EXPECT_EQ(memory.atomic(stag, {64}, swap).error(), AccessError::kBaseOrBounds);
}

// The alignment that counts is the address's, not the tagged offset's (RDMAPX-5.2.1-08).
TEST_F(Memory, AtomicsAlignTheAddress) {
  const auto target = region({.start = octets.data() + 4, .length = 32, .first_offset = 0, .access = kAllAccess});
  EXPECT_EQ(memory.atomic({target->stag()}, {0}, {}).error(), AccessError::kUnaligned);
  EXPECT_TRUE(memory.atomic({target->stag()}, {4}, {}));
}

TEST_F(Memory, GatherAndScatterWalkLists) {
  const auto source = region(kAllAccess);
  for (std::size_t i = 0; i < octets.size(); ++i) octets[i] = static_cast<std::byte>(i);
  const std::array<Sge, 3> list{Sge{0, 4, source->stag()}, Sge{20, 0, 0}, Sge{32, 8, source->stag()}};
  auto out = some(7, 0);
  ASSERT_TRUE(memory.gather(list, 3, out));
  const std::vector<int> expected{3, 32, 33, 34, 35, 36, 37};
  for (std::size_t i = 0; i < 7; ++i) EXPECT_EQ(std::to_integer<int>(out[i]), expected[i]);
  EXPECT_EQ(memory.gather(list, 6, out).error(), LocalFault::kBaseOrBounds);  // one octet more than the list has
  ASSERT_TRUE(memory.scatter(list, 3, some(2, 255)));
  EXPECT_EQ(octets[2], std::byte{2});
  EXPECT_EQ(octets[3], std::byte{255});
  EXPECT_EQ(octets[32], std::byte{255});
  EXPECT_EQ(octets[33], std::byte{33});
}

TEST_F(Memory, KeysOfListsAreCheckedEachTime) {
  auto source = region(Access::kRemoteRead);
  const std::array<Sge, 1> list{Sge{0, 8, source->stag()}};
  auto out = some(8, 0);
  EXPECT_TRUE(memory.gather(list, 0, out));
  EXPECT_EQ(memory.scatter(list, 0, out).error(), LocalFault::kAccessRights);  // no local write
  memory.drop_leases();
  source->deregister();
  EXPECT_EQ(memory.gather(list, 0, out).error(), LocalFault::kInvalidKey);
  const std::array<Sge, 1> wrapping{Sge{~0ULL, 8, region(kAllAccess)->stag()}};
  EXPECT_FALSE(memory.gather(wrapping, 0, out));
}

TEST_F(Memory, BorrowedOctetsStayLeased) {
  const auto source = region(kAllAccess);
  const std::array<Sge, 2> list{Sge{0, 4, source->stag()}, Sge{32, 8, source->stag()}};
  std::array<Bytes, 4> pieces;
  std::size_t used = 0;
  ASSERT_TRUE(memory.borrow(list, 2, 6, pieces, used));
  ASSERT_EQ(used, 2U);
  EXPECT_EQ(pieces[0].data(), octets.data() + 2);
  EXPECT_EQ(pieces[0].size(), 2U);
  EXPECT_EQ(pieces[1].size(), 4U);
  EXPECT_TRUE(memory.lends());
  std::atomic<bool> gone{false};
  std::atomic<pid_t> waits = 0;
  std::thread owner([&] { waits = ::gettid(), source->deregister(), gone = true; });
  while (waits == 0) std::this_thread::yield();
  transport::test::sleeps_of(waits);
  EXPECT_FALSE(gone);
  memory.drop_leases();
  owner.join();
  EXPECT_TRUE(gone);
  EXPECT_FALSE(memory.borrow(list, 2, 6, pieces, used));
}

// A batch may borrow from few regions, and from each as often as it likes.
TEST_F(Memory, ARegionIsBorrowedFromOnce) {
  const auto source = region(kAllAccess);
  const std::vector<Sge> list(40, Sge{8, 1, source->stag()});
  std::vector<Bytes> pieces(list.size());
  std::size_t used = 0;
  EXPECT_TRUE(memory.borrow(list, 0, list.size(), pieces, used));
  EXPECT_EQ(used, list.size());
  memory.drop_leases();
  EXPECT_FALSE(memory.lends());
}

// RDMAP-1.2-02, RDMAP-7.2-07, RDMAP-7.2-08,
// RDMAP-5.3-13, RDMAP-5.3-14, RDMAP-8.1.1-07
TEST_F(Memory, APeerInvalidatesOnlyWhatIsItsOwn) {
  const auto shared = region(kAllAccess);
  EXPECT_EQ(memory.invalidate({shared->stag()}).error(), AccessError::kNotAssociated);
  EXPECT_TRUE(memory.check_read({shared->stag()}, {0}, 1));
  const auto others = region(kAllAccess, kStream + 1);
  EXPECT_EQ(memory.invalidate({others->stag()}).error(), AccessError::kNotAssociated);
  const auto own = region(kAllAccess, kStream);
  EXPECT_TRUE(memory.check_read({own->stag()}, {0}, 1));
  EXPECT_TRUE(memory.invalidate({own->stag()}));
  EXPECT_EQ(memory.check_read({own->stag()}, {0}, 1).error(), AccessError::kInvalidStag);
  EXPECT_EQ(memory.invalidate({own->stag()}).error(), AccessError::kInvalidStag);
  EXPECT_TRUE(own->deregister());
}

// RDMAP-1.2-02: from then on it is not valid, for our own work requests neither, also where the last one used it.
TEST_F(Memory, AnInvalidatedStagIsNoKeyOfOurOwnWorkEither) {
  const auto own = region(kAllAccess, kStream);
  const Sge all{0, 8, own->stag()};
  std::array<std::byte, 8> out{};
  ASSERT_TRUE(memory.gather(rdmap::LocalSegments(&all, 1), 0, out));
  ASSERT_TRUE(memory.invalidate({own->stag()}));
  EXPECT_EQ(memory.gather(rdmap::LocalSegments(&all, 1), 0, out).error(), LocalFault::kInvalidKey);
}

TEST_F(Memory, WindowsAreBoundUsedAndInvalidated) {
  const auto base = region(kAllAccess);
  const auto window = WindowState::create(table, domain);
  const auto bind = [&](std::uint32_t stag, std::uint64_t at, std::uint64_t length, Access access) {
    EXPECT_TRUE(memory.post_local({1, BindWindow{window, base, stag, at, length, access}}));
    return memory.perform_local(1);
  };
  const std::uint32_t first = window->next_stag();
  ASSERT_TRUE(bind(first, 16, 8, Access::kRemoteWrite));
  EXPECT_TRUE(window->bound());
  EXPECT_TRUE(memory.place_tagged({first}, {16}, some(8, 3)));
  EXPECT_EQ(memory.place_tagged({first}, {24}, some(1, 3)).error(), AccessError::kBaseOrBounds);
  EXPECT_EQ(memory.check_read({first}, {16}, 1).error(), AccessError::kAccessRights);
  // Another stream of the same domain may not use it (SEC-6.1.1-04).
  StreamMemory other{table};
  other.attach({.domain = domain->number, .stream = kStream + 1}, nullptr, {});
  EXPECT_EQ(other.place_tagged({first}, {16}, some(1, 3)).error(), AccessError::kNotAssociated);
  EXPECT_EQ(other.invalidate({first}).error(), AccessError::kNotAssociated);
  other.drop_leases();
  // Bound already; and the region stays while it is.
  EXPECT_EQ(bind(window->next_stag(), 0, 8, Access::kRemoteRead).error(), LocalFault::kInvalidKey);
  EXPECT_FALSE(base->deregister());
  EXPECT_TRUE(memory.invalidate({first}));
  EXPECT_FALSE(window->bound());
  EXPECT_EQ(memory.place_tagged({first}, {16}, some(8, 3)).error(), AccessError::kInvalidStag);
  const std::uint32_t second = window->next_stag();
  EXPECT_NE(second, first);
  EXPECT_EQ(second >> kKeyBits, first >> kKeyBits);
  ASSERT_TRUE(bind(second, 16, 8, Access::kRemoteRead | Access::kZeroBased));
  EXPECT_TRUE(memory.check_read({second}, {0}, 8));
  memory.drop_leases();
  window->free();
  EXPECT_EQ(memory.check_read({second}, {0}, 8).error(), AccessError::kInvalidStag);
  EXPECT_TRUE(base->deregister());
}

// SEC-6.1.1-06: it takes long until an STag that was revoked may mean something again.
TEST_F(Memory, AWindowsKeysComeAgainBehindAllOthers) {
  const auto base = region(kAllAccess);
  const auto window = WindowState::create(table, domain);
  std::set<std::uint32_t> seen;
  for (std::uint32_t bind = 0; bind <= kKeyMask; ++bind) {
    const std::uint32_t stag = window->next_stag();
    EXPECT_TRUE(seen.insert(stag).second) << bind;
    ASSERT_TRUE(window->bind(base, {.domain = domain->number, .stream = kStream}, stag, 0, 8, Access::kRemoteRead));
    EXPECT_TRUE(window->invalidate(stag));
  }
  EXPECT_TRUE(seen.contains(window->next_stag()));
}

TEST_F(Memory, BindsThatAreRefused) {
  const auto plain =
      region({.start = octets.data(), .length = 64, .access = Access::kLocalWrite});  // no window may be bound
  const auto read_only =
      RegionState::create(table, domain, {.start = octets.data(), .length = 64, .access = Access::kWindowBind});
  const auto window = WindowState::create(table, domain);
  const std::uint32_t stag = window->next_stag();
  const Accessor who{.domain = domain->number, .stream = kStream};
  EXPECT_EQ(window->bind(plain, who, stag, 0, 8, Access::kRemoteRead).error(), LocalFault::kAccessRights);
  EXPECT_EQ(window->bind(read_only, who, stag, 0, 8, Access::kRemoteWrite).error(), LocalFault::kAccessRights);
  EXPECT_EQ(window->bind(read_only, who, stag, 60, 8, Access::kRemoteRead).error(), LocalFault::kBaseOrBounds);
  EXPECT_EQ(window->bind(read_only, who, stag ^ 0x10000, 0, 8, Access::kRemoteRead).error(), LocalFault::kInvalidKey);
  const Accessor stranger{.domain = domain->number + 1, .stream = kStream};
  EXPECT_EQ(window->bind(read_only, stranger, stag, 0, 8, Access::kRemoteRead).error(), LocalFault::kInvalidKey);
  EXPECT_EQ(window->bind(read_only, {.domain = domain->number}, stag, 0, 8, Access::kRemoteRead).error(),
            LocalFault::kInvalidKey);
  const auto invalidated = region(kAllAccess, kStream);
  EXPECT_TRUE(memory.invalidate({invalidated->stag()}));
  EXPECT_EQ(window->bind(invalidated, who, stag, 0, 8, Access::kRemoteRead).error(), LocalFault::kInvalidKey);
  EXPECT_TRUE(window->bind(read_only, who, stag, 0, 8, Access::kRemoteRead));
}

// RDMAP-8.1.1-02, DDP-8.3.1-03, SEC-6.1.1-04
TEST_F(Memory, WhatOneStreamHadIsRevokedAndNothingElse) {
  const auto base = region(kAllAccess), others = region(kAllAccess, kStream + 1), own = region(kAllAccess, kStream);
  const auto window = WindowState::create(table, domain), others_window = WindowState::create(table, domain);
  const Accessor who{.domain = domain->number, .stream = kStream},
      other{.domain = domain->number, .stream = kStream + 1};
  const auto stag = window->next_stag(), others_stag = others_window->next_stag();
  ASSERT_TRUE(window->bind(base, who, stag, 0, 8, Access::kRemoteRead));
  ASSERT_TRUE(others_window->bind(base, other, others_stag, 0, 8, Access::kRemoteRead));
  EXPECT_TRUE(memory.check_read({stag}, {0}, 8));
  EXPECT_TRUE(memory.check_read({own->stag()}, {0}, 8));
  memory.detach();
  // What the next stream of the queue pair is given is not this one's.
  EXPECT_EQ(memory.check_read({own->stag()}, {0}, 8).error(), AccessError::kNotAssociated);
  EXPECT_TRUE(memory.check_read({base->stag()}, {0}, 8));  // of the whole domain
  memory.drop_leases();
  revoke_stream(*table, kStream);
  EXPECT_FALSE(window->bound());
  EXPECT_FALSE(table->lease(stag));
  EXPECT_FALSE(table->lease(own->stag()));
  EXPECT_TRUE(others_window->bound());
  EXPECT_TRUE(table->lease(others_stag));
  EXPECT_TRUE(table->lease(others->stag()));
  EXPECT_TRUE(table->lease(base->stag()));
  EXPECT_TRUE(own->deregister());
  EXPECT_FALSE(base->deregister());  // one window is still bound to it
  revoke_stream(*table, kStream + 1);
  EXPECT_TRUE(base->deregister());
  revoke_stream(*table, kStream);  // nothing is left
}

// SEC-2.3.5-01
TEST_F(Memory, ReceivesAreTakenInOrder) {
  const auto target = region(kAllAccess);
  const std::array<Sge, 2> list{Sge{0, 4, target->stag()}, Sge{8, 4, target->stag()}};
  for (std::uint64_t i = 0; i < 4; ++i) EXPECT_TRUE(receives->post(std::array{ReceiveRequest{100 + i, list}}));
  const auto full = receives->post(std::array{ReceiveRequest{200, list}});
  ASSERT_FALSE(full);
  EXPECT_EQ(full.error().error.code, Errc::kQueueFull);
  const auto first = memory.take_receive();
  ASSERT_TRUE(first);
  EXPECT_EQ(first->capacity, 8U);
  EXPECT_TRUE(memory.place_untagged(*first, 2, some(4, 6)));
  EXPECT_EQ(octets[3], std::byte{6});
  EXPECT_EQ(octets[4], std::byte{0});
  EXPECT_EQ(octets[9], std::byte{6});
  const auto second = memory.take_receive();
  ASSERT_TRUE(second);
  EXPECT_EQ(memory.place_untagged(*first, 0, some(4, 7)).error(), LocalFault::kInvalidKey) << "it is complete";
  EXPECT_TRUE(memory.place_untagged(*second, 0, some(4, 7)));
  EXPECT_EQ(receives->complete(second->cookie), 101U);
  EXPECT_EQ(receives->complete(first->cookie), 100U);
  EXPECT_FALSE(receives->post(std::array{ReceiveRequest{201, list}})) << "their completions hold their places";
  receives->released(1);
  EXPECT_TRUE(receives->post(std::array{ReceiveRequest{201, list}}));
  const auto third = memory.take_receive();
  ASSERT_TRUE(third);
  EXPECT_FALSE(receives->post(std::array{ReceiveRequest{202, list}}));
  receives->drop(third->cookie);
  EXPECT_TRUE(receives->post(std::array{ReceiveRequest{202, list}})) << "without a completion";
}

// A stream that waits for a receive and ends leaves nothing behind, although none is posted.
TEST_F(Memory, WhoLeavesWaitsNoLonger) {
  struct Waiter final : ReceiveWaiter {
    void receives_available() override { ++told; }
    int told = 0;
  };
  const auto first = std::make_shared<Waiter>(), second = std::make_shared<Waiter>();
  StreamMemory other{table};
  memory.attach({.domain = domain->number, .stream = kStream}, receives, first);
  other.attach({.domain = domain->number, .stream = kStream + 1}, receives, second);
  EXPECT_FALSE(memory.take_receive());
  EXPECT_FALSE(other.take_receive());
  memory.detach();
  EXPECT_TRUE(receives->post(std::array{ReceiveRequest{1, {}}}));
  EXPECT_EQ(first->told, 0);
  EXPECT_EQ(second->told, 1);
}

// --- Payload that the socket puts there itself

// Room for a payload whose middle has landed: what stands there must not be copied.
std::vector<std::byte> with_room(std::size_t size, std::size_t at, std::size_t octets) {
  std::vector<std::byte> payload(size, std::byte{7});
  std::fill_n(payload.begin() + static_cast<std::ptrdiff_t>(at), octets, std::byte{0xee});
  return payload;
}

TEST_F(Memory, OctetsThatHaveLandedAreNotCopied) {
  const auto target = region(kAllAccess);
  const Sge sink{10, 20, target->stag()};
  const auto landing = memory.landing({&sink, 1}, 0, 20);
  ASSERT_EQ(landing.data(), octets.data() + 10);
  ASSERT_EQ(landing.size(), 20U);
  for (const std::size_t at : {0U, 1U, 5U}) {
    for (const std::size_t size : {1U, 15U, 20U}) {
      if (at + size > 20) continue;
      octets.fill({});
      std::ranges::fill(landing.subspan(at, size), std::byte{9});
      const auto payload = with_room(20, at, size);
      memory.has_landed(payload.data() + at, size);
      ASSERT_TRUE(memory.scatter({&sink, 1}, 0, payload));
      memory.has_landed(nullptr, 0);
      for (std::size_t i = 0; i < 20; ++i) {
        EXPECT_EQ(octets[10 + i], i >= at && i < at + size ? std::byte{9} : std::byte{7}) << at << " " << size;
      }
      EXPECT_EQ(octets[9], std::byte{0});
      EXPECT_EQ(octets[30], std::byte{0});
    }
  }
}

// Another payload, before and after that room, is copied whole.
TEST_F(Memory, OtherPayloadsAreCopied) {
  const auto target = region(kAllAccess);
  const auto payloads = some(30, 5);
  memory.has_landed(payloads.data() + 10, 10);
  const std::array<Sge, 1> sink{Sge{0, 20, target->stag()}};
  ASSERT_TRUE(memory.scatter(sink, 0, Bytes(payloads).first(10)));
  ASSERT_TRUE(memory.scatter(sink, 10, Bytes(payloads).subspan(20)));
  EXPECT_TRUE(std::ranges::equal(Bytes(octets).first(20), some(20, 5)));
}

// The same checks as for placing.
TEST_F(Memory, NothingLandsWhereItMayNotBePlaced) {
  const auto target = region(kAllAccess);
  const auto readable = region(Access::kRemoteRead);
  const std::array<Sge, 2> two{Sge{0, 16, target->stag()}, Sge{16, 16, target->stag()}};
  EXPECT_EQ(memory.landing(two, 2, 14).data(), octets.data() + 2);
  EXPECT_EQ(memory.landing(two, 16, 16).data(), octets.data() + 16) << "the second segment";
  EXPECT_TRUE(memory.landing(two, 2, 15).empty()) << "across two segments";
  EXPECT_TRUE(memory.landing(two, 30, 3).empty()) << "beyond the list";
  const std::array<Sge, 1> unknown{Sge{0, 16, target->stag() ^ 1}}, outside{Sge{60, 16, target->stag()}};
  EXPECT_TRUE(memory.landing(unknown, 0, 16).empty());
  EXPECT_TRUE(memory.landing(outside, 0, 16).empty());
  const std::array<Sge, 1> not_ours{Sge{0, 16, readable->stag()}};
  EXPECT_TRUE(memory.landing(not_ours, 0, 8).empty()) << "may not be written locally";
  StreamMemory checked(table, true);
  checked.attach({.domain = domain->number, .stream = kStream}, receives, {});
  EXPECT_TRUE(checked.landing(two, 2, 14).empty()) << "the kernel would blame the socket for memory that is gone";
}

TEST_F(Memory, AReceiveTellsWhereItsMessageLands) {
  const auto target = region(kAllAccess);
  const Sge segment{0, 32, target->stag()};
  const ReceiveRequest request{.wr_id = 1, .segments = {&segment, 1}};
  ASSERT_TRUE(receives->post({&request, 1}));
  const auto taken = memory.take_receive();
  ASSERT_TRUE(taken);
  EXPECT_EQ(memory.landing(*taken, 4, 28).data(), octets.data() + 4);
  EXPECT_TRUE(memory.landing(ddp::ReceiveBuffer{taken->cookie + 1, 32}, 4, 28).empty()) << "another receive";
  memory.detach();
  EXPECT_TRUE(memory.landing(*taken, 4, 28).empty()) << "the queue pair is gone";
}

}  // namespace
}  // namespace weft::verbs::detail
