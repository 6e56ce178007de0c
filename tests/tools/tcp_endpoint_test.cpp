// SPDX-License-Identifier: Apache-2.0
// The raw TCP side of the benchmarks, against itself in two threads, in clear and with OpenSSL: every pattern ends, with the
// right number of samples, and wrong data is seen.
#include <gtest/gtest.h>
#include <netinet/in.h>
#include <netinet/tcp.h>
#include <sys/socket.h>

#include <memory>
#include <string>
#include <thread>
#include <vector>

#include "tests/transport/tls_keys.hpp"
#include "tools/bench/raw_calls.hpp"
#include "tools/bench/tcp_crowd.hpp"
#include "tools/bench/tcp_endpoint.hpp"

namespace weft::tools::bench {
namespace {

using transport::test::TlsKeys;

verbs::Policy policy_with(const TlsKeys& keys, const std::string& name, const std::string& ca = "ca") {
  return {.tls = {.mode = verbs::Tls::kRequire, .certificate = keys.path(name + ".pem"), .ca = keys.path(ca + ".pem")}};
}

struct Pair {
  explicit Pair(const Options& options, Protection protection = Protection::kNone) {
    const TlsKeys keys;
    auto listener = tcp_listen_on_loopback();
    std::vector<std::unique_ptr<RawStream>> ours, theirs;
    for (std::uint32_t i = 0; i < options.connections; ++i) {
      auto socket = tcp_connect_to_loopback(listener->port);
      std::jthread caller([&] {
        ours.push_back(
            StreamMaker::make(policy_with(keys, "client"), protection)->at_caller(std::move(*socket)).value());
      });
      theirs.push_back(
          StreamMaker::make(policy_with(keys, "server"), protection)->at_listener(*tcp_accept(*listener)).value());
    }
    leader = end(std::move(ours), options);
    follower = end(std::move(theirs), options);
  }
  static std::unique_ptr<Endpoint> end(std::vector<std::unique_ptr<RawStream>> streams, const Options& options) {
    if (options.connections > 1) return TcpCrowd::create(std::move(streams), options).value();
    return std::make_unique<TcpEndpoint>(std::move(streams.front()), options);
  }
  std::unique_ptr<Endpoint> leader, follower;
};

// Sixteen connections are a crowd, which streams.
class EveryPattern : public testing::TestWithParam<std::tuple<Kind, Op, std::uint32_t, std::uint32_t, Protection>> {};

TEST_P(EveryPattern, EndsAndCountsItsMessages) {
  const auto [kind, op, size, connections, protection] = GetParam();
  if (connections > 1 && kind == Kind::kLatency) return;
  const Options options{.kind = kind, .op = op, .size = size, .connections = connections};
  constexpr std::uint64_t kMessages = 304;
  Pair pair(options, protection);
  std::jthread follower([&] {
    EXPECT_TRUE(pair.follower->follow_check(3));
    for (int i = 0; i < 2; ++i) EXPECT_TRUE(pair.follower->follow(kMessages));
    EXPECT_TRUE(pair.follower->follow_check(4));
  });
  ASSERT_TRUE(pair.leader->lead_check(3));
  for (int i = 0; i < 2; ++i) {
    const auto result = pair.leader->lead(kMessages);
    ASSERT_TRUE(result) << result.error().sentence;
    EXPECT_GT(result->seconds, 0);
    EXPECT_EQ(result->latency_us.size(), kind == Kind::kLatency ? kMessages : 0);
  }
  ASSERT_TRUE(pair.leader->lead_check(4));
}

INSTANTIATE_TEST_SUITE_P(KindsOpsSizes, EveryPattern,
                         testing::Combine(testing::Values(Kind::kLatency, Kind::kBandwidth, Kind::kRate),
                                          testing::Values(Op::kSend, Op::kWrite, Op::kRead),
                                          testing::Values(1U, 29U, 100'000U), testing::Values(1U, 16U),
                                          testing::Values(Protection::kNone, Protection::kOpenSsl)));

// What getsockopt says of a connected socket counts no time stamps.
TEST(TcpSocket, SegmentsCanBeLimited) {
  auto listener = tcp_listen_on_loopback({.emss = 1448});
  auto ours = tcp_connect_to_loopback(listener->port, {.emss = 1448});
  auto theirs = tcp_accept(*listener);
  for (const UniqueFd* fd : {&*ours, &*theirs}) {
    int mss = 0;
    socklen_t length = sizeof mss;
    ASSERT_EQ(::getsockopt(fd->get(), IPPROTO_TCP, TCP_MAXSEG, &mss, &length), 0);
    EXPECT_EQ(mss, 1448);
  }
}

TEST(TcpEndpoint, WrongDataIsSeen) {
  Pair pair({.size = 64});
  std::jthread leader([&] { EXPECT_TRUE(pair.leader->lead_check(1)); });
  const auto outcome = pair.follower->follow_check(2);
  ASSERT_FALSE(outcome);
  EXPECT_EQ(outcome.error().sentence, "raw TCP: wrong data at octet 0.");
}

TEST(TcpEndpoint, APeerThatLeavesIsAnErrorNotAHang) {
  for (const Protection protection : {Protection::kNone, Protection::kOpenSsl}) {
    Pair pair({.size = 64}, protection);
    pair.follower.reset();
    EXPECT_FALSE(pair.leader->lead(10));
  }
}

// What the caller has to say of a listener with these policies.
std::string outcome(const verbs::Policy& caller, const verbs::Policy& at_listener) {
  auto listener = tcp_listen_on_loopback();
  const auto made = StreamMaker::make(at_listener, Protection::kOpenSsl);
  std::jthread other([&] {
    const auto stream = made->at_listener(*tcp_accept(*listener));
    std::byte word{};
    if (!stream) return;
    EXPECT_FALSE(tcp_receive(**stream, {&word, 1}, Waiting::kSleep)) << "nothing is sent";
  });
  const auto stream =
      StreamMaker::make(caller, Protection::kOpenSsl)->at_caller(*tcp_connect_to_loopback(listener->port));
  return stream ? "" : stream.error().sentence;
}

// It is no rival that saves what weft pays for.
TEST(OpenSslRival, VerifiesThePeer) {
  const TlsKeys keys;
  const auto other = transport::tls::Authority::make("another CA", transport::tls::Authority::Days(1)).value();
  keys.put("other.pem", other.certificate());
  EXPECT_EQ(outcome(policy_with(keys, "client"), policy_with(keys, "server")), "");
  EXPECT_NE(outcome(policy_with(keys, "client", "other"), policy_with(keys, "server")).find("the peer's certificate: "),
            std::string::npos);
}

// The listener's judgement comes after the caller's own handshake.
TEST(OpenSslRival, IsVerifiedByTheListener) {
  const TlsKeys keys;
  const auto other = transport::tls::Authority::make("another CA", transport::tls::Authority::Days(1)).value();
  const auto issued = other.issue({.common_name = "stranger"}).value();
  keys.put("stranger.pem", issued.certificate + issued.key);
  auto listener = tcp_listen_on_loopback();
  const auto made = StreamMaker::make(policy_with(keys, "server"), Protection::kOpenSsl);
  std::jthread caller([&] {
    const auto maker = StreamMaker::make(policy_with(keys, "stranger"), Protection::kOpenSsl);
    static_cast<void>(maker->at_caller(*tcp_connect_to_loopback(listener->port)));
  });
  const auto stream = made->at_listener(*tcp_accept(*listener));
  ASSERT_FALSE(stream);
  EXPECT_NE(stream.error().sentence.find("the peer's certificate: "), std::string::npos) << stream.error().sentence;
}

// The second connection and those after it; with whole handshakes none does.
TEST(OpenSslRival, ResumesSessionsWhereItSaysSo) {
  const TlsKeys keys;
  for (const Protection protection : {Protection::kOpenSsl, Protection::kOpenSslResumed}) {
    auto listener = tcp_listen_on_loopback();
    const std::uint16_t port = listener->port;
    RawAnswers answers(std::move(*listener), *StreamMaker::make(policy_with(keys, "server"), protection));
    std::jthread follower([&] { EXPECT_TRUE(answers.follow(4)); });
    RawCalls calls(port, Caller::kSame, policy_with(keys, "client"), protection);
    const auto result = calls.lead(4);  // fails where a session that is to be resumed is not
    ASSERT_TRUE(result) << result.error().sentence;
    EXPECT_EQ(result->latency_us.size(), 4U);
  }
}

}  // namespace
}  // namespace weft::tools::bench
