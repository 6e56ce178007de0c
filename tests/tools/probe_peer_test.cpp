// SPDX-License-Identifier: Apache-2.0
// `weft probe-peer`: what it offers, its sessions, and that nothing that a client sends ends it.
#include <gmock/gmock.h>

#include <csignal>
#include <deque>
#include <set>

#include "peer_caller.hpp"
#include "probe/socket.hpp"
#include "probe/way_listening.hpp"

namespace weft::test {
namespace {

using testing::HasSubstr;
using verbs::WcStatus;

constexpr std::uint8_t kReadWrite = Region::kRead | Region::kWrite;
constexpr std::uint8_t kAll = kReadWrite | Region::kAtomic;

class ProbePeer : public testing::TestWithParam<const char*> {
 protected:
  ListeningPeer peer_{GetParam()};
};
INSTANTIATE_TEST_SUITE_P(BothFamilies, ProbePeer, testing::Values("127.0.0.1", "::1"),
                         [](const auto& one) { return one.param[0] == ':' ? "IPv6" : "IPv4"; });

TEST_P(ProbePeer, OffersRegionsOfEveryKindToWhoeverComes) {
  PeerCaller caller(peer_.at(), std::vector<std::byte>{});
  std::set<std::uint8_t> kinds, rights;
  for (const Region& one : caller.advert.regions) {
    kinds.insert(one.kind);
    if (one.kind == Region::kPlain) rights.insert(one.rights);
  }
  EXPECT_THAT(kinds, testing::ElementsAre(0, 1, 2, 3, 4, 5, 6, 7, 8, 9));
  EXPECT_THAT(rights, testing::IsSupersetOf({0, 1, 2, 3, 4, 7}));
  EXPECT_NE(caller.advert.session, 0U);
  EXPECT_GE(caller.plain(kReadWrite).length, 64U << 10U);
  for (const std::uint8_t some : {std::uint8_t{Region::kRead}, std::uint8_t{Region::kWrite}})
    EXPECT_EQ(std::ranges::count_if(caller.advert.regions,
                                    [&](const Region& r) { return r.kind == Region::kWindow && r.rights == some; }),
              1)
        << "a window with fewer rights";
  EXPECT_EQ(caller.advert.contract, probe::kContract);
  EXPECT_EQ(caller.region(Region::kOdd, Region::kRead).length % 2, 1U);
  EXPECT_EQ(caller.region(Region::kOdd, Region::kRead).offset.value % 2, 1U);
  EXPECT_GT(caller.region(Region::kTop, Region::kRead).offset.value, ~0ULL - (64U << 10U));
}

TEST_P(ProbePeer, WhatItOffersIsThereWithItsFirstContent) {
  PeerCaller caller(peer_.at(), Wish{});
  for (const std::uint8_t rights : {std::uint8_t{Region::kRead}, kReadWrite, kAll})
    EXPECT_TRUE(caller.reads_first_content(caller.plain(rights))) << unsigned{rights};
  for (const std::uint8_t kind : {Region::kThisStream, Region::kOdd, Region::kTop})
    EXPECT_TRUE(caller.reads_first_content(caller.region(kind, kReadWrite))) << unsigned{kind};
  EXPECT_EQ(caller.report().receives_done, 1U) << "an answered order: the window is bound by now";
  EXPECT_EQ(caller.read(caller.region(Region::kWindow, kReadWrite), 2048), WcStatus::kSuccess);
}

struct Refused {
  std::uint8_t kind;
  std::uint8_t rights;
  std::uint32_t code;  // of RDMAP's remote protection errors
};
class PeerRefuses : public testing::TestWithParam<Refused> {};
INSTANTIATE_TEST_SUITE_P(Regions, PeerRefuses,
                         testing::Values(Refused{Region::kPlain, 0, 2}, Refused{Region::kPlain, Region::kWrite, 2},
                                         Refused{Region::kForeign, kAll, 3}, Refused{Region::kOtherStream, kAll, 3},
                                         Refused{Region::kRevoked, kAll, 0}));

// Of a Terminate by RDMAP, remote protection error: 0 invalid STag, 2 access rights, 3 STag of another stream.
TEST_P(PeerRefuses, AndTheNextConnectionOfTheSessionIsTold) {
  ListeningPeer peer;
  PeerCaller first(peer.at(), Wish{});
  const auto& [kind, rights, code] = GetParam();
  const Region& what = kind == Region::kPlain ? first.plain(rights) : first.region(kind, rights);
  EXPECT_EQ(first.read(what, 8), WcStatus::kRemoteAccessError);

  PeerCaller second(peer.at(), Wish{.session = first.advert.session});
  EXPECT_EQ(second.advert.session, first.advert.session);
  EXPECT_NE(second.advert.connection, first.advert.connection);
  EXPECT_EQ(second.plain(kReadWrite), first.plain(kReadWrite));
  EXPECT_NE(second.region(Region::kThisStream, 0).stag, first.region(Region::kThisStream, 0).stag);
  const auto report = second.report();
  EXPECT_EQ(report.connections, 2U);
  EXPECT_EQ(report.terminate_sent, 0x01000100U | code);
  EXPECT_EQ(report.terminate_received, 0U);
}

TEST_P(ProbePeer, TheReportIsReadableToo) {
  PeerCaller caller(peer_.at(), Wish{});
  const auto answered = caller.report();
  ASSERT_EQ(caller.read(caller.region(Region::kReport, Region::kRead), probe::kReportSize), WcStatus::kSuccess);
  EXPECT_EQ(probe::parse_report(caller.data()), answered);
  EXPECT_EQ(answered.last_length, probe::kOrderSize);
  EXPECT_EQ(answered.last_opcode, 3U);
}

TEST_P(ProbePeer, ReceivesAreReadable) {
  PeerCaller caller(peer_.at(), Wish{.receives = 2, .receive_size = 100});
  EXPECT_EQ(caller.advert.receives, 2);
  EXPECT_EQ(caller.advert.receive_size, 100);
  caller.send(std::vector<std::byte>(60, std::byte{9}));
  EXPECT_EQ(caller.report().receives_done, 2U);
  ASSERT_EQ(caller.read(caller.region(Region::kReceives, Region::kRead), 200), WcStatus::kSuccess);
  EXPECT_EQ(caller.data()[59], std::byte{9});
  EXPECT_TRUE(probe::parse_order(caller.data().subspan(100))) << "the second buffer begins at receive_size";
}

TEST(ProbePeerWishes, IsRejectedWhereThatIsTheWish) {
  ListeningPeer peer;
  const PeerCaller rejected(peer.at(), Wish{.flags = Wish::kRejectMe});
  EXPECT_THAT(rejected.refusal, HasSubstr("reject"));
  PeerCaller next(peer.at(), Wish{});
  EXPECT_EQ(next.report().connections, 1U);
}

TEST(ProbePeerWishes, TheOtherDomainSeesTheOtherRegions) {
  ListeningPeer peer;
  PeerCaller caller(peer.at(), Wish{.flags = Wish::kOtherDomain});
  EXPECT_TRUE(caller.reads_first_content(caller.region(Region::kForeign, kAll)));
  EXPECT_EQ(caller.answer_to(caller.aimed(Order::kWrite, 100)).requests_done, 1U);
  EXPECT_EQ(caller.read(caller.plain(kReadWrite), 8), WcStatus::kRemoteAccessError);
}

TEST(ProbePeerWishes, ConnectionsShareReceives) {
  ListeningPeer peer;
  PeerCaller first(peer.at(), Wish{.flags = Wish::kSharedReceives, .receives = 2, .receive_size = 64});
  PeerCaller second(peer.at(), Wish{.session = first.advert.session, .flags = Wish::kSharedReceives});
  EXPECT_EQ(second.advert.receive_size, 64) << "they are the session's";
  EXPECT_EQ(second.region(Region::kReceives, 0), first.region(Region::kReceives, 0));
  EXPECT_EQ(first.answer_to({.operation = Order::kPostReceives, .flags = Order::kAnswer, .count = 3}).receives_done,
            1U);
  for (std::uint32_t i = 2; i < 8; ++i) EXPECT_EQ((i % 2 == 0 ? second : first).report().receives_done, i);
}

TEST(ProbePeerWishes, IrdAndOrdAreTheConnections) {
  ListeningPeer peer;
  PeerCaller caller(peer.at(), Wish{.ird = 2, .ord = 1});
  EXPECT_EQ(caller.advert.ird, 2);
  EXPECT_EQ(caller.advert.ord, 1);
  const auto settled = caller.link.queue_pair().query().negotiated;
  ASSERT_TRUE(settled);
  EXPECT_EQ(settled->ord, 2U) << "no more than the peer takes";
}

TEST(ProbePeerWishes, ASendWithoutAReceiveEndsTheStream) {
  ListeningPeer peer;
  PeerCaller caller(peer.at(), Wish{.receives = 0});
  caller.order({.operation = Order::kReport});
  caller.receive();
  EXPECT_NE(caller.last.status, WcStatus::kSuccess);
  PeerCaller next(peer.at(), Wish{.session = caller.advert.session});
  EXPECT_EQ(next.report().terminate_sent, 0x01010202U) << "DDP, untagged buffer error, no buffer available";
}

// It looks at the receives of such a connection when a Solicited Event comes, and then at all of them.
TEST(ProbePeerWishes, SolicitedEventsAlone) {
  ListeningPeer peer;
  PeerCaller caller(peer.at(), Wish{.flags = Wish::kSolicitedOnly});
  PeerCaller watcher(peer.at(), Wish{.session = caller.advert.session});
  caller.send(std::vector<std::byte>(8));
  ASSERT_EQ(caller.read(caller.plain(Region::kRead), 8), WcStatus::kSuccess) << "the Send has come";
  EXPECT_EQ(watcher.report().receives_done, 1U) << "the order's own";
  EXPECT_EQ(watcher.report().receives_done, 2U) << "two orders, and still no Send";
  const std::vector<std::byte> octets(8);
  const verbs::Sge what{reinterpret_cast<std::uintptr_t>(octets.data()), 8, 0};
  EXPECT_TRUE(caller.link.post_send({.opcode = verbs::SendOpcode::kSend,
                                     .flags = verbs::SendFlags::kInline | verbs::SendFlags::kSolicited,
                                     .segments = {&what, 1}}));
  std::uint32_t reports = 3;
  while (watcher.report().receives_done < reports + 2 && reports < 10000) ++reports;
  EXPECT_LT(reports, 10000U) << "both Sends were seen";
}

TEST(ProbePeerHostile, OctetsOfAnyKindEndNoPeer) {
  ListeningPeer peer;
  PeerCaller keeps(peer.at(), Wish{});
  for (unsigned operation = 0; operation < 256; operation += operation < 24 ? 1 : 33) {
    for (const auto flags : {Wish{}.flags, std::uint16_t{Wish::kSharedReceives}, std::uint16_t{Wish::kOtherDomain}}) {
      PeerCaller caller(peer.at(), Wish{.flags = flags, .receives = 0xFFFF, .receive_size = 0xFFFF});
      caller.order({.operation = static_cast<std::uint8_t>(operation),
                    .flags = 0xFF,
                    .count = 0xFFFF,
                    .length = 0xFFFFFFFF,
                    .stag = caller.plain(kReadWrite).stag,
                    .offset = {~0ULL},
                    .first = ~0ULL,
                    .second = ~0ULL});
    }
  }
  PeerCaller next(peer.at(), std::vector<std::byte>(500, std::byte{0xFF}));
  EXPECT_EQ(next.report().connections, 1U);
  EXPECT_EQ(keeps.report().receives_done, 1U);
}

TEST(ProbePeerHostile, ManyConnectionsAtATime) {
  ListeningPeer peer;
  std::deque<PeerCaller> callers;
  for (int i = 0; i < 100; ++i) callers.emplace_back(peer.at(), Wish{});
  std::set<std::uint32_t> sessions;
  for (PeerCaller& one : callers) {
    EXPECT_EQ(one.report().receives_done, 1U);
    sessions.insert(one.advert.session);
  }
  EXPECT_EQ(sessions.size(), callers.size());
}

TEST(ProbePeerHostile, SessionsWithoutConnectionsMakeRoomForOthers) {
  ListeningPeer peer;
  PeerCaller stays(peer.at(), Wish{});
  const auto session_of_4_mib = [&peer](std::uint32_t session = 0) {
    const Wish wish{.session = session, .flags = Wish::kSharedReceives, .receives = 1024, .receive_size = 4096};
    return PeerCaller(peer.at(), wish).advert.session;
  };
  const std::uint32_t first = session_of_4_mib();
  std::uint32_t last = 0;
  for (int i = 0; i < 64; ++i) last = session_of_4_mib();  // 256 MiB with the first one
  EXPECT_NE(session_of_4_mib(first), first);
  EXPECT_EQ(session_of_4_mib(last), last);
  EXPECT_EQ(PeerCaller(peer.at(), Wish{.session = stays.advert.session}).advert.session, stays.advert.session);
}

TEST(ProbePeerEnds, BySignalWithSuccess) {
  for (const int number : {SIGINT, SIGTERM}) {
    ListeningPeer peer;
    PeerCaller caller(peer.at(), Wish{});
    peer.command().signal(number);
    const Ended ended = peer.command().wait();
    EXPECT_EQ(ended.exit_code, 0) << ended.err;
    EXPECT_EQ(ended.err, "");
    EXPECT_EQ(caller.next().status, WcStatus::kFlushed);
  }
}

TEST(ProbePeerEnds, WithAConnectionThatAskedForIt) {
  ListeningPeer peer;
  {
    const PeerCaller caller(peer.at(), Wish{.flags = Wish::kEndWhenDone});
  }
  EXPECT_EQ(peer.command().wait().exit_code, 0);
}

TEST(ProbePeerEnds, WhereTheAddressIsTaken) {
  ListeningPeer peer;
  const Ended ended = run({"probe-peer", "-s", "-a", "127.0.0.1", "-p", std::to_string(peer.at().port)});
  EXPECT_EQ(ended.exit_code, 1);
  EXPECT_TRUE(is_one_line(ended.err)) << ended.err;
}

std::vector<std::string> connecting(const std::string& port, const std::vector<std::string>& more) {
  std::vector<std::string> all{"probe-peer", "-c", "-a", "127.0.0.1", "-p", port};
  all.insert(all.end(), more.begin(), more.end());
  return all;
}

// The Reply of one connection says what the next one is to be.
TEST(ProbePeerConnects, AgainAndAgainAsTheReplyWishes) {
  auto listener = tools::Listener::open(*verbs::Endpoint::parse("127.0.0.1:0"), {});
  ASSERT_TRUE(listener) << listener.error().sentence;
  Command peer(connecting(std::to_string(listener->local().port), {"--parallel", "1", "--connections", "2"}));
  std::uint32_t session = 0;
  {
    auto request = listener->next_request();
    ASSERT_TRUE(request);
    const auto advert = probe::parse_advert(request->private_data);
    ASSERT_TRUE(advert) << "its Request has the advert";
    session = advert->session;
    PeerCaller first(std::move(*request), Wish{.session = session, .receives = 3, .receive_size = 77});
    EXPECT_EQ(first.report().connections, 1U);
    first.order({.operation = Order::kDisconnect});
    EXPECT_EQ((first.receive(), first.last.status), WcStatus::kFlushed);
  }
  auto request = listener->next_request();
  ASSERT_TRUE(request);
  {
    PeerCaller second(std::move(*request), Wish{});
    EXPECT_EQ(second.advert.session, session);
    EXPECT_EQ(second.advert.receive_size, 77);
    EXPECT_EQ(second.report().connections, 2U);
  }
  EXPECT_EQ(peer.wait().exit_code, 0) << peer.err();
}

// The prober ends startups unanswered: it is there all the same. By revision 1, which no second attempt follows.
TEST(ProbePeerConnects, BehindManyStartUpsWithoutAnAnswer) {
  auto socket = probe::ListeningSocket::open(*verbs::Endpoint::parse("127.0.0.1:0"));
  ASSERT_TRUE(socket) << socket.error();
  const std::string port = std::to_string((*socket)->local().port);
  const auto way = probe::way_from_peer("weft", {.socket = std::move(*socket)});
  Command peer(connecting(port, {"--parallel", "1", "--policy", "mpa-rev=1"}));
  std::unique_ptr<probe::Conversation> by;
  way->open({}, by);
  by.reset();
  for (int i = 0; i < 20; ++i) static_cast<void>(way->dial({}));
  way->open({}, by);
  way->expect_alive(*by);
}

TEST(ProbePeerConnects, UntilThereIsNoListener) {
  auto listener = tools::Listener::open(*verbs::Endpoint::parse("127.0.0.1:0"), {});
  ASSERT_TRUE(listener) << listener.error().sentence;
  Command peer(connecting(std::to_string(listener->local().port), {"--parallel", "1"}));
  auto request = listener->next_request();
  ASSERT_TRUE(request);
  {
    PeerCaller first(std::move(*request), Wish{});
  }
  listener = std::unexpected(tools::Failure{});
  EXPECT_EQ(peer.wait().exit_code, 0) << peer.err();
}

TEST(ProbePeerConnects, ExitCode1AndASentenceIfNobodyEverAnswered) {
  const std::string port = std::to_string(free_port());
  const Ended ended = run(connecting(port, {}));
  EXPECT_EQ(ended.exit_code, 1);
  EXPECT_TRUE(is_one_line(ended.err)) << ended.err;
  EXPECT_THAT(ended.err, testing::HasSubstr(port));
}

}  // namespace
}  // namespace weft::test
