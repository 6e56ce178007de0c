// SPDX-License-Identifier: Apache-2.0
// `weft probe` waits for its peer: a weft probe-peer that it starts, or that a person starts.
#include <gmock/gmock.h>

#include <csignal>

#include "probe_run.hpp"

namespace weft::test {
namespace {

using testing::HasSubstr;

struct Caller {
  std::string profile{};
  std::string address{};
  std::string command{};
  std::size_t passes{};
  std::string only{};  // cases; empty: all
};

void PrintTo(const Caller& caller, std::ostream* out) { *out << caller.command << " to " << caller.address; }

class Callers : public testing::TestWithParam<Caller> {};

TEST_P(Callers, FailNoCase) {
  const Caller& caller = GetParam();
  const Arguments listen{"--profile",    caller.profile, "--listen",
                         caller.address, "--run",        weft_command() + " " + caller.command};
  const Arguments which = caller.only.empty() ? by_hand() : Arguments{"--only", caller.only, "--skip", "reply-silence"};
  expect_clean(probed(joined(listen, which)), caller.passes);
}

constexpr const char* kPeer = "probe-peer -c -a {host} -p {port}";
INSTANTIATE_TEST_SUITE_P(
    AreStarted, Callers,
    testing::Values(Caller{"raw", "0", "probe-peer -c -a {host} -p {port} --connections 1", 30},
                    // Of its 64 connections one is a case's, so each case waits.
                    Caller{"raw", "0", kPeer, 10, "reply-,crc-wrong-"}, Caller{"weft", "0", kPeer, 150},
                    Caller{"weft", "[::1]:0", kPeer, 150},
                    Caller{"weft", "0", "probe-peer -c --chatty -a {host} -p {port}", 150},
                    Caller{"weft", "0", "probe-peer -c -a {host} -p {port} --policy peer-to-peer=on", 100},
                    Caller{"weft", "0", "probe-peer -c -a {host} -p {port} --policy mpa-rev=1", 150}));

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

TEST(Caller, IsWaitedForNoLongerThanThePersonLikes) {
  Command prober({"probe", "--listen", "0"});
  ASSERT_TRUE(prober.wait_for_error("for connection 1 of the peer\n")) << prober.err();
  prober.signal(SIGINT);
  const Ended ended = prober.wait(std::chrono::seconds(30));  // the wait itself takes a minute
  EXPECT_EQ(ended.exit_code, 3) << ended.err;
  EXPECT_THAT(ended.err, HasSubstr("interrupted before the peer's connection came"));
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
