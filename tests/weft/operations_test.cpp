// SPDX-License-Identifier: Apache-2.0
// Each operation, in the form that waits and in the form that posts.
#include <cstring>

#include "ends.hpp"
#include "verbs/verbs.hpp"

namespace weft::test {
namespace {

using verbs::WcOpcode;
using verbs::WcStatus;
using verbs::WorkCompletion;

WorkCompletion next(Connection& end) {
  std::array<WorkCompletion, 1> done;
  EXPECT_EQ(must(end.completions(done, kPatience)), 1U);
  return done[0];
}

TEST(Waiting, SendsAndReceives) {
  Ends ends;
  const Memory message(ends.client, 40, 1);
  Memory into(ends.server, 64);
  must(ends.client.send(message.region, kPatience));
  EXPECT_EQ(must(ends.server.receive(into.region, kPatience)), 40U);
  EXPECT_TRUE(std::ranges::equal(message.octets, std::span(into.octets).first(40)));
  must(ends.server.send({}, kPatience));
  EXPECT_EQ(must(ends.client.receive({}, kPatience)), 0U);
}

TEST(Waiting, WritesAndReads) {
  Ends ends;
  const Memory source(ends.client, 64, 1);
  Memory sink(ends.client, 16), target(ends.server, 128);
  must(ends.client.write(source.region, must(target.remote().subspan(8, 100)), kPatience));
  must(ends.client.read(must(sink.region.subspan(4, 8)), must(target.remote().subspan(10, 8)), kPatience));
  EXPECT_EQ(sink.octets[3], 3);
  for (unsigned i = 0; i < 8; ++i) EXPECT_EQ(sink.octets[4 + i], 3 + i);
  must(ends.client.write({}, target.remote(), kPatience));
}

TEST(Waiting, AddsAndSwaps) {
  Ends ends;
  alignas(8) std::array<std::uint64_t, 4> numbers{1, 5, 9, 13};
  const Region region = must(ends.server.register_memory(numbers, kEverything));
  const RemoteRegion second = must(region.remote().subspan(8, 8));
  EXPECT_EQ(must(ends.client.fetch_add(second, 10, kPatience)), 5U);
  EXPECT_EQ(must(ends.client.fetch_add(second, 0, kPatience)), 15U);
  EXPECT_EQ(must(ends.client.compare_swap(second, 15, 77, kPatience)), 15U);
  EXPECT_EQ(must(ends.client.compare_swap(second, 15, 78, kPatience)), 77U);
  EXPECT_EQ(must(ends.client.fetch_add(region.remote(), 1, kPatience)), 1U);
}

TEST(Posting, ReturnsCompletionsWithTheirNumbers) {
  Ends ends;
  alignas(8) std::array<std::uint64_t, 8> theirs{3};
  const Region target = must(ends.server.register_memory(theirs, kEverything));
  Memory into(ends.server);
  must(ends.server.receive(into.region, Post{77}));
  const Memory source(ends.client, 64, 1);
  Memory sink(ends.client), old(ends.client, 8);
  must(ends.client.fetch_add(old.region, target.remote(), 4, Post{1}));
  must(ends.client.compare_swap(old.region, target.remote(), 7, 9, Post{2}));
  // A Write may overtake an atomic that was posted before (RFC 5040 section 5.5).
  const auto fenced = verbs::SendFlags::kSignaled | verbs::SendFlags::kFence;
  must(ends.client.write(must(source.region.subspan(0, 8)), target.remote(), Post{3, fenced}));
  must(ends.client.read(must(sink.region.subspan(0, 8)), target.remote(), Post{4}));
  must(ends.client.send(source.region, Post{5}));
  const std::pair<std::uint64_t, WcOpcode> expected[] = {{1, WcOpcode::kFetchAndAdd},
                                                         {2, WcOpcode::kCompareAndSwap},
                                                         {3, WcOpcode::kRdmaWrite},
                                                         {4, WcOpcode::kRdmaRead},
                                                         {5, WcOpcode::kSend}};
  for (const auto& [number, opcode] : expected) {
    const auto done = next(ends.client);
    EXPECT_EQ(done.status, WcStatus::kSuccess);
    EXPECT_EQ(done.wr_id, number);
    EXPECT_EQ(done.opcode, opcode);
  }
  std::uint64_t value = 0;
  std::memcpy(&value, old.octets.data(), sizeof value);
  EXPECT_EQ(value, 7U);
  const auto received = next(ends.server);
  EXPECT_EQ(received.wr_id, 77U);
  EXPECT_EQ(received.byte_len, 64U);
}

TEST(Posting, ReportsNoSuccessThatIsNotSignaled) {
  Ends ends;
  const Memory source(ends.client);
  Memory target(ends.server);
  must(ends.client.write(source.region, target.remote(), Post{1, verbs::SendFlags::kNone}));
  must(ends.client.write(source.region, target.remote(), Post{2}));
  EXPECT_EQ(next(ends.client).wr_id, 2U);
}

TEST(Posting, TakesTheCompletionsThatAWaitingOperationFound) {
  Ends ends;
  const Memory source(ends.client);
  Memory target(ends.server);
  for (std::uint64_t i = 0; i < 20; ++i) must(ends.client.write(source.region, target.remote(), Post{i}));
  must(ends.client.write(source.region, target.remote(), kPatience));
  std::array<WorkCompletion, 8> done;
  for (std::uint64_t i = 0; i < 20;) {
    const std::size_t count = must(ends.client.completions(done, kPatience));
    for (std::size_t at = 0; at < count; ++at) EXPECT_EQ(done[at].wr_id, i++);
  }
}

TEST(Posting, LooksOnceWithAnExpiredDeadlineAndGoesOn) {
  Ends ends;
  std::array<WorkCompletion, 1> done;
  const auto none = ends.server.completions(done, 0ms);
  ASSERT_FALSE(none);
  EXPECT_EQ(none.error().code, Errc::kTimedOut);
  const auto late = ends.server.completions(done, 20ms);
  ASSERT_FALSE(late);
  EXPECT_EQ(late.error().code, Errc::kTimedOut);
  must(ends.server.receive({}, Post{4}));
  must(ends.client.send({}, kPatience));
  EXPECT_EQ(next(ends.server).wr_id, 4U);
}

// The queue pair has room again as soon as the completions were collected, but the program has not seen them.
TEST(Posting, IsRefusedUntilCompletionsAreTaken) {
  Ends ends;
  constexpr std::uint64_t kPlaces = 128;
  for (std::uint64_t i = 0; i < kPlaces; ++i) must(ends.server.receive({}, Post{i}));
  const auto post_send = [&](std::uint64_t number) { return ends.client.send({}, Post{number}); };
  for (std::uint64_t i = 0; i < kPlaces; ++i) must(post_send(i));
  for (std::uint64_t taken = 0; taken < 3; ++taken) {
    EXPECT_EQ(next(ends.client).wr_id, taken);
    must(ends.client.send({}, kPatience));  // has all completions collected
    must(post_send(kPlaces + taken));
    const auto full = post_send(0);
    EXPECT_EQ(full ? Errc{} : full.error().code, Errc::kQueueFull);
  }
  EXPECT_EQ(next(ends.server).wr_id, 0U);
  must(ends.server.send({}, kPatience));
  must(ends.server.receive({}, Post{kPlaces}));
  const auto full = ends.server.receive({}, Post{0});
  EXPECT_EQ(full ? Errc{} : full.error().code, Errc::kQueueFull);
  for (std::uint64_t taken = 1; taken <= kPlaces; ++taken) EXPECT_EQ(next(ends.server).wr_id, taken);
  must(ends.client.send({}, kPatience));  // the forms that wait need no place
}

// Work requests that fail take places as well, and the program that does not take them gets no more.
TEST(Posting, IsRefusedUntilFlushedWorkIsTaken) {
  Ends ends;
  must(ends.client.close(kPatience));
  std::size_t receives = 0, sends = 0;
  std::array<WorkCompletion, 1> done;
  must(ends.client.send({}, Post{1}));
  must(ends.client.completions(done, kPatience));
  const auto collect = [&] { EXPECT_FALSE(ends.client.send({}, kPatience)); };
  for (; receives < 1000 && ends.client.receive({}, Post{1}); ++receives) collect();
  for (; sends < 1000 && ends.client.send({}, Post{2, verbs::SendFlags::kNone}); ++sends) collect();
  EXPECT_EQ(receives, 128U);
  EXPECT_EQ(sends, 128U);
}

TEST(Posting, RefusesNumbersOfTheOtherForms) {
  Ends ends;
  const auto posted = ends.client.send({}, Post{1ULL << 63});
  ASSERT_FALSE(posted);
  EXPECT_EQ(posted.error().code, Errc::kInvalidArgument);
  EXPECT_EQ(posted.error().argument, "wr_id");
}

TEST(Posting, LeavesTheQueueToAProgramThatPollsIt) {
  Ends ends;
  const Memory source(ends.client);
  Memory target(ends.server);
  must(ends.client.write(source.region, target.remote(), Post{6}));
  std::array<WorkCompletion, 1> done;
  ASSERT_TRUE(ends.client.completion_queue().wait(done, kPatience));
  EXPECT_EQ(done[0].wr_id, 6U);
}

TEST(Arguments, ThatCannotBeRightAreRefusedAndNothingIsSent) {
  Ends ends;
  const Memory local(ends.client, 64);
  Memory target(ends.server, 64);
  const auto expect_refused = [](const auto& result, std::string_view operation) {
    ASSERT_FALSE(result);
    EXPECT_EQ(result.error().code, Errc::kInvalidArgument);
    EXPECT_EQ(result.error().argument, "remote");
    EXPECT_EQ(result.error().operation, operation);
  };
  const RemoteRegion shorter = must(target.remote().subspan(0, 63)), odd = must(target.remote().subspan(4, 8)),
                     small = must(target.remote().subspan(0, 7));
  expect_refused(ends.client.write(local.region, shorter, kPatience), "write");
  expect_refused(ends.client.read(local.region, shorter, kPatience), "read");
  expect_refused(ends.client.fetch_add(odd, 1, kPatience), "fetch_add");
  expect_refused(ends.client.compare_swap(small, 1, 2, kPatience), "compare_swap");
  expect_refused(ends.client.write(local.region, shorter, Post{1}), "write");
  must(ends.client.write(local.region, target.remote(), kPatience));
}

}  // namespace
}  // namespace weft::test
