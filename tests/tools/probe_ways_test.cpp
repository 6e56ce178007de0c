// SPDX-License-Identifier: Apache-2.0
// `weft probe` comes to its peer: rping and probe-peer, those that listen and those that connect.
#include <gmock/gmock.h>

#include "probe_run.hpp"

namespace weft::test {
namespace {

using testing::HasSubstr;

TEST(RpingServer, FailsNoCase) {
  const std::uint16_t port = free_port();
  Command server({"rping", "-s", "-P", "-a", "127.0.0.1", "-p", std::to_string(port)});
  ASSERT_TRUE(server.wait_for_error("listening on ")) << server.err();
  expect_clean(probed(joined({"--profile", "rping", "127.0.0.1:" + std::to_string(port)}, quick())), 60);
}

struct Caller {
  std::string profile{};
  std::string address{};
  std::string command{};
  std::size_t passes{};
};

void PrintTo(const Caller& caller, std::ostream* out) { *out << caller.command << " to " << caller.address; }

class Callers : public testing::TestWithParam<Caller> {};

TEST_P(Callers, FailNoCase) {
  const Caller& caller = GetParam();
  const Arguments listen{"--profile", caller.profile, "--listen", caller.address, "--run",
                         std::string(WEFT_COMMAND) + " " + caller.command};
  expect_clean(probed(joined(listen, quick())), caller.passes);
}

constexpr const char* kPing = "rping -c -a {host} -p {port} -C 1";
constexpr const char* kPeer = "probe-peer -c -a {host} -p {port}";
INSTANTIATE_TEST_SUITE_P(AreStarted, Callers,
                         testing::Values(Caller{"rping", "0", kPing, 40},
                                         Caller{"raw", "0", "probe-peer -c -a {host} -p {port} --connections 1", 30},
                                         Caller{"weft", "0", kPeer, 150}, Caller{"weft", "[::1]:0", kPeer, 150},
                                         Caller{"weft", "0", "probe-peer -c -a {host} -p {port} --policy peer-to-peer=on",
                                                100}));

TEST(Caller, ThatAPersonStartsIsWaitedFor) {
  Command prober({"probe", "--profile", "weft", "--listen", "0", "--only", "crc-wrong-write"});
  const std::string begins = "waiting at 127.0.0.1:";
  ASSERT_TRUE(prober.wait_for_error(begins)) << prober.err();
  ASSERT_TRUE(prober.wait_for_error("\n"));
  const std::string said = prober.err().substr(prober.err().find(begins) + begins.size());
  const Command peer({"probe-peer", "-c", "-a", "127.0.0.1", "-p", said.substr(0, said.find(' '))});
  const Ended ended = prober.wait();
  EXPECT_EQ(ended.exit_code, 0) << ended.out << ended.err;
  EXPECT_THAT(ended.out, HasSubstr("the peer is the MPA initiator"));
}

TEST(Caller, ThatCannotBeStartedIsNoPeer) {
  const Ended ended = probe_by({"--listen", "0", "--run", "/no/such/program {port}"});
  EXPECT_EQ(ended.exit_code, 3);
  EXPECT_TRUE(is_one_line(ended.err)) << ended.err;
  EXPECT_THAT(ended.err, HasSubstr("/no/such/program"));
}

TEST(Caller, ThatDoesNotConnectIsNoPeer) {
  const Ended ended = probe_by({"--listen", "0", "--run", "sleep 60", "--patience", "200"});
  EXPECT_EQ(ended.exit_code, 3);
  EXPECT_TRUE(is_one_line(ended.err)) << ended.err;
}

}  // namespace
}  // namespace weft::test
