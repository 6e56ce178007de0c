// SPDX-License-Identifier: Apache-2.0
// What `weft rping` says of itself on stderr: where it listens, what it has done at the end and at ^C, and how ^C ends it.
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <netinet/in.h>
#include <sys/socket.h>
#include <unistd.h>

#include <csignal>

#include "command.hpp"
#include "terminal.hpp"

namespace weft::test {
namespace {

using Arguments = std::vector<std::string>;
using testing::ContainsRegex;
using testing::HasSubstr;
using testing::Not;

class RpingWords : public testing::Test {
 protected:
  [[nodiscard]] Arguments words(const Arguments& role, const Arguments& more) const {
    Arguments all{"rping"};
    all.insert(all.end(), role.begin(), role.end());
    all.insert(all.end(), {"-a", "127.0.0.1", "-p", port_});
    all.insert(all.end(), more.begin(), more.end());
    return all;
  }
  [[nodiscard]] Arguments server(const Arguments& more = {}) const { return words({"-s"}, more); }
  [[nodiscard]] Arguments client(const Arguments& more = {}) const { return words({"-c"}, more); }

  std::string port_ = std::to_string(free_port());
};

TEST_F(RpingWords, AServerSaysWhereItListensAndHowToServeMore) {
  Command one(server());
  ASSERT_TRUE(one.wait_for_error("listening on ")) << one.err();
  EXPECT_EQ(one.err(), "weft rping: listening on 127.0.0.1:" + port_ + " for one client (-P: for any number).\n");
  EXPECT_EQ(one.out(), "") << "stdout is as the stock tool's";
  one.signal(SIGKILL);
  one.wait();
  Command many(server({"-P"}));
  ASSERT_TRUE(many.wait_for_error("listening on ")) << many.err();
  EXPECT_EQ(many.err(), "weft rping: listening on 127.0.0.1:" + port_ + " until ^C.\n");
}

TEST_F(RpingWords, BothEndsCountAtTheEnd) {
  Command one(server({"-V"}));
  ASSERT_TRUE(one.wait_for_error("listening on ")) << one.err();
  const Ended ended = run(client({"-C", "5", "-S", "100", "-V"}));
  EXPECT_EQ(ended.exit_code, 0) << ended.err;
  EXPECT_EQ(ended.err, "client DISCONNECT EVENT...\nweft rping: 5 pings, 500 octets each way, 0 data mismatches.\n");
  EXPECT_EQ(ended.out, "");
  EXPECT_THAT(one.wait().err, HasSubstr("weft rping: 1 client, 5 pings, 500 octets each way, 0 data mismatches.\n"));
}

TEST_F(RpingWords, WithoutChecksNoMismatchIsCounted) {
  Command one(server());
  ASSERT_TRUE(one.wait_for_error("listening on ")) << one.err();
  EXPECT_THAT(run(client({"-C", "1"})).err, HasSubstr("weft rping: 1 ping, 64 octets each way.\n"));
  EXPECT_THAT(one.wait().err, HasSubstr("weft rping: 1 client, 1 ping, 64 octets each way.\n"));
}

TEST_F(RpingWords, APersistentServerCountsEachClientAndAllOfThem) {
  Command many(server({"-P"}));
  ASSERT_TRUE(many.wait_for_error("listening on ")) << many.err();
  for (const char* count : {"2", "3"}) EXPECT_EQ(run(client({"-C", count})).exit_code, 0);
  ASSERT_TRUE(many.wait_for_error("3 pings, 192 octets each way.\n")) << many.err();
  many.signal(SIGTERM);
  const Ended ended = many.wait();
  EXPECT_EQ(ended.exit_code, 0) << ended.err;
  EXPECT_THAT(ended.err, ContainsRegex("client 127.0.0.1:[0-9]+: 2 pings, 128 octets each way.\n"));
  EXPECT_TRUE(ended.err.ends_with("weft rping: 2 clients, 5 pings, 320 octets each way.\n")) << ended.err;
}

TEST_F(RpingWords, AnEndlessClientSaysHowItEnds) {
  Command one(server());
  ASSERT_TRUE(one.wait_for_error("listening on ")) << one.err();
  Command endless(client());
  EXPECT_TRUE(endless.wait_for_error("weft rping: pinging 127.0.0.1:" + port_ + " until ^C (-C N: that often).\n"));
}

// The ping under way is finished, the connection closed, and the server has nothing to complain of.
TEST_F(RpingWords, InterruptedTheClientCountsAndCloses) {
  Command one(server({"-V"}));
  ASSERT_TRUE(one.wait_for_error("listening on ")) << one.err();
  Command endless(client({"-v", "-V"}));
  ASSERT_TRUE(endless.wait_for_output("rdma-ping-20:")) << endless.err();
  endless.signal(SIGINT);
  const Ended ended = endless.wait();
  EXPECT_EQ(ended.exit_code, 0) << "pings were answered, as with ping(8): " << ended.err;
  EXPECT_THAT(ended.err, ContainsRegex("weft rping: [0-9]+ pings, [0-9]+ octets each way, 0 data mismatches.\n$"));
  const Ended served = one.wait();
  EXPECT_EQ(served.exit_code, 0) << served.err;
  EXPECT_THAT(served.err, Not(HasSubstr("in the middle")));
}

TEST_F(RpingWords, InterruptedWhileItServesTheServerCountsAndCloses) {
  Command one(server({"-v"}));
  ASSERT_TRUE(one.wait_for_error("listening on ")) << one.err();
  Command endless(client());
  ASSERT_TRUE(one.wait_for_output("rdma-ping-20:")) << one.err();
  one.signal(SIGINT);
  const Ended served = one.wait();
  EXPECT_EQ(served.exit_code, 0) << served.err;
  EXPECT_THAT(served.err, ContainsRegex("weft rping: 1 client, [0-9]+ pings, "));
  EXPECT_EQ(endless.wait().exit_code, 1) << "its server has gone: " << endless.err();
}

TEST_F(RpingWords, InterruptedBeforeAnybodyCame) {
  Command one(server());
  ASSERT_TRUE(one.wait_for_error("listening on ")) << one.err();
  one.signal(SIGINT);
  const Ended nothing = one.wait();
  EXPECT_EQ(nothing.exit_code, 1) << "nothing was done";
  EXPECT_THAT(nothing.err, HasSubstr("interrupted before the first ping was done."));
  Command many(server({"-P"}));
  ASSERT_TRUE(many.wait_for_error("listening on ")) << many.err();
  many.signal(SIGTERM);
  EXPECT_EQ(many.wait().exit_code, 0) << "a persistent server ends in no other way: " << many.err();
}

// Asleep in the middle of a ping, with a peer that is there and says nothing.
TEST_F(RpingWords, InterruptedWithASilentServerTheClientEndsAllTheSame) {
  Command one(server({"-v"}));
  ASSERT_TRUE(one.wait_for_error("listening on ")) << one.err();
  Command endless(client());
  ASSERT_TRUE(one.wait_for_output("rdma-ping-20:")) << one.err();
  one.signal(SIGSTOP);
  endless.signal(SIGINT);
  const Ended ended = endless.wait(std::chrono::seconds(30));
  EXPECT_EQ(ended.exit_code, 0) << ended.err;
  EXPECT_THAT(ended.err, ContainsRegex("weft rping: [0-9]+ pings, "));
}

// The kernel takes connections to it, and no process answers.
int silent_listener(const std::string& port) {
  const int listener = ::socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);
  sockaddr_in address{};
  address.sin_family = AF_INET;
  address.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
  address.sin_port = htons(static_cast<std::uint16_t>(std::stoi(port)));
  EXPECT_EQ(::bind(listener, reinterpret_cast<const sockaddr*>(&address), sizeof address), 0);
  EXPECT_EQ(::listen(listener, 1), 0);
  return listener;
}

TEST_F(RpingWords, InterruptedWhileItConnects) {
  const int listener = silent_listener(port_);
  Command connecting(client({"-d"}));
  ASSERT_TRUE(connecting.wait_for_output("address and route resolved")) << connecting.err();
  connecting.signal(SIGINT);
  const Ended ended = connecting.wait(std::chrono::seconds(30));
  EXPECT_EQ(ended.exit_code, 1) << ended.err;
  EXPECT_EQ(ended.err, "weft rping: interrupted before the first ping was done.\n");
  ::close(listener);
}

TEST_F(RpingWords, OnATerminalAClientSaysForWhomItWaits) {
  const int listener = silent_listener(port_);
  Terminal terminal;
  Command connecting(
      {"-c", std::string("exec ") + weft_command() + " rping -c -a 127.0.0.1 -p " + port_ + " 2>" + terminal.path()},
      "/bin/sh");
  EXPECT_TRUE(terminal.wait_for("weft rping: waiting for an answer from 127.0.0.1:" + port_ + " (^C ends it)."));
  ::close(listener);
}

}  // namespace
}  // namespace weft::test
