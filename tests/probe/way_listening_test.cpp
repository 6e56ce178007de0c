// SPDX-License-Identifier: Apache-2.0
// The ways to a peer that connects: what the prober answers, and what it waits for.
#include "probe/way_listening.hpp"

#include <gtest/gtest.h>
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
  ASSERT_NE(by, nullptr) << "a start-up that fails is told";
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

TEST(FromPeer, HasNoOtherProfiles) { EXPECT_EQ(way_from_peer("siw", {.socket = listening()}), nullptr); }

}  // namespace
}  // namespace weft::probe
