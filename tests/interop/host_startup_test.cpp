// SPDX-License-Identifier: Apache-2.0
// Startup with siw: private data, rejection, IRD and ORD, and peer-to-peer mode in both roles.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "tests/interop/program.hpp"
#include "tests/interop/vm.hpp"
#include "tests/interop/weft_end.hpp"

namespace weft::interop {
namespace {

using testing::HasSubstr;
using verbs::WcStatus;

std::string connect_command(const WeftServer& server) {
  return "siw_peer connect 10.0.2.2 " + std::to_string(server.port());
}

TEST(Startup, PrivateDataOfSomeLength) {
  const std::string ours(180, 'w');
  const std::string theirs(180, 's');
  Session guest = Vm::instance().start("siw_peer listen 7471 -d " + theirs + " closed");
  ASSERT_TRUE(guest.wait_for("listening")) << guest.transcript();
  WeftEnd weft = WeftEnd::connect(Vm::instance().peer_port(), {.text = ours});
  EXPECT_EQ(weft.guest().text, theirs);
  weft.disconnect();
  EXPECT_EQ(guest.finish(), 0) << guest.transcript();
  EXPECT_THAT(guest.transcript(), HasSubstr("private=196 text='" + ours + "'"));
}

// siw reports a rejection without its private data when it sees the end of the connection before it has read what came
// in front of it (README.md). weft lets the peer close first.
TEST(Startup, WeftRejectsWithPrivateData) {
  for (int tries = 0; tries < 3; ++tries) {
    WeftServer server;
    Session guest = Vm::instance().start(connect_command(server) + " -d please");
    auto request = server.next_request();
    ASSERT_TRUE(request.request->reject(octets_of("weft says no")));
    EXPECT_EQ(guest.finish(), 3) << guest.transcript();
    EXPECT_THAT(guest.transcript(), HasSubstr("event RDMA_CM_EVENT_REJECTED"));
    EXPECT_THAT(guest.transcript(), HasSubstr("private=12 text='weft says no'"));
  }
}

TEST(Startup, SiwRejectsWithPrivateData) {
  for (const std::uint8_t revision : {std::uint8_t{2}, std::uint8_t{1}}) {
    Session guest = Vm::instance().start("siw_peer listen 7471 -r -d siw-says-no");
    ASSERT_TRUE(guest.wait_for("listening")) << guest.transcript();
    try {
      WeftEnd::connect(Vm::instance().peer_port(), {.policy = {.startup = {.mpa_revision = revision}}});
      ADD_FAILURE() << "connected, though siw rejects";
    } catch (const std::runtime_error& error) {
      EXPECT_THAT(error.what(), HasSubstr("'siw-says-no'"));
    }
    EXPECT_EQ(guest.finish(), 0) << guest.transcript();
  }
}

TEST(Startup, NobodyListensInTheGuest) {
  EXPECT_THROW(WeftEnd::connect(Vm::instance().peer_port(), {}), std::runtime_error);
}

// siw answers a Request for IRD 7, ORD 9 with IRD 9, ORD 7.
TEST(Startup, IrdAndOrdAreExchanged) {
  Session guest = Vm::instance().start("siw_peer listen 7471 closed");
  ASSERT_TRUE(guest.wait_for("listening")) << guest.transcript();
  WeftEnd weft = WeftEnd::connect(Vm::instance().peer_port(), {.ird = 7, .ord = 9});
  EXPECT_EQ(weft.negotiated().ird, 7U);
  EXPECT_EQ(weft.negotiated().ord, 9U);
  weft.disconnect();
  guest.finish();
  EXPECT_THAT(guest.transcript(), HasSubstr("request ird=9 ord=7"));
}

// Asked for more than its application wants to give, siw gives it all the same.
TEST(Startup, SiwRaisesItsIrdToOurOrd) {
  Session guest = Vm::instance().start("siw_peer listen 7471 -I 1 -O 2 closed");
  ASSERT_TRUE(guest.wait_for("listening")) << guest.transcript();
  WeftEnd weft = WeftEnd::connect(Vm::instance().peer_port(), {.ird = 16, .ord = 16});
  EXPECT_EQ(weft.negotiated().ord, 16U);
  for (int i = 0; i < 5; ++i) EXPECT_EQ(weft.read(5000, 0).status, WcStatus::kSuccess);
  weft.disconnect();
  EXPECT_EQ(guest.finish(), 0) << guest.transcript();
}

TEST(Startup, SiwAsksForIrdAndOrd) {
  WeftServer server;
  Session guest = Vm::instance().start(connect_command(server) + " -I 3 -O 5 read=70000 read=70000 closed");
  WeftEnd weft = server.accept({});
  EXPECT_GE(weft.negotiated().ird, 5U);
  EXPECT_EQ(weft.negotiated().ord, 3U);  // not more than the guest takes (MPA2-9.1-10)
  EXPECT_EQ(weft.read(1000, 0).status, WcStatus::kSuccess);
  ASSERT_TRUE(guest.wait_for("completed"));
  ASSERT_TRUE(guest.wait_for("completed")) << guest.transcript();
  weft.disconnect();
  EXPECT_EQ(guest.finish(), 0) << guest.transcript();
}

// --- Peer-to-peer, RFC 6581 section 9.2: the initiator opens with a ready-to-receive indication, so that the responder
// may send first.

void expect_rtr_towards_siw(const verbs::RtrTypes& offered, verbs::Rtr chosen) {
  Session guest = Vm::instance().start("siw_peer listen 7471 write=100,4194304 send=9 recv closed");
  ASSERT_TRUE(guest.wait_for("listening")) << guest.transcript();
  WeftEnd weft =
      WeftEnd::connect(Vm::instance().peer_port(), {.policy = {.startup = {.peer_to_peer = true, .rtr = offered}}});
  EXPECT_EQ(weft.negotiated().rtr, chosen);
  EXPECT_EQ(weft.send(3).status,
            WcStatus::kSuccess);  // and in case siw left the indication unread: something after it
  const Message first = weft.receive();
  EXPECT_EQ(first.octets.size(), 9U);
  EXPECT_EQ(weft.memory()[kHalf + 99], guest_pattern(99));
  weft.disconnect();
  EXPECT_EQ(guest.finish(), 0) << guest.transcript();
}

TEST(PeerToPeer, WeftIndicatesWithWrite) { expect_rtr_towards_siw({.write = true, .read = true}, verbs::Rtr::kWrite); }
TEST(PeerToPeer, WeftIndicatesWithRead) { expect_rtr_towards_siw({.read = true}, verbs::Rtr::kRead); }

class SiwIsPeerToPeerInitiator : public testing::Test {
 protected:
  static void SetUpTestSuite() { Vm::instance().run("use_siw parameters && siw_set peer_to_peer=1"); }
  static void TearDownTestSuite() { Vm::instance().run("use_siw stock"); }

  // weft, the responder, sends first.
  static void expect_rtr_from_siw(const std::string& siw, const verbs::RtrTypes& accepted, verbs::Rtr chosen) {
    Vm::instance().run("siw_set " + siw);
    WeftServer server({.startup = {.rtr = accepted}});
    Session guest = Vm::instance().start(connect_command(server) + " recv sum=4194304,50 send=9 closed");
    WeftEnd weft = server.accept({});
    EXPECT_EQ(weft.negotiated().rtr, chosen);
    EXPECT_EQ(weft.write(50, kHalf).status, WcStatus::kSuccess);
    EXPECT_EQ(weft.send(4).status, WcStatus::kSuccess);
    EXPECT_EQ(weft.receive().octets.size(), 9U);
    const std::string sum = checksum(weft.memory().first(50));
    weft.disconnect();
    EXPECT_EQ(guest.finish(), 0) << guest.transcript();
    EXPECT_THAT(guest.transcript(), HasSubstr("sum=" + sum));
  }
};

TEST_F(SiwIsPeerToPeerInitiator, Write) {
  expect_rtr_from_siw("rtr_write=1 rtr_read=1", {.write = true, .read = true}, verbs::Rtr::kWrite);
}
TEST_F(SiwIsPeerToPeerInitiator, ReadBecauseWeftAcceptsNoOther) {
  expect_rtr_from_siw("rtr_write=1 rtr_read=1", {.read = true}, verbs::Rtr::kRead);
}
TEST_F(SiwIsPeerToPeerInitiator, ReadBecauseSiwOffersNoOther) {
  expect_rtr_from_siw("rtr_write=0 rtr_read=1", {.write = true, .read = true}, verbs::Rtr::kRead);
}
TEST_F(SiwIsPeerToPeerInitiator, WithCrc) {
  expect_rtr_from_siw("rtr_write=1 rtr_read=1 mpa_crc_required=1", {.write = true, .read = true}, verbs::Rtr::kWrite);
}

}  // namespace
}  // namespace weft::interop
