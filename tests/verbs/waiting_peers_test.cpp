// SPDX-License-Identifier: Apache-2.0
// No state waits for a peer without a deadline: docs/security.md has the table. Each case stops one end of a real
// connection at one state, in one manner, and the other end has to give up within the deadline of that state. All other
// deadlines are at their defaults, seconds away, or off. A relay between the two ends stops the octets of the one that
// plays the peer; it closes nothing, so only the end under test can end its stream.
#include <fcntl.h>
#include <poll.h>

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <atomic>
#include <cerrno>
#include <limits>
#include <mutex>
#include <thread>

#include "lone_ends.hpp"
#include "tls_pair.hpp"
#include "verbs/live_streams.hpp"

namespace weft::verbs::test {
namespace {

enum class Piping : std::uint8_t { kPlain, kAccept, kRequire };  // kAccept: the client is plain
enum class Tested : std::uint8_t { kInitiator, kResponder };

// What the peer does when it stops.
enum class Manner : std::uint8_t {
  kSilent,    // it reads, and sends nothing
  kDripping,  // an octet now and then
  kStopped,   // it does not read either: a stopped process, whose kernel acknowledges what its buffers hold
};

enum class State : std::uint8_t {
  kNothing,     // TCP is connected
  kOneOctet,    // of the peer's first flight
  kSomeOctets,  // the same, within the first record or frame
  kHandshake,   // in the middle of the peer's part of TLS's handshake
  kReady,       // responder: the Request was accepted, the ready-to-receive message does not come
  kRejected,    // responder: the peer does not close after the rejection
  kIdle,        // established
  kInMessage,   // within an FPDU, and with TLS within a record
  kShut,        // the peer's window is closed
  kFinishing,   // disconnect: an RDMA Read is not answered
  kClosing,     // disconnect: the peer's FIN does not come
  kLeaving,     // the queue pair was destroyed
};

struct Case {
  Piping piping;
  Tested tested;
  State state;
  Manner manner;
};

constexpr std::size_t kAll = std::numeric_limits<std::size_t>::max();
constexpr auto kShort = 100ms;

class Relay {
 public:
  Relay(const Endpoint& server, Tested tested, Manner manner, std::size_t octets)
      : tested_(tested), manner_(manner), left_(octets), listener_(std::make_unique<PlainServer>()) {
    thread_ = std::thread([this, server] { run(server); });
  }
  ~Relay() {
    over_ = true;
    thread_.join();
  }
  Relay(const Relay&) = delete;
  Relay& operator=(const Relay&) = delete;

  [[nodiscard]] std::uint16_t port() const { return listener_->port; }
  // The peer stops when so many octets more have come from it.
  void stop_behind(std::size_t octets) {
    const std::lock_guard lock(left_mutex_);
    left_ = octets;
  }
  // The end under test has closed its connection, at least its own direction.
  [[nodiscard]] bool is_left() const { return left_by_tested_; }

 private:
  static int accept_from(int listener, const std::atomic<bool>& over) {
    pollfd waiting{.fd = listener, .events = POLLIN, .revents = 0};
    while (!over && ::poll(&waiting, 1, 10) != 1) {
    }
    return over ? -1 : ::accept4(listener, nullptr, nullptr, SOCK_CLOEXEC | SOCK_NONBLOCK);
  }
  static int connect_to(const Endpoint& server) {
    const int made = ::socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);
    sockaddr_storage storage{};
    const auto size = server.to_sockaddr(storage);
    if (::connect(made, reinterpret_cast<sockaddr*>(&storage), size) != 0) std::abort();
    ::fcntl(made, F_SETFL, O_NONBLOCK);
    return made;
  }

  void run(const Endpoint& server) {
    const int client = accept_from(listener_->descriptor, over_);
    if (client < 0) return;
    const int behind = connect_to(server);
    const int tested = tested_ == Tested::kInitiator ? client : behind;
    const int peer = tested_ == Tested::kInitiator ? behind : client;
    while (!over_) {
      const bool stopped = has_stopped();
      const int watched = left_by_tested_ ? -1 : tested;
      pollfd ends[2] = {{.fd = watched, .events = POLLRDHUP, .revents = 0}, {.fd = peer, .events = 0, .revents = 0}};
      if (!stopped || manner_ != Manner::kStopped) ends[0].events |= POLLIN;
      if (!stopped) ends[1].events |= POLLIN;
      ::poll(ends, 2, 5);
      if ((ends[0].revents & (POLLRDHUP | POLLHUP | POLLERR)) != 0) left_by_tested_ = true;
      if (!stopped || manner_ != Manner::kStopped) carry(tested, peer, kAll);
      if (!stopped) let_speak(peer, tested);
      if (stopped && manner_ == Manner::kDripping) drip(peer, tested);
    }
    ::close(client);
    ::close(behind);
  }
  bool has_stopped() {
    const std::lock_guard lock(left_mutex_);
    return left_ == 0;
  }
  void let_speak(int peer, int tested) {
    const std::lock_guard lock(left_mutex_);
    if (left_ != 0) left_ -= carry(peer, tested, left_);
  }
  static std::size_t carry(int from, int to, std::size_t most) {
    std::array<char, 65536> some;
    const auto got = ::recv(from, some.data(), std::min(some.size(), most), 0);
    if (got <= 0) return 0;
    for (ssize_t sent = 0; sent < got;) {
      const auto now = ::send(to, some.data() + sent, static_cast<std::size_t>(got - sent), MSG_NOSIGNAL);
      if (now < 0 && errno != EAGAIN) break;
      if (now > 0) sent += now;
    }
    return static_cast<std::size_t>(got);
  }
  // All but the last octet: what is whole counts, however late the end under test looks at its clock.
  void drip(int from, int to) {
    std::array<char, 2> next{};
    const bool more = ::recv(from, next.data(), next.size(), MSG_PEEK) == 2;
    if (!more || std::chrono::steady_clock::now() < next_drop_) return;
    next_drop_ = std::chrono::steady_clock::now() + kShort / 2;
    carry(from, to, 1);
  }

  const Tested tested_;
  const Manner manner_;
  std::mutex left_mutex_;
  std::size_t left_;  // octets that the peer may send; guarded by left_mutex_
  std::atomic<bool> over_{false};
  std::atomic<bool> left_by_tested_{false};
  std::chrono::steady_clock::time_point next_drop_{};
  std::unique_ptr<PlainServer> listener_;
  std::thread thread_;
};

// The deadline of the state is short.
Policy with_deadline(Policy policy, State state) {
  policy.startup.peer_to_peer = true;
  // The other deadlines are too late to end a case.
  policy.timeouts.startup = policy.timeouts.fpdu = policy.timeouts.finish = policy.timeouts.close =
      std::chrono::seconds(60);
  switch (state) {
    case State::kNothing:
    case State::kOneOctet:
    case State::kSomeOctets:
    case State::kHandshake: policy.timeouts.startup = kShort; return policy;
    case State::kReady: policy.timeouts.startup = 5 * kShort; return policy;  // the Request has to come before
    case State::kIdle:
      policy.timeouts.idle = kShort;
      policy.timeouts.close = kShort;
      return policy;
    case State::kInMessage:
      policy.timeouts.fpdu = kShort;
      policy.timeouts.close = kShort;
      return policy;
    case State::kShut: policy.timeouts.window = kShort; return policy;
    case State::kFinishing:
      policy.timeouts.finish = kShort;
      policy.timeouts.close = kShort;
      return policy;
    case State::kRejected:
    case State::kClosing:
    case State::kLeaving: policy.timeouts.close = kShort; return policy;
  }
  return policy;
}

std::size_t octets_before(State state, Tested tested) {
  switch (state) {
    case State::kNothing: return 0;
    case State::kOneOctet: return 1;
    case State::kSomeOctets: return 10;
    // A responder's peer stops 6 octets after its ClientHello (234 octets), an initiator's 73 after its ServerHello (127).
    // A resumed session sends too few octets for a larger number: the relay may get the port of an earlier case again.
    case State::kHandshake: return tested == Tested::kResponder ? 240 : 200;
    default: return kAll;
  }
}

bool is_live(Tested tested) {
  return std::ranges::any_of(live_streams(),
                             [&](const auto& one) { return one.initiator == (tested == Tested::kInitiator); });
}

class Scene {
 public:
  Scene(const TlsKeys& keys, const Case& wanted)
      : case_(wanted), relay_(listen(keys), wanted.tested, wanted.manner, octets_before(wanted.state, wanted.tested)) {
    client_.id = must(ConnectionId::create(events_), "ConnectionId");
    must(client_.id->set_policy(policy(keys, Tested::kInitiator)), "policy");
    resolve(*client_.id, events_, loopback("127.0.0.1", relay_.port()));
    must(client_.id->connect(*client_.qp), "connect");
  }

  // The end under test has to leave; what happens before it is played here.
  void play() {
    const auto limit = std::chrono::steady_clock::now() + kPatience;
    while (!(relay_.is_left() && !is_live(case_.tested))) {
      ASSERT_LT(std::chrono::steady_clock::now(), limit) << "the end under test waits for ever" << what_is_live();
      auto event = events_.get_event(5ms);
      if (!event) continue;
      if (event->type == ConnectionEventType::kConnectRequest) on_request(std::move(event->request));
      if (event->type == ConnectionEventType::kEstablished && ++established_ == 2) on_established();
    }
  }

 private:
  static std::string what_is_live() {
    std::string text;
    for (const auto& one : live_streams())
      text += fmt::format("; {} {} waits for {}, {} octets in, {} out", one.initiator ? "initiator" : "responder",
                          to_string(one.stage), to_string(one.waits_for), one.octets_in, one.octets_out);
    return text;
  }
  Policy policy(const TlsKeys& keys, Tested role) const {
    const bool listens = role == Tested::kResponder;
    Policy made;
    if (case_.piping == Piping::kRequire) made = tls_policy(keys, listens ? "server" : "client");
    if (case_.piping == Piping::kAccept && listens) made = tls_policy(keys, "server", Tls::kAccept);
    made.startup.peer_to_peer = true;
    return role == case_.tested ? with_deadline(made, case_.state) : made;
  }
  Endpoint listen(const TlsKeys& keys) {
    must(listener_.bind_address(loopback("127.0.0.1")), "bind");
    must(listener_.set_policy(policy(keys, Tested::kResponder)), "policy");
    must(listener_.listen(), "listen");
    return listener_.local_address();
  }
  void on_request(std::unique_ptr<ConnectionId> request) {
    server_.id = std::move(*request);
    if (case_.state == State::kRejected) {
      relay_.stop_behind(0);
      must(server_.id->reject(), "reject");
      return;
    }
    if (case_.state == State::kReady) relay_.stop_behind(0);
    must(server_.id->accept(*server_.qp), "accept");
  }
  void on_established() {
    End& tested = case_.tested == Tested::kInitiator ? client_ : server_;
    End& peer = case_.tested == Tested::kInitiator ? server_ : client_;
    relay_.stop_behind(case_.state == State::kInMessage ? 100 : 0);
    switch (case_.state) {
      case State::kInMessage: {
        const auto sge = peer_octets_.sge(0, 1000);
        const auto place = octets_.sge(0, 1000);
        must(tested.qp->post_receive({.segments = {&place, 1}}), "receive");
        must(peer.qp->post_send({.opcode = SendOpcode::kSend, .segments = {&sge, 1}}), "send");
        return;
      }
      case State::kShut: return post(tested, SendOpcode::kRdmaWrite, 50);
      case State::kFinishing: post(tested, SendOpcode::kRdmaRead, 1); [[fallthrough]];
      case State::kClosing: return must(tested.id->disconnect(), "disconnect");
      case State::kLeaving: return tested.qp.reset();
      default: return;
    }
  }
  void post(End& tested, SendOpcode opcode, int times) {
    const auto sge = octets_.sge();
    for (int i = 0; i < times; ++i) {
      must(tested.qp->post_send({.opcode = opcode,
                                 .segments = {&sge, 1},
                                 .remote_address = peer_octets_.remote(),
                                 .rkey = peer_octets_.region.rkey()}),
           "post");
    }
  }

  const Case case_;
  EventChannel events_ = must(EventChannel::create(), "EventChannel");
  ConnectionId listener_ = must(ConnectionId::create(events_), "ConnectionId");
  End client_{};
  End server_{};
  Buffer octets_{case_.tested == Tested::kInitiator ? client_ : server_, 1 << 20};
  Buffer peer_octets_{case_.tested == Tested::kInitiator ? server_ : client_, 1 << 20};
  int established_ = 0;
  Relay relay_;
};

bool exists(const Case& one) {
  const bool responds = one.tested == Tested::kResponder;
  if (one.piping == Piping::kAccept && !responds) return false;  // it is plain
  switch (one.state) {
    case State::kHandshake: return one.piping == Piping::kRequire;
    case State::kReady:
    case State::kRejected: return responds;
    case State::kIdle: return one.manner != Manner::kDripping;  // the peer has no octets
    case State::kShut: return one.manner == Manner::kStopped;
    default: return true;
  }
}

std::vector<Case> all_cases() {
  std::vector<Case> all;
  for (const auto piping : {Piping::kPlain, Piping::kAccept, Piping::kRequire})
    for (const auto tested : {Tested::kInitiator, Tested::kResponder})
      for (auto state = State::kNothing; state <= State::kLeaving;
           state = State{std::uint8_t(std::to_underlying(state) + 1)})
        for (const auto manner : {Manner::kSilent, Manner::kDripping, Manner::kStopped})
          if (const Case one{piping, tested, state, manner}; exists(one)) all.push_back(one);
  return all;
}

std::string name_of(const Case& one) {
  static constexpr std::array kPipings{"Plain", "Accept", "Require"};
  static constexpr std::array kTested{"Initiator", "Responder"};
  static constexpr std::array kStates{"Nothing", "OneOctet",  "SomeOctets", "Handshake", "Ready",   "Rejected",
                                      "Idle",    "InMessage", "Shut",       "Finishing", "Closing", "Leaving"};
  static constexpr std::array kManners{"Silent", "Dripping", "Stopped"};
  return std::string(kPipings.at(std::to_underlying(one.piping))) + kTested.at(std::to_underlying(one.tested)) +
         kStates.at(std::to_underlying(one.state)) + kManners.at(std::to_underlying(one.manner));
}

class WaitingPeers : public testing::TestWithParam<Case> {};

TEST_P(WaitingPeers, HaveADeadline) {
  static const TlsKeys keys;
  Scene(keys, GetParam()).play();
  wait_until([] { return live_streams().empty(); }, "both ends are over");
}

INSTANTIATE_TEST_SUITE_P(States, WaitingPeers, testing::ValuesIn(all_cases()),
                         [](const auto& one) { return name_of(one.param); });

}  // namespace
}  // namespace weft::verbs::test
