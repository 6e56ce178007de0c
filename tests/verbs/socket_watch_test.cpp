// SPDX-License-Identifier: Apache-2.0
// The first table of docs/progress.md, row by row.
#include "verbs/progress/socket_watch.hpp"

#include <gtest/gtest.h>
#include <sys/epoll.h>

#include <array>
#include <fstream>
#include <iterator>
#include <string>
#include <string_view>
#include <vector>

#include "watched_socket.hpp"

namespace weft::verbs::detail {
namespace {

using transport::kReadInterest;

// --- The table of docs/progress.md

struct OwnerRow {
  Who owner;
  std::string_view name;
  std::string_view driven, waited_for, over;  // the cells
};
constexpr std::array kOwnerRows{
    OwnerRow{Who::kProgressThread, "progress thread", "-> that poller", "-> that waiter", ""},
    OwnerRow{Who::kWaiter, "waiter", "-> that poller", "stays", "-> progress thread"},
    OwnerRow{Who::kPoller, "poller", "stays", "stays",
             "-> its queue pair's other poller or a waiter, if present, else progress thread"},
};

TEST(SocketWatch, ItsTableIsThatOfTheDocuments) {
  std::string table =
      "| owner \\ event | a present poller drives it | a waiter begins to sleep | presence of the owner is over |\n"
      "|---|---|---|---|\n";
  for (const OwnerRow& row : kOwnerRows) {
    table += "| " + std::string(row.name) + " |";
    for (const auto cell : {row.driven, row.waited_for, row.over}) {
      table += cell.empty() ? " |" : " " + std::string(cell) + " |";
    }
    table += '\n';
  }
  std::ifstream file(WEFT_SOURCE_DIR "/docs/progress.md");
  const std::string page{std::istreambuf_iterator<char>(file), {}};
  EXPECT_NE(page.find(table), std::string::npos) << "the table should be\n" << table;
}

// The owner that a cell names, where the others are not present.
Who named(std::string_view cell, const OwnerRow& row) {
  if (cell == "-> that poller") return Who::kOtherPoller;
  if (cell == "-> that waiter") return Who::kOtherWaiter;
  if (cell.ends_with("progress thread")) return Who::kProgressThread;
  EXPECT_TRUE(cell == "stays" || cell.empty()) << cell;
  return row.owner;
}

TEST(SocketWatch, MovesByThisTableAndByNothingElse) {
  for (const OwnerRow& row : kOwnerRows) {
    const std::string owner(row.name);
    {
      WatchedSocket scene;
      scene.give_to(row.owner);
      EXPECT_EQ(scene.driven_by(scene.receive.poller()), named(row.driven, row) != row.owner) << owner;
      scene.expect_owner(named(row.driven, row), (owner + ", driven").c_str());
    }
    {
      WatchedSocket scene;
      scene.give_to(row.owner);
      EXPECT_EQ(scene.waited_for_by(scene.receive.waiter()), named(row.waited_for, row) != row.owner) << owner;
      scene.expect_owner(named(row.waited_for, row), (owner + ", waited for").c_str());
    }
    {
      WatchedSocket scene;
      scene.give_to(row.owner);
      EXPECT_EQ(scene.is_over(scene.driver(row.owner)), !row.over.empty()) << owner;
      scene.expect_owner(named(row.over, row), (owner + ", over").c_str());
    }
  }
}

// --- Its last cell

struct HeirRow {
  const char* what;
  Who owner;
  std::vector<Who> present;
  Who heir;
};
const std::vector<HeirRow> kHeirRows{
    {"nobody", Who::kPoller, {}, Who::kProgressThread},
    {"the other poller", Who::kPoller, {Who::kOtherPoller}, Who::kOtherPoller},
    {"that of the send queue", Who::kOtherPoller, {Who::kPoller}, Who::kPoller},
    {"a waiter", Who::kPoller, {Who::kOtherWaiter}, Who::kOtherWaiter},
    {"the waiter of its own queue", Who::kPoller, {Who::kWaiter}, Who::kWaiter},
    {"a poller before a waiter", Who::kPoller, {Who::kWaiter, Who::kOtherPoller}, Who::kOtherPoller},
    {"the owner itself, come back", Who::kPoller, {Who::kPoller}, Who::kPoller},
    {"a waiter after a waiter", Who::kWaiter, {Who::kOtherWaiter}, Who::kOtherWaiter},
};

TEST(SocketWatch, IsInheritedByThisTable) {
  for (const HeirRow& row : kHeirRows) {
    WatchedSocket scene;
    scene.give_to(row.owner);
    while (!scene.driver(row.owner).is_over()) {
    }
    for (const Who one : row.present) {
      if (one == Who::kPoller) scene.arrive(scene.send.poller());
      if (one == Who::kOtherPoller) scene.arrive(scene.receive.poller());
      if (one == Who::kWaiter) scene.arrive(scene.send.waiter());
      if (one == Who::kOtherWaiter) scene.arrive(scene.receive.waiter());
    }
    EXPECT_TRUE(scene.settle(scene.watch.is_over(scene.driver(row.owner)))) << row.what;
    scene.expect_owner(row.heir, row.what);
  }
}

// --- What the document says below it

TEST(SocketWatch, OnlyItsOwnQueuesMayDriveIt) {
  WatchedSocket scene;
  EXPECT_FALSE(scene.watch.driven_by(scene.send.poller())) << "not present";
  EXPECT_FALSE(scene.watch.driven_by(scene.foreign.poller()));
  EXPECT_FALSE(scene.watch.waited_for_by(scene.foreign.waiter()));
  EXPECT_FALSE(Waiter::Wait(scene.foreign.waiter()).drives()) << "no stream of its own";
  scene.expect_owner(Who::kProgressThread, "a stranger");
}

TEST(SocketWatch, OfAStreamThatWaitsForAReceiveTheProgressThreadSeesTheEnd) {
  for (const Who owner : {Who::kProgressThread, Who::kPoller, Who::kWaiter}) {
    WatchedSocket scene;
    scene.give_to(owner);
    ASSERT_TRUE(scene.watch.settle({.end = true}, true));
    const auto told = events_in(scene.home.descriptor(), scene.socket());
    ASSERT_TRUE(told) << static_cast<int>(owner);
    EXPECT_TRUE((*told & EPOLLRDHUP) != 0 && (*told & EPOLLIN) == 0) << static_cast<int>(owner);
    EXPECT_FALSE(scene.reads_in(Who::kWaiter)) << "it would be woken for octets that nobody takes";
    scene.settle();  // a receive is there
    scene.expect_owner(owner, "after it");
  }
}

TEST(SocketWatch, WithoutAQueuePairItIsTheProgressThreads) {
  for (const Who owner : {Who::kProgressThread, Who::kPoller, Who::kWaiter}) {
    WatchedSocket scene;
    scene.give_to(owner);
    scene.watch.leave(*scene.stream);
    scene.settle();
    EXPECT_TRUE(scene.reads_in(Who::kProgressThread));
    EXPECT_FALSE(owner == Who::kWaiter && scene.waiter_events(scene.send)) << "it is not in there at all";
    scene.expect_owner(Who::kProgressThread, "gone");
  }
}

// --- What the epoll sets are told besides

// Most likely the waiter comes back; no thread sleeps in its set.
TEST(SocketWatch, AWaiterThatHasGoneKeepsItInItsSet) {
  WatchedSocket scene;
  scene.give_to(Who::kWaiter);
  EXPECT_TRUE(scene.is_over(scene.send.waiter()));
  EXPECT_EQ(scene.waiter_events(scene.send).value_or(0) & EPOLLIN, unsigned{EPOLLIN});
  scene.give_to(Who::kPoller);
  ASSERT_TRUE(scene.waiter_events(scene.send));
  EXPECT_EQ(*scene.waiter_events(scene.send) & EPOLLIN, 0U) << "else each octet would be told there";
}

TEST(SocketWatch, APollerOfManyIsToldOfRoomToWrite) {
  WatchedSocket scene(tuning::kFewStreams);
  scene.give_to(Who::kPoller);
  const auto set = scene.send.poller().sockets();
  ASSERT_TRUE(set) << "they are many";
  EXPECT_FALSE(scene.watch.is_polled_among_few());
  const auto told = [&] { return events_in(set->descriptor(), scene.socket()).value_or(0) & (EPOLLIN | EPOLLOUT); };
  EXPECT_EQ(told(), unsigned{EPOLLIN});
  ASSERT_TRUE(scene.watch.settle({.read = true, .write = true}, false));
  EXPECT_EQ(told(), unsigned{EPOLLIN | EPOLLOUT});
  EXPECT_FALSE(scene.reads_in(Who::kProgressThread));
  scene.settle();
  EXPECT_EQ(told(), unsigned{EPOLLIN});
  scene.watch.leave(*scene.stream);
  EXPECT_FALSE(events_in(set->descriptor(), scene.socket()));
}

TEST(SocketWatch, APollersSetThatIsMadeLaterKnowsOfIt) {
  WatchedSocket scene(tuning::kFewStreams);
  ASSERT_TRUE(scene.watch.settle({.read = true, .write = true}, false));
  scene.arrive(scene.send.poller());
  const auto told = events_in(scene.send.poller().sockets()->descriptor(), scene.socket()).value_or(0);
  EXPECT_EQ(told & (EPOLLIN | EPOLLOUT), unsigned{EPOLLIN | EPOLLOUT});
}

TEST(SocketWatch, APollerOfFewHasNoSet) {
  WatchedSocket scene(tuning::kFewStreams - 1);
  EXPECT_FALSE(scene.watch.is_polled_among_few()) << "nobody polls";
  scene.give_to(Who::kPoller);
  EXPECT_FALSE(scene.send.poller().sockets());
  EXPECT_TRUE(scene.watch.is_polled_among_few());
}

TEST(SocketWatch, MovesToAnotherProgressThread) {
  WatchedSocket scene;
  auto other = transport::ReadinessThread::create([](const transport::Ready&) {}).value();
  scene.watch.move_to(other);
  scene.settle();
  EXPECT_FALSE(events_in(scene.home.descriptor(), scene.socket()));
  EXPECT_TRUE(events_in(other.descriptor(), scene.socket()));
  scene.watch.end();
  EXPECT_FALSE(events_in(other.descriptor(), scene.socket()));
}

// A set that has no memory for it refuses it, as one does that has it already.
TEST(SocketWatch, TheSetOfAWaiterThatCannotTakeItLeavesItWithTheProgressThread) {
  WatchedSocket scene;
  scene.arrive(scene.send.waiter());
  ASSERT_FALSE(scene.send.waiter().sockets().add(scene.socket(), WatchedSocket::kNumber, transport::kNoInterest));
  EXPECT_TRUE(scene.waited_for_by(scene.send.waiter()));
  scene.expect_owner(Who::kProgressThread, "refused");
  scene.send.waiter().sockets().remove(scene.socket());
}

TEST(SocketWatch, SaysWhenTheProgressThreadsSetCannotTakeIt) {
  WatchedSocket scene;
  scene.give_to(Who::kPoller);
  ASSERT_FALSE(scene.home.add(scene.socket(), WatchedSocket::kNumber, transport::kNoInterest));
  scene.send.poller().sleeps();
  EXPECT_TRUE(scene.watch.is_over(scene.send.poller()));
  EXPECT_FALSE(scene.watch.settle(kReadInterest, false));
  scene.home.remove(scene.socket());
  EXPECT_TRUE(scene.watch.settle(kReadInterest, false)) << "it tries again, though nothing has changed";
  EXPECT_TRUE(scene.reads_in(Who::kProgressThread));
}

// --- For the watchdog

TEST(SocketWatch, IsServedWhereAThreadSleepsThatWakesForIt) {
  WatchedSocket scene;
  EXPECT_TRUE(scene.watch.is_served(kReadInterest, false));
  EXPECT_FALSE(scene.watch.is_served({.read = true, .write = true}, false)) << "not for all that is wanted";
  scene.home.rest();
  EXPECT_FALSE(scene.watch.is_served(kReadInterest, false));
  EXPECT_TRUE(scene.watch.is_served(kReadInterest, true)) << "the proxy";
  scene.home.resume();
  scene.give_to(Who::kWaiter);
  EXPECT_FALSE(scene.watch.is_served(kReadInterest, false)) << "it is at work elsewhere";
  {
    const Waiter::Wait wait(scene.send.waiter());
    EXPECT_TRUE(scene.watch.is_served(kReadInterest, false));
    EXPECT_FALSE(scene.watch.is_served({.read = true, .write = true}, false));
  }
  scene.give_to(Who::kPoller);
  EXPECT_FALSE(scene.watch.is_served(kReadInterest, false)) << "it may have gone";
}

}  // namespace
}  // namespace weft::verbs::detail
