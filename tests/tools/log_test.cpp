// SPDX-License-Identifier: Apache-2.0
// `weft --log info` and `--log debug`: what a user reads there about a connection, and what must not stand there.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "command.hpp"

namespace weft::test {
namespace {

using testing::AllOf;
using testing::ContainsRegex;
using testing::HasSubstr;
using testing::Not;
using Arguments = std::vector<std::string>;

struct Logs {
  std::string client;
  std::string server;
};

// Three pings, with the log of both ends at this level.
Logs ping(const std::string& level, const Arguments& client_options = {}, int exit_code = 0) {
  const std::string port = std::to_string(free_port());
  Command server({"--log", level, "rping", "-s", "-d", "-a", "127.0.0.1", "-p", port});
  EXPECT_TRUE(server.wait_for_output("listening on ")) << server.err();
  Arguments arguments{"--log", level, "rping", "-c", "-a", "127.0.0.1", "-p", port, "-C", "3", "-S", "100"};
  arguments.insert(arguments.end(), client_options.begin(), client_options.end());
  const Ended client = run(arguments);
  EXPECT_EQ(client.exit_code, exit_code) << client.err;
  return {client.err, server.wait().err};
}

TEST(Log, InfoTellsAConnectionsLife) {
  const Logs logs = ping("info", {"--ird", "3", "--ord", "2", "--markers", "--rtr", "write"});
  for (const char* words :
       {"connecting to 127.0.0.1:", "TCP from 127.0.0.1:", "initiator",
        "MPA Request sent: revision 2, CRC, wants Markers, IRD 3, ORD 2, peer to peer, RTR by Write",
        "MPA Reply received: accepted, revision 2, CRC, IRD ",
        "established: MPA revision 2, CRC, Markers in what arrives", "ready-to-receive by write", "disconnect",
        "FIN sent", "FIN received", "closed by both ends; sent "}) {
    EXPECT_THAT(logs.client, HasSubstr(words));
  }
  for (const char* words : {"listening on 127.0.0.1:", "responder", "MPA Request received: revision 2",
                            "MPA Reply sent: accepted", "Markers in what leaves", "closed by both ends; sent "}) {
    EXPECT_THAT(logs.server, HasSubstr(words));
  }
  EXPECT_THAT(logs.client + logs.server, Not(HasSubstr("FPDU")));
}

TEST(Log, DebugTellsEachFpdu) {
  const Logs logs = ping("debug");
  for (const std::string& log : {logs.client, logs.server}) {
    EXPECT_THAT(log,
                AllOf(ContainsRegex("FPDU (sent|received), [0-9]+ octets at 0: Send, queue 0, MSN 1, MO 0, last, 16 "),
                      ContainsRegex("RDMA Read Request, queue 1, MSN 3"),
                      ContainsRegex("RDMA Read Response, STag 0x[0-9a-f]{8}, TO 0x[0-9a-f]+, last, 100 octets"),
                      ContainsRegex("RDMA Write, STag 0x[0-9a-f]{8}")));
    EXPECT_THAT(log, Not(HasSubstr("rdma-ping"))) << "no payload";
  }
  // Six advertisements and three Read Responses; the server: six answers, three Reads and three Writes.
  EXPECT_THAT(logs.client, ContainsRegex("sent [0-9]+ octets, 9 FPDUs; received [0-9]+ octets, 12 FPDUs"));
  EXPECT_THAT(logs.server, ContainsRegex("sent [0-9]+ octets, 12 FPDUs; received [0-9]+ octets, 9 FPDUs"));
}

TEST(Log, WarnHasNothingToSay) {
  const Logs logs = ping("warn");
  EXPECT_EQ(logs.client, "client DISCONNECT EVENT...\nweft rping: 3 pings, 300 octets each way.\n");
  EXPECT_THAT(logs.server, AllOf(HasSubstr("server DISCONNECT EVENT...\n"), Not(HasSubstr("weft warning"))));
}

TEST(Log, InfoTellsWhyAConnectionFails) {
  const std::string nobody = std::to_string(free_port());
  const Ended refused = run({"--log", "info", "rping", "-c", "-a", "127.0.0.1", "-p", nobody});
  EXPECT_THAT(refused.err, ContainsRegex("connection 1: failed: .*there is no listener"));
  const std::string port = std::to_string(free_port());
  Command server({"--log", "info", "rping", "-s", "-P", "-d", "--max-clients", "1", "-a", "127.0.0.1", "-p", port});
  ASSERT_TRUE(server.wait_for_output("listening on ")) << server.err();
  Command first({"rping", "-c", "-a", "127.0.0.1", "-p", port, "-d"});
  ASSERT_TRUE(first.wait_for_output("server says go ahead")) << first.err();
  const Ended second = run({"--log", "info", "rping", "-c", "-a", "127.0.0.1", "-p", port});
  EXPECT_EQ(second.exit_code, 1);
  EXPECT_THAT(second.err, HasSubstr("MPA Reply received: rejected, revision 2"));
  EXPECT_THAT(server.err(), HasSubstr("MPA Reply sent: rejected, revision 2"));
}

}  // namespace
}  // namespace weft::test
