// SPDX-License-Identifier: Apache-2.0
// Startups that the application, or the peer, gives up half-way.
#include <netinet/in.h>
#include <poll.h>
#include <sys/socket.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <latch>
#include <string_view>
#include <thread>

#include "loopback.hpp"
#include "tests/raw_tcp.hpp"

namespace weft::verbs::test {
namespace {

class Descriptor {
 public:
  explicit Descriptor(int descriptor) : descriptor_(descriptor) {}
  Descriptor(const Descriptor&) = delete;
  Descriptor& operator=(const Descriptor&) = delete;
  ~Descriptor() { ::close(descriptor_); }
  [[nodiscard]] int get() const { return descriptor_; }

 private:
  int descriptor_;
};

struct Server {
  explicit Server(int backlog = 128) {
    must(id.bind_address(loopback("127.0.0.1")), "bind_address");
    must(id.listen(backlog), "listen");
  }
  EventChannel events = must(EventChannel::create(), "EventChannel");
  ConnectionId id = must(ConnectionId::create(events), "ConnectionId");
};

// An identifier up to connect(), and its events.
struct Caller {
  explicit Caller(const Endpoint& destination, const Policy& policy = {}) {
    must(id.set_policy(policy), "set_policy");
    resolve(id, events, destination);
  }
  EventChannel events = must(EventChannel::create(), "EventChannel");
  ConnectionId id = must(ConnectionId::create(events), "ConnectionId");
};

void dial(const Descriptor& socket, const Endpoint& to) {
  sockaddr_storage storage{};
  const auto size = to.to_sockaddr(storage);
  ASSERT_EQ(::connect(socket.get(), reinterpret_cast<sockaddr*>(&storage), size), 0);
}

// A TCP listener whose queue is full: the kernel drops what else wants to connect.
class FullServer {
 public:
  FullServer() {
    sockaddr_in address{};
    address.sin_family = AF_INET;
    address.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
    socklen_t size = sizeof address;
    EXPECT_EQ(::bind(listener_.get(), reinterpret_cast<sockaddr*>(&address), size), 0);
    EXPECT_EQ(::listen(listener_.get(), 0), 0);
    EXPECT_EQ(::getsockname(listener_.get(), reinterpret_cast<sockaddr*>(&address), &size), 0);
    at_ = loopback("127.0.0.1", ntohs(address.sin_port));
    dial(first_, at_);
  }
  [[nodiscard]] const Endpoint& at() const { return at_; }

 private:
  Descriptor listener_{::socket(AF_INET, SOCK_STREAM, 0)};
  Descriptor first_{::socket(AF_INET, SOCK_STREAM, 0)};
  Endpoint at_{};
};

// Accepts whatever asks, dead or alive, until the caller has heard something.
ConnectionEvent serve_until_heard(Server& server, std::vector<std::unique_ptr<End>>& ends, Caller& caller) {
  ConnectionEvent heard;
  wait_until(
      [&] {
        const auto asked = server.events.get_event(1ms);
        if (asked && asked->request) {
          auto& end = *ends.emplace_back(std::make_unique<End>());
          end.id.emplace(std::move(*asked->request));
          static_cast<void>(end.id->accept(*end.qp));
        }
        auto event = caller.events.get_event(1ms);
        if (event) heard = std::move(*event);
        return event.has_value();
      },
      "no connection event");
  return heard;
}

// No call waits meanwhile, and the client need not poll for the Send to go.
TEST(FirstFpdu, WaitsForThePolicysDelay) {
  constexpr auto kDelay = 100ms;
  for (const bool peer_to_peer : {false, true}) {
    std::chrono::steady_clock::time_point before;
    Pair pair({.client_policy = {.startup = {.peer_to_peer = peer_to_peer}, .timeouts = {.first_fpdu_delay = kDelay}},
               .before_connect = [&](End&, End& server) {
                 before = std::chrono::steady_clock::now();
                 must(server.qp->post_receive({.wr_id = 1}), "post_receive");
               }});
    must(pair.client.qp->post_send({.opcode = SendOpcode::kSend}), "post_send");
    EXPECT_EQ(pair.server.next().status, WcStatus::kSuccess);
    EXPECT_GE(std::chrono::steady_clock::now() - before, kDelay);
    pair.disconnect();
  }
}

// MPA2-8-01, RDMAP-6.2.1-05: the Terminate that a failed negotiation asks for is not lost with the queue pair.
TEST(GivenUp, TheQueuePairIsDestroyedBehindTheTerminateOfTheStartUp) {
  using namespace std::string_view_literals;
  const weft::test::RawListener server;
  Caller caller(server.local());
  End end;
  must(caller.id.connect(*end.qp, {.ird = 2, .ord = 2}), "connect");
  weft::test::RawSocket peer = server.accept();
  peer.say("MPA ID Rep Frame\x50\x02\x00\x04\x00\x02\x00\x08"sv);  // C and S; an ORD of 8 (MPA2-9.1-08)
  expect_event(caller.events, ConnectionEventType::kConnectError);
  end.qp.reset();
  const std::string all = peer.hear(24 + 28);  // the Request, and the Terminate
  EXPECT_EQ(all[24 + 20], 0x20);               // layer 2, type 0
  EXPECT_EQ(all[24 + 21], 0x06);               // insufficient IRD
  EXPECT_TRUE(peer.read_to_end().empty());
  EXPECT_FALSE(peer.pending_error()) << "no RST came after the FIN";
}

TEST(GivenUp, TheQueuePairIsPutToErrorWhileTcpConnects) {
  FullServer full;
  Caller caller(full.at(), {.timeouts = {.connect = 60s}});
  End end;
  must(end.qp->post_receive({.wr_id = 1}), "post_receive");
  must(caller.id.connect(*end.qp), "connect");
  EXPECT_EQ(end.qp->modify(QpState::kReset).error().code, Errc::kInvalidState);
  must(end.qp->modify(QpState::kError), "ERROR");
  EXPECT_EQ(end.next().status, WcStatus::kFlushed);
  const auto event = expect_event(caller.events, ConnectionEventType::kConnectError);
  EXPECT_EQ(event.id, caller.id.number());
  EXPECT_EQ(event.error->argument, "queue_pair");
  EXPECT_EQ(end.qp->state(), QpState::kError);
}

// The SYN is not answered: as rdma_cm has it, the address is not reached.
TEST(GivenUp, TcpConnectsNotInTime) {
  FullServer full;
  Caller caller(full.at(), {.timeouts = {.connect = 50ms}});
  End end;
  must(caller.id.connect(*end.qp), "connect");
  const auto event = expect_event(caller.events, ConnectionEventType::kUnreachable);
  EXPECT_EQ(event.error->code, Errc::kTimedOut);
  EXPECT_EQ(event.error->argument, "destination");
}

TEST(GivenUp, TheQueuePairIsDestroyedWhileTcpConnects) {
  FullServer full;
  Caller caller(full.at(), {.timeouts = {.connect = 60s}});
  End end;
  must(caller.id.connect(*end.qp), "connect");
  end.qp.reset();
  expect_event(caller.events, ConnectionEventType::kConnectError);
}

// However far the first attempt has come: it never gets a stream, and the second one's is the only one.
// RDMAP-8.1.1-02, DDP-8.3.1-03
TEST(GivenUp, AQueuePairThatIsResetBelongsToTheNextAttempt) {
  Server server;
  for (int i = 0; i < 20; ++i) {
    Caller first(server.id.local_address()), second(server.id.local_address());
    End end;
    std::vector<std::unique_ptr<End>> peers;
    must(first.id.connect(*end.qp), "connect");
    must(end.qp->modify(QpState::kError), "ERROR");
    must(end.qp->modify(QpState::kReset), "RESET");
    must(second.id.connect(*end.qp), "connect again");
    EXPECT_EQ(serve_until_heard(server, peers, first).type, ConnectionEventType::kConnectError);
    EXPECT_EQ(serve_until_heard(server, peers, second).type, ConnectionEventType::kEstablished);
    EXPECT_EQ(end.qp->state(), QpState::kRts);
    EXPECT_EQ(first.events.get_event(0ms).error().code, Errc::kTimedOut);
  }
}

// Whichever comes first: the peer is not left with a connection to a queue pair in ERROR.
TEST(GivenUp, TheQueuePairIsPutToErrorWhileItAccepts) {
  Server server;
  for (int i = 0; i < 50; ++i) {
    Caller caller(server.id.local_address());
    End near, far;
    must(caller.id.connect(*near.qp), "connect");
    auto event = must(server.events.get_event(10000ms), "request");
    while (!event.request) event = must(server.events.get_event(10000ms), "request");  // of the round before
    std::latch both(2);
    std::thread other([&] {
      both.arrive_and_wait();
      must(far.qp->modify(QpState::kError), "ERROR");
    });
    both.arrive_and_wait();
    const auto accepted = event.request->accept(*far.qp);
    other.join();
    if (!accepted) event.request.reset();  // rejects it
    auto heard = must(caller.events.get_event(10000ms), "event");
    if (heard.type == ConnectionEventType::kEstablished) heard = must(caller.events.get_event(10000ms), "the end");
    EXPECT_NE(heard.type, ConnectionEventType::kEstablished);
    EXPECT_EQ(far.qp->state(), QpState::kError);
    must(far.qp->modify(QpState::kReset), "RESET");
  }
}

// Programs post as soon as accept has returned. What they post waits for the initiator's first message.
TEST(Accepted, SendsMayBePostedBeforeTheInitiatorIsReady) {
  for (const bool peer_to_peer : {false, true}) {
    Server server;
    Policy policy;
    policy.startup.peer_to_peer = peer_to_peer;
    Caller caller(server.id.local_address(), policy);
    End near, far;
    Buffer inbox(near, 64);
    must(near.qp->modify(QpState::kInit), "INIT");
    must(near.qp->post_receive({.wr_id = 7, .segments = std::array{inbox.sge()}}), "post_receive");
    const SendRequest send{.wr_id = 1, .opcode = SendOpcode::kSend, .flags = SendFlags::kSignaled};
    EXPECT_EQ(far.qp->post_send(send).error().code, Errc::kInvalidState);
    must(caller.id.connect(*near.qp), "connect");
    auto event = must(server.events.get_event(10000ms), "request");
    must(event.request->accept(*far.qp), "accept");
    must(far.qp->post_send(send), "post_send right after accept");
    expect_event(caller.events, ConnectionEventType::kEstablished);
    if (!peer_to_peer) must(near.qp->post_send({.wr_id = 2, .opcode = SendOpcode::kRdmaWrite}), "the first message");
    EXPECT_EQ(far.next().wr_id, 1U);
    EXPECT_EQ(near.next().wr_id, 7U);
  }
}

}  // namespace
}  // namespace weft::verbs::test
