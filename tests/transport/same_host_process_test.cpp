// SPDX-License-Identifier: Apache-2.0
// Rings between processes that end or fork, and between threads that sleep.
#include <fcntl.h>
#include <signal.h>
#include <sys/wait.h>

#include <functional>
#include <thread>

#include "tests/transport/same_host_pair.hpp"

namespace weft::transport::same_host::test {
namespace {

// A child that runs `body` and then waits to be killed. The constructor returns after `body`.
class Child {
 public:
  explicit Child(const std::function<void()>& body) {
    std::array<int, 2> done{};
    EXPECT_EQ(::pipe2(done.data(), O_CLOEXEC), 0);
    id_ = ::fork();
    if (id_ == 0) {
      body();
      const char passed = testing::Test::HasFailure() ? 'f' : 'p';
      static_cast<void>(::write(done[1], &passed, 1) == 1);
      while (true) ::pause();
    }
    ::close(done[1]);
    char passed = 0;
    EXPECT_EQ(::read(done[0], &passed, 1), 1);
    EXPECT_EQ(passed, 'p');
    ::close(done[0]);
  }
  ~Child() { kill(); }
  Child(const Child&) = delete;
  Child& operator=(const Child&) = delete;

  void kill() {
    if (id_ <= 0) return;
    ::kill(id_, SIGKILL);
    ::waitpid(std::exchange(id_, 0), nullptr, 0);
  }

 private:
  pid_t id_ = 0;
};

TEST(SameHostProcess, AKilledProcessHasEndedAfterItsOctets) {
  SessionPair pair;
  Child child([&] {
    pair.b.reset();
    EXPECT_EQ(put(*pair.a, pattern(1000)).octets, 1000U);
  });
  pair.a.reset();
  std::vector<std::byte> got;
  EXPECT_EQ(get(*pair.b, got, 100).octets, 100U);
  child.kill();
  EXPECT_NE(events(*pair.b, kPatience) & POLLRDHUP, 0);
  EXPECT_TRUE(pair.b->sleep());
  EXPECT_EQ(get(*pair.b, got, 5000).octets, 900U);
  EXPECT_EQ(got, pattern(1000));
  EXPECT_EQ(get(*pair.b, got, 1).status, Status::kEndOfStream);
}

TEST(SameHostProcess, AForkedChildLeavesTheConnectionToItsParent) {
  SessionPair pair;
  put(*pair.b, pattern(10));
  EXPECT_FALSE(pair.b->sleep());
  Child child([&] {
    const int nowhere = ::open("/dev/null", O_RDWR | O_CLOEXEC);
    for (Session* end : {pair.a.get(), pair.b.get()}) {
      end->leave_to_parent(nowhere);
      std::array<std::byte, 1> place{};
      EXPECT_EQ(end->read(place, {}).error, std::errc::operation_canceled);
      EXPECT_EQ(put(*end, place).error, std::errc::operation_canceled);
      EXPECT_FALSE(end->sleep());
      end->awake();
      end->shutdown_write();
      EXPECT_EQ(end->unread_by_peer(), 0U);
    }
  });
  EXPECT_EQ(pair.header(Memory::From::kInitiator).sleeps, 1U) << "the parent's announcement";
  std::vector<std::byte> got;
  EXPECT_EQ(get(*pair.b, got, 1).status, Status::kWouldBlock) << "the child ended nothing";
  EXPECT_EQ(get(*pair.a, got, 100).octets, 10U);
  pair.a.reset();
  EXPECT_TRUE(pair.b->sleep()) << "the child holds no doorbell open";
  EXPECT_EQ(get(*pair.b, got, 1).status, Status::kEndOfStream);
}

// Sleeps as an owner with an epoll set does. Returns false if no bell comes.
bool rest(Session& session) {
  if (session.sleep()) return true;
  const bool rung = events(session, kPatience) != 0;
  session.awake();
  return rung;
}

// Writes `octets` and reads as many, whichever goes. Returns what it read.
std::vector<std::byte> trade(Session& session, Bytes octets) {
  std::vector<std::byte> got;
  const std::size_t wanted = octets.size();
  while (!octets.empty() || got.size() < wanted) {
    const auto in = get(session, got, 999);
    const auto out =
        octets.empty() ? IoResult{} : put(session, octets.first(std::min<std::size_t>(octets.size(), 777)));
    octets = octets.subspan(out.octets);
    EXPECT_NE(in.status, Status::kLost);
    EXPECT_NE(out.status, Status::kLost);
    if (in.octets + out.octets == 0 && !rest(session)) break;
  }
  session.shutdown_write();
  return got;
}

// A bell that is lost in any order of the two threads ends this with a failure.
TEST(SameHostThreads, NoBellIsLost) {
  SessionPair pair;
  const auto there = pattern(2 << 20, 1), back = pattern(2 << 20, 2);
  std::vector<std::byte> at_b;
  std::thread other([&] { at_b = trade(*pair.b, back); });
  const auto at_a = trade(*pair.a, there);
  other.join();
  EXPECT_TRUE(at_a == back);
  EXPECT_TRUE(at_b == there);
}

// Ping-pong of one octet: each end sleeps, or is about to, whenever the other rings.
TEST(SameHostThreads, NoBellIsLostBetweenEndsThatWaitForEachOther) {
  SessionPair pair;
  constexpr int kTurns = 5000;
  const auto play = [](Session& session, bool begins) {
    std::array<std::byte, 1> octet{};
    for (int turn = 0; turn < kTurns; ++turn) {
      if (begins && put(session, octet).octets != 1) return false;
      while (session.read(octet, {}).status == Status::kWouldBlock) {
        if (!rest(session)) return false;
      }
      if (!begins && put(session, octet).octets != 1) return false;
    }
    return true;
  };
  bool other_played = false;
  std::thread other([&] { other_played = play(*pair.b, false); });
  EXPECT_TRUE(play(*pair.a, true));
  other.join();
  EXPECT_TRUE(other_played);
}

// Both ends over one mapping, which is how ThreadSanitizer sees that the octets of a ring are handed over properly.
TEST(SameHostThreads, OctetsAreHandedOver) {
  auto header = std::make_unique<RingHeader>();
  std::vector<std::byte> memory(SessionPair::kOctets);
  const Ring ring{.header = header.get(), .data = memory.data(), .size = memory.size()};
  const auto octets = pattern(1 << 20);
  std::thread writer([&] {
    RingWriter end(ring);
    for (Bytes rest(octets); !rest.empty();) {
      const Bytes piece = rest.first(std::min<std::size_t>(rest.size(), 1500));
      const auto result = end.write(std::span(&piece, 1));
      rest = rest.subspan(result.octets);
      if (result.octets == 0) std::this_thread::yield();
    }
    static_cast<void>(end.end());
  });
  RingReader end(ring);
  std::vector<std::byte> got;
  std::array<std::byte, 1000> place{};
  while (!end.ended()) {
    const auto result = end.read(place, {});
    got.insert(got.end(), place.begin(), place.begin() + static_cast<std::ptrdiff_t>(result.octets));
    if (result.octets == 0) std::this_thread::yield();
  }
  writer.join();
  EXPECT_TRUE(got == octets);
}

}  // namespace
}  // namespace weft::transport::same_host::test
