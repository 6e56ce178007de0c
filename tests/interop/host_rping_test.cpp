// SPDX-License-Identifier: Apache-2.0
// `weft rping` against the stock rping of rdma-core on the kernel's siw, in both roles.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cstdio>

#include "tests/interop/program.hpp"
#include "tests/interop/vm.hpp"

namespace weft::interop {
namespace {

using testing::HasSubstr;

// rping -v: round 4 starts its text with the fifth printable character and numbers it.
constexpr const char* kLastLine = "ping data: rdma-ping-4: EFGHIJKLMNOPQRSTUVWXYZ";

std::string guest_port() { return std::to_string(Vm::instance().rping_port()); }

// weft as client. `options` are weft's own.
void ping_guest(const std::string& options) {
  Session server =
      Vm::instance().start("rping -s -v -V -C 5 -S 1000 2>/dev/null & wait_listen 7174 && echo ready; wait $!");
  ASSERT_TRUE(server.wait_for("ready")) << server.transcript();
  Program client("rping -c -a 127.0.0.1 -p " + guest_port() + " -C 5 -S 1000 -v -V " + options);
  EXPECT_EQ(client.finish(), 0) << client.output();
  EXPECT_THAT(client.output(), HasSubstr(kLastLine));
  server.finish();  // its exit code tells of the disconnect, not of an error
  EXPECT_THAT(server.transcript(), HasSubstr(std::string("server ") + kLastLine));
}

// weft as server.
void ping_host(const std::string& options, const std::string& guest_options = "") {
  const std::string port = std::to_string(free_tcp_port());
  Program server("rping -s -a 127.0.0.1 -p " + port + " -C 5 -S 1000 -v -V " + options);
  server.wait_listen(port);
  Session client =
      Vm::instance().start("limit 120 rping -c -a 10.0.2.2 -p " + port + " -C 5 -S 1000 -v -V " + guest_options);
  EXPECT_EQ(client.finish(), 0) << client.transcript() << server.output();
  EXPECT_THAT(client.transcript(), HasSubstr(kLastLine));
  EXPECT_EQ(server.finish(), 0) << server.output();
  EXPECT_THAT(server.output(), HasSubstr(std::string("server ") + kLastLine));
}

TEST(Rping, WeftIsClientWithCrc) { ping_guest(""); }
TEST(Rping, WeftIsClientWithoutCrc) { ping_guest("--no-crc"); }
TEST(Rping, WeftIsClientAndOffersManyReads) { ping_guest("--ird 16 --ord 16"); }
TEST(Rping, WeftIsClientOfRevision1) {
  // Revision 1 carries no ORD: the stock server takes it for 0 and cannot post its RDMA Read. It says so and closes.
  Session server = Vm::instance().start("rping -s -C 1 & wait_listen 7174 && echo ready; wait $!");
  ASSERT_TRUE(server.wait_for("ready")) << server.transcript();
  Program client("rping -c -a 127.0.0.1 -p " + guest_port() + " -C 1 --mpa-rev 1");
  EXPECT_NE(client.finish(), 0);
  EXPECT_THAT(client.output(), HasSubstr("closed the connection"));
  server.finish();
  EXPECT_THAT(server.transcript(), HasSubstr("post send error"));
}
TEST(Rping, WeftIsServerWithCrc) { ping_host(""); }
TEST(Rping, WeftIsServerWithoutCrc) { ping_host("--no-crc"); }

// siw knows no Markers and rejects a peer that wants them; RFC 5044 section 7.1.1 gives it no right to, but the client
// must say what happened.
TEST(Rping, SiwRejectsMarkers) {
  Session server = Vm::instance().start("rping -s -v -C 1 & wait_listen 7174 && echo ready; wait $!");
  ASSERT_TRUE(server.wait_for("ready")) << server.transcript();
  Program client("rping -c -a 127.0.0.1 -p " + guest_port() + " -C 1 --markers");
  EXPECT_NE(client.finish(), 0);
  EXPECT_THAT(client.output(), HasSubstr("reject"));
  Vm::instance().run("killall rping");
}

// A persistent server takes one client after the other, and several at a time.
TEST(Rping, PersistentWeftServerTakesManyClients) {
  const std::string port = std::to_string(free_tcp_port());
  Program server("rping -s -P -a 127.0.0.1 -p " + port);
  server.wait_listen(port);
  const std::string client = "limit 120 rping -c -a 10.0.2.2 -C 20 -V -p " + port;
  Session first = Vm::instance().start(client);
  Session second = Vm::instance().start(client);
  EXPECT_EQ(first.finish(), 0) << first.transcript() << server.output();
  EXPECT_EQ(second.finish(), 0) << second.transcript() << server.output();
  Session third = Vm::instance().start(client);
  EXPECT_EQ(third.finish(), 0) << third.transcript() << server.output();
}

// The stock server keeps one place for a connection that is being set up: of two requests that come at once, one is
// never answered (README.md). So the second client comes when the first one is at its pings.
TEST(Rping, PersistentStockServerTakesManyClients) {
  Session server = Vm::instance().start("rping -s -P 2>&1 & wait_listen 7174 && echo ready; wait $!");
  ASSERT_TRUE(server.wait_for("ready"));
  const std::string client = "rping -c -a 127.0.0.1 -V -v -p " + guest_port();
  Program first(client + " -C 500");
  first.wait_for("rdma-ping-1:");
  Program second(client + " -C 20");
  EXPECT_EQ(second.finish(), 0) << second.output();
  EXPECT_EQ(first.finish(), 0) << first.output();
  Program third(client + " -C 20");
  EXPECT_EQ(third.finish(), 0) << third.output();
  Vm::instance().run("killall rping");
}

// siw with its switches made parameters: it asks for CRC, and for revision 1, which its own rping server cannot use.
class RpingOfSiwWithParameters : public testing::Test {
 protected:
  static void SetUpTestSuite() { Vm::instance().run("use_siw parameters"); }
  static void TearDownTestSuite() { Vm::instance().run("use_siw stock"); }
};
TEST_F(RpingOfSiwWithParameters, SiwAsksForCrc) {
  Vm::instance().run("siw_set mpa_crc_required=1");
  ping_host("--no-crc");  // one end that wants it is enough (MPA-7.1.1-11)
  Vm::instance().run("siw_set mpa_crc_required=0");
}
TEST_F(RpingOfSiwWithParameters, SiwAsksForRevision1) {
  Vm::instance().run("siw_set mpa_version=1");
  ping_host("");
  ping_host("--mpa-rev 1 --no-crc");
  Vm::instance().run("siw_set mpa_version=2");
}

}  // namespace
}  // namespace weft::interop
