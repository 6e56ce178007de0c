// SPDX-License-Identifier: Apache-2.0
// `weft probe` where something else than iWARP listens: one sentence and exit code 3. A peer that stops making sense later ends
// the case and not the run.
#include <arpa/inet.h>
#include <gmock/gmock.h>
#include <sys/socket.h>
#include <unistd.h>

#include <deque>
#include <functional>
#include <mutex>
#include <thread>

#include "probe/forge.hpp"
#include "probe/messages.hpp"
#include "probe_run.hpp"

namespace weft::test {
namespace {

using testing::HasSubstr;

void say(int socket, std::string_view text) { ::send(socket, text.data(), text.size(), MSG_NOSIGNAL); }

// One read of what the other end said; false at its end.
bool hear(int socket) {
  char octets[4096];
  return ::recv(socket, octets, sizeof octets, 0) > 0;
}

// A server on 127.0.0.1 that treats each connection in its `manner`, and closes it then.
class Stranger {
 public:
  using Manner = std::function<void(int socket)>;
  explicit Stranger(Manner manner) : manner_(std::move(manner)), listener_(::socket(AF_INET, SOCK_STREAM, 0)) {
    sockaddr_in at{.sin_family = AF_INET, .sin_port = 0, .sin_addr = {htonl(INADDR_LOOPBACK)}, .sin_zero = {}};
    socklen_t size = sizeof at;
    EXPECT_EQ(::bind(listener_, reinterpret_cast<sockaddr*>(&at), size), 0);
    EXPECT_EQ(::listen(listener_, 64), 0);
    EXPECT_EQ(::getsockname(listener_, reinterpret_cast<sockaddr*>(&at), &size), 0);
    at_ = "127.0.0.1:" + std::to_string(ntohs(at.sin_port));
    acceptor_ = std::thread([this] { accept(); });
  }
  ~Stranger() {
    ::shutdown(listener_, SHUT_RDWR);
    acceptor_.join();
    for (const int socket : sockets_) ::shutdown(socket, SHUT_RDWR);
    for (std::thread& one : guests_) one.join();
    for (const int socket : sockets_) ::close(socket);
    ::close(listener_);
  }
  Stranger(const Stranger&) = delete;
  Stranger& operator=(const Stranger&) = delete;
  [[nodiscard]] const std::string& at() const { return at_; }

 private:
  void accept() {
    for (int socket = 0; (socket = ::accept(listener_, nullptr, nullptr)) >= 0;) {
      sockets_.push_back(socket);
      guests_.emplace_back([this, socket] {
        manner_(socket);
        ::shutdown(socket, SHUT_RDWR);
      });
    }
  }

  Manner manner_;
  int listener_;
  std::string at_{};
  std::deque<int> sockets_{};         // of the acceptor's thread, and after its end
  std::deque<std::thread> guests_{};  // the same
  std::thread acceptor_{};
};

void expect_no_peer(const std::string& target, const std::string& words) {
  const Ended ended = probe_by({"--patience", "300", target});
  EXPECT_EQ(ended.exit_code, 3) << ended.out;
  EXPECT_EQ(ended.out, "");
  EXPECT_TRUE(is_one_line(ended.err)) << ended.err;
  EXPECT_THAT(ended.err, HasSubstr(words));
}

TEST(NoPeer, WhereNothingListens) { expect_no_peer("127.0.0.1:" + std::to_string(free_port()), "127.0.0.1"); }

TEST(NoPeer, WhereAWebServerAnswers) {
  const Stranger web([](int socket) {
    if (hear(socket)) say(socket, "HTTP/1.1 400 Bad Request\r\nContent-Length: 0\r\n\r\n");
  });
  expect_no_peer(web.at(), "it is a web server");
}

TEST(NoPeer, WhereSshGreets) {
  const Stranger ssh([](int socket) {
    say(socket, "SSH-2.0-OpenSSH_9.2p1 Debian-2\r\n");
    while (hear(socket)) {
    }
  });
  expect_no_peer(ssh.at(), "it is an SSH server");
}

TEST(NoPeer, WhereTlsIsWanted) {
  using namespace std::string_view_literals;
  const Stranger tls([](int socket) {
    if (hear(socket)) say(socket, "\x15\x03\x01\x00\x02\x02\x46"sv);
  });
  expect_no_peer(tls.at(), "TLS");
}

void echo(int socket) {
  char octets[4096];
  for (ssize_t got = 0; (got = ::recv(socket, octets, sizeof octets, 0)) > 0;)
    say(socket, {octets, static_cast<std::size_t>(got)});
}

TEST(NoPeer, WhereAnEchoAnswers) {
  const Stranger echoing(echo);
  expect_no_peer(echoing.at(), "it sends back what it receives");
}

// A Reply may have the key of a Request by mistake. It is no echo: its private data is its own.
TEST(HostilePeer, ThatAnswersByTheKeyOfARequestIsAPeer) {
  const Stranger mistaken([](int socket) {
    if (!hear(socket)) return;
    const auto reply = probe::forge(mpa::FrameKind::kRequest, {.private_data = probe::pattern(9)});
    say(socket, {reinterpret_cast<const char*>(reply.data()), reply.size()});
    while (hear(socket)) {
    }
  });
  const auto run = probed({"--patience", "300", "--only", "ordinary", mistaken.at()});
  EXPECT_EQ(run.verdicts, (Verdicts{{"ordinary", "fail"}}));
}

TEST(NoPeer, WhereSilenceAnswers) {
  const Stranger silent([](int socket) {
    while (hear(socket)) {
    }
  });
  expect_no_peer(silent.at(), "does not answer");
}

TEST(NoPeer, WhereTheConnectionIsClosed) {
  const Stranger closing([](int) {});
  expect_no_peer(closing.at(), "");
}

void flood(int socket) {
  const std::string octets(1U << 16U, '\xEE');
  while (::send(socket, octets.data(), octets.size(), MSG_NOSIGNAL) > 0) {
  }
}

TEST(NoPeer, WhereOctetsFlood) {
  const Stranger flooding(flood);
  expect_no_peer(flooding.at(), "another protocol");
}

// It answers the Request as iWARP does, and then `manner` follows.
Stranger::Manner replying(Stranger::Manner manner) {
  return [manner = std::move(manner)](int socket) {
    if (!hear(socket)) return;
    const auto reply = probe::forge(mpa::FrameKind::kReply, {});
    say(socket, {reinterpret_cast<const char*>(reply.data()), reply.size()});
    manner(socket);
  };
}

// RFC 5044 appendix C.2.1: a Reply of the peer's own revision, and the end.
TEST(PeerOfRevision1, MayCloseBehindAReplyOfItsOwnRevision) {
  const Stranger old([](int socket) {
    if (!hear(socket)) return;
    const auto reply = probe::forge(mpa::FrameKind::kReply, {.revision = 1, .reject = true, .enhanced = {}});
    say(socket, {reinterpret_cast<const char*>(reply.data()), reply.size()});
  });
  const auto run = probed({"--patience", "300", "--only", "enhanced-answered,enhanced-rtr", old.at()});
  EXPECT_EQ(run.verdicts, (Verdicts{{"enhanced-answered", "pass"}, {"enhanced-rtr", "not_applicable"}}));
}

void expect_failures(const std::string& target) {
  const auto run = probed({"--patience", "300", "--only", "ordinary,crc-wrong-first", target});
  EXPECT_EQ(run.ended.exit_code, 1) << run.ended.out << run.ended.err;
  EXPECT_EQ(run.verdicts.size(), 2U);
  EXPECT_EQ(run.verdicts.at("ordinary"), "fail");
  EXPECT_THAT(run.ended.out, HasSubstr("FAILURES: 2 cases"));
}

TEST(HostilePeer, ThatFallsSilentFailsItsCases) {
  const Stranger silent(replying([](int socket) {
    while (hear(socket)) {
    }
  }));
  expect_failures(silent.at());
}

TEST(HostilePeer, ThatFloodsFailsItsCases) {
  const Stranger flooding(replying(flood));
  expect_failures(flooding.at());
}

TEST(HostilePeer, ThatClosesFailsItsCases) {
  const Stranger closing(replying([](int) {}));
  const auto run = probed({"--patience", "300", "--only", "ordinary", closing.at()});
  EXPECT_EQ(run.verdicts, (Verdicts{{"ordinary", "fail"}}));
}

}  // namespace
}  // namespace weft::test
