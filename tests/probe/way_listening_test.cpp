// SPDX-License-Identifier: Apache-2.0
// The ways to a peer that connects: what the prober answers, and what it waits for.
#include "probe/way_listening.hpp"

#include <gtest/gtest.h>
#include <sys/resource.h>
#include <sys/socket.h>

#include <thread>

#include "probe/socket.hpp"

namespace weft::probe {
namespace {

mpa::StartupFrame request(std::optional<mpa::EnhancedData> enhanced) {
  return {.kind = mpa::FrameKind::kRequest, .enhanced = enhanced};
}

TEST(FittingReply, IsAsPlainAsTheRequest) {
  const StartUp reply = fitting_reply(request({}));
  EXPECT_FALSE(reply.enhanced);
  EXPECT_EQ(reply.revision, 1);
}

TEST(FittingReply, MirrorsTheModelAndStaysWithinTheInitiatorsIrd) {
  const StartUp reply =
      fitting_reply(request(mpa::EnhancedData{.peer_to_peer = true, .rtr = {.write = true}, .ird = 3, .ord = 2}));
  ASSERT_TRUE(reply.enhanced);
  EXPECT_TRUE(reply.enhanced->peer_to_peer);
  EXPECT_TRUE(reply.enhanced->rtr.write);
  EXPECT_FALSE(reply.enhanced->rtr.send);
  EXPECT_EQ(reply.enhanced->ord, 3);
  EXPECT_EQ(reply.enhanced->ird, 16);
}

TEST(FittingReply, LeavesANumberThatIsNotNegotiated) {
  const StartUp reply = fitting_reply(request(mpa::EnhancedData{.ird = mpa::kNoNegotiation}));
  EXPECT_EQ(reply.enhanced->ord, 16);
}

std::unique_ptr<ListeningSocket> listening() {
  return std::move(*ListeningSocket::open(*transport::Endpoint::parse("127.0.0.1:0")));
}

// Whether a connection from this address of the machine is taken.
bool takes(ListeningSocket& socket, const char* from) {
  const auto to = socket.local();
  const int descriptor = ::socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);
  const Socket client(descriptor);
  sockaddr_storage storage{};
  const auto address = [&](const transport::Endpoint& at) { return at.to_sockaddr(storage); };
  auto size = address(*transport::Endpoint::parse(std::string(from) + ":0"));
  if (::bind(descriptor, reinterpret_cast<sockaddr*>(&storage), size) != 0) throw std::runtime_error("bind");
  size = address(to);
  if (::connect(descriptor, reinterpret_cast<sockaddr*>(&storage), size) != 0) throw std::runtime_error("connect");
  return socket.accept(now() + std::chrono::milliseconds(50)) != nullptr;
}

TEST(ListeningSocket, TakesTheFirstPeersAddressAlone) {
  const auto socket = listening();
  EXPECT_TRUE(takes(*socket, "127.0.0.1"));
  EXPECT_FALSE(takes(*socket, "127.0.0.2"));
  EXPECT_TRUE(takes(*socket, "127.0.0.1"));
}

TEST(ListeningSocket, TakesTheNamedAddressAlone) {
  const auto socket = std::move(*ListeningSocket::open(*transport::Endpoint::parse("127.0.0.1:0"),
                                                       transport::Address::parse("127.0.0.2").value()));
  EXPECT_FALSE(takes(*socket, "127.0.0.1"));
  EXPECT_TRUE(takes(*socket, "127.0.0.2"));
}

// The prober's own other role, as a peer.
std::jthread peer_at(const transport::Endpoint& at, bool speaks) {
  return std::jthread([at, speaks] {
    const Duration patience = std::chrono::seconds(5);
    Conversation by(std::move(*connect_to(at, now() + patience)), false, patience);
    const StartUp start_up{};
    by.send_frame(start_up);
    by.start_fpdus(start_up, by.expect_frame(mpa::FrameKind::kReply).frame);
    if (speaks) by.send_ulpdu(by.make().write({}, {}, {}));
    by.expect_end_sometime("the test is over", patience);
  });
}

TEST(FromRaw, WaitsForTheInitiatorsFirstFpdu) {
  Listening where{.socket = listening()};
  const auto peer = peer_at(where.socket->local(), true);
  int waits = 0;
  where.tell_waiting = [&] { ++waits; };
  const auto way = way_from_peer("raw", std::move(where));
  std::unique_ptr<Conversation> by;
  way->open({}, by);
  EXPECT_TRUE(by->exchange().peer_opened);
  EXPECT_EQ(waits, 1);
}

TEST(FromRaw, SaysSoWhereThePeerSendsNone) {
  Listening where{.socket = listening()};
  const auto peer = peer_at(where.socket->local(), false);
  const auto way = way_from_peer("raw", std::move(where));
  way->patience = std::chrono::milliseconds(50);
  std::unique_ptr<Conversation> by;
  EXPECT_THROW(way->open({}, by), Judgement);
  ASSERT_NE(by, nullptr) << "a startup that fails is told";
  EXPECT_EQ(by->exchange().parts.size(), 2U) << "the Request and the Reply";
}

TEST(FromRaw, WaitsLessForAPeerThatNeverSendsOne) {
  Listening where{.socket = listening()};
  const auto at = where.socket->local();
  const auto way = way_from_peer("raw", std::move(where));
  way->patience = std::chrono::milliseconds(200);
  std::vector<std::string> said;
  for (int i = 0; i < 5; ++i) {
    const auto peer = peer_at(at, false);
    std::unique_ptr<Conversation> by;
    try {
      way->open({}, by);
    } catch (const Judgement& judgement) {
      said.emplace_back(judgement.what());
    }
  }
  ASSERT_EQ(said.size(), 5U);
  EXPECT_NE(said.at(3).find("within 200 ms"), std::string::npos) << said.at(3);
  EXPECT_NE(said.at(4).find("within 20 ms"), std::string::npos) << said.at(4);
}

TEST(FromRaw, SaysSoWhereNoneComes) {
  const auto way = way_from_peer("raw", {.socket = listening(), .wait = std::chrono::milliseconds(10)});
  std::unique_ptr<Conversation> by;
  EXPECT_THROW(way->open({}, by), Judgement);
}

TEST(FromPeerProgram, SaysSoWhereNoneComes) {
  const auto way = way_from_peer("weft", {.socket = listening(), .wait = std::chrono::milliseconds(10)});
  std::unique_ptr<Conversation> by;
  try {
    way->open({}, by);
    FAIL() << "no peer was there";
  } catch (const Judgement& judgement) {
    EXPECT_STREQ(judgement.what(), "no connection of the peer came");
  }
}

// No descriptor is left for the connection: none has come, and the wait ends.
TEST(ListeningSocket, TakesNoneWithoutADescriptor) {
  const auto socket = listening();
  sockaddr_storage storage{};
  const auto size = socket->local().to_sockaddr(storage);
  const int descriptor = ::socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);
  const Socket client(descriptor);
  ASSERT_EQ(::connect(descriptor, reinterpret_cast<sockaddr*>(&storage), size), 0);
  rlimit before{};
  ASSERT_EQ(::getrlimit(RLIMIT_NOFILE, &before), 0);
  const rlimit none{.rlim_cur = static_cast<rlim_t>(descriptor), .rlim_max = before.rlim_max};
  ASSERT_EQ(::setrlimit(RLIMIT_NOFILE, &none), 0);
  const auto taken = socket->accept(now() + std::chrono::milliseconds(1));
  EXPECT_EQ(::setrlimit(RLIMIT_NOFILE, &before), 0);
  EXPECT_EQ(taken, nullptr);
  EXPECT_NE(socket->accept(now() + std::chrono::seconds(5)), nullptr) << "it is taken later";
}

// A peer that the prober starts, in this process: it opens connections when it is started, and ends with its object.
class Opener final : public StartedPeer {
 public:
  Opener(const transport::Endpoint& at, int connections, std::vector<std::string>& log) : log_(log) {
    for (int i = 0; i < connections; ++i) {
      sockets_.push_back(std::move(*connect_to(at, now() + std::chrono::seconds(5))));
      const auto request = forge(mpa::FrameKind::kRequest, {});
      sockets_.back()->send(request, now() + std::chrono::seconds(5));
    }
  }
  ~Opener() override { log_.emplace_back("ended"); }
  bool running() override { return true; }
  Socket& connection(std::size_t which) { return *sockets_.at(which); }

 private:
  std::vector<std::string>& log_;
  std::vector<std::unique_ptr<Socket>> sockets_{};
};

bool has_reply(Socket& socket) {
  std::vector<std::byte> octets;
  while (octets.size() < mpa::kFixedFrameSize) {
    if (socket.receive(octets, now() + std::chrono::milliseconds(200)) != Socket::Got::kOctets) return false;
  }
  const auto parsed = mpa::parse_startup_frame(octets, mpa::FrameKind::kReply);
  return parsed && *parsed;
}

// Which process has made a connection cannot be seen: none is ended while a connection lives that may be its own. What the
// processes open besides is answered, so that they go on.
TEST(StartedPeers, AreNotEndedUnderAConnectionOfACase) {
  Listening where{.socket = listening()};
  const auto at = where.socket->local();
  std::vector<std::string> log;
  std::vector<Opener*> started;
  where.start = [&] {
    auto one = std::make_unique<Opener>(at, 3, log);
    started.push_back(one.get());
    return one;
  };
  const auto way = way_from_peer("raw", std::move(where));
  auto first = way->dial({});
  auto second = way->dial({});
  ASSERT_EQ(started.size(), 2U);
  EXPECT_TRUE(has_reply(started[0]->connection(1))) << "it is not the case's";
  EXPECT_TRUE(has_reply(started[0]->connection(2)));
  first.reset();
  EXPECT_TRUE(log.empty()) << "the second connection may be of the first process";
  second.reset();
  EXPECT_EQ(log.size(), 2U);
}

// Connections that a process has left behind, which the prober has ended, are no case's.
TEST(StartedPeers, LeaveNoConnectionToTheNextCase) {
  Listening where{.socket = listening()};
  const auto at = where.socket->local();
  std::vector<std::string> log;
  Opener* last = nullptr;
  where.start = [&] {
    auto one = std::make_unique<Opener>(at, 3, log);
    last = one.get();
    return one;
  };
  const auto way = way_from_peer("raw", std::move(where));
  for (int i = 0; i < 3; ++i) {
    const auto by = way->dial({});
    EXPECT_EQ(by->exchange().peer, last->connection(0).local().value()) << i;
  }
}

TEST(FromPeer, HasNoOtherProfiles) { EXPECT_EQ(way_from_peer("siw", {.socket = listening()}), nullptr); }

}  // namespace
}  // namespace weft::probe
