// SPDX-License-Identifier: Apache-2.0
// A queue pair that is destroyed or reset without a disconnect: what it has sent with success arrives, and what its
// peer asked for and does not take is not kept for it.
#include <sys/wait.h>
#include <unistd.h>

#include <filesystem>

#include "epoll_sets.hpp"
#include "hand_peer.hpp"
#include "loopback.hpp"
#include "transport/socket.hpp"
#include "verbs/progress/orphans.hpp"
#include "verbs/progress/runtime.hpp"

namespace weft::verbs::test {
namespace {

constexpr std::uint32_t kSends = 500;
constexpr std::size_t kOctets = 2048;  // each: together more than the server reads while it has no receive
const EndOptions kManySends{.queue_pair = {.max_send_wr = kSends, .max_receive_wr = kSends}, .cq_capacity = kSends};

void send_all(End& client) {
  Buffer from(client, kOctets);
  from.fill(1);
  const auto source = from.sge();
  for (std::uint64_t i = 0; i < kSends; ++i) {
    must(client.qp->post_send(
             {.wr_id = i, .opcode = SendOpcode::kSend, .flags = SendFlags::kSignaled, .segments = {&source, 1}}),
         "post_send");
  }
  for (std::uint64_t i = 0; i < kSends; ++i) EXPECT_EQ(client.next().status, WcStatus::kSuccess);
}

void expect_all(End& server) {
  Buffer to(server, kOctets);
  const auto sink = to.sge();
  for (std::uint64_t i = 0; i < kSends; ++i) {
    must(server.qp->post_receive({.wr_id = i, .segments = {&sink, 1}}), "post_receive");
    const auto received = server.next();
    ASSERT_EQ(received.status, WcStatus::kSuccess) << i;
    EXPECT_EQ(received.wr_id, i);
  }
}

struct Way {
  const char* name;
  std::function<void(End& client)> leave;
};
void PrintTo(const Way& way, std::ostream* out) { *out << way.name; }
class Ways : public ::testing::TestWithParam<Way> {};

TEST_P(Ways, LoseNoSendThatCompletedWithSuccess) {
  Pair pair({.client = kManySends, .server = kManySends});
  send_all(pair.client);
  GetParam().leave(pair.client);  // the server has not posted a single receive
  expect_all(pair.server);
}

const Way kWays[] = {
    {"Destroyed", [](End& client) { client.qp.reset(); }},
    {"Reset", [](End& client) { must(client.qp->modify(QpState::kReset), "RESET"); }},
    {"DestroyedWithItsIdentifier", [](End& client) { client.qp.reset(), client.id.reset(); }},
    {"DestroyedAfterDisconnect",
     [](End& client) { must(client.id->disconnect(), "disconnect"), client.qp.reset(), client.id.reset(); }},
};
INSTANTIATE_TEST_SUITE_P(Leaving, Ways, ::testing::ValuesIn(kWays),
                         [](const auto& parameter) { return std::string(parameter.param.name); });

// The peer of one of this process's connections takes nothing any more: what was sent fills its socket.
bool a_window_is_closed() {
  for (const auto& entry : std::filesystem::directory_iterator("/proc/self/fd")) {
    auto socket = transport::Socket::own(std::stoi(entry.path().filename()));
    const bool closed = socket.peer_takes_nothing();
    if (socket.release() >= 0 && closed) return true;
  }
  return false;
}

// The process that has sent ends after its last call: its runtime goes with the last handle. No time is over then, so a
// window that is closed for a moment is no reason to drop what the kernel has yet to send.
TEST(Leaving, TheProcessEndsToo) {
  if (weft::test::kThreadSanitizer) GTEST_SKIP() << "ThreadSanitizer allows no threads in a child: nothing is tried";
  int port_of[2];
  ASSERT_EQ(::pipe(port_of), 0);
  const pid_t child = ::fork();  // before there is a runtime
  if (child == 0) {
    int code = 1;
    try {
      std::uint16_t port = 0;
      if (::read(port_of[0], &port, sizeof port) != sizeof port) ::_exit(2);
      auto events = must(EventChannel::create(), "EventChannel");
      End client(kManySends);
      client.id = must(ConnectionId::create(events), "ConnectionId");
      must(client.id->set_policy({.startup = {.same_host = SameHost::kOff}}), "set_policy");
      resolve(*client.id, events, loopback("127.0.0.1", port));
      must(client.id->connect(*client.qp), "connect");
      expect_event(events, ConnectionEventType::kEstablished);
      send_all(client);
      wait_until(a_window_is_closed, "the window to close");
      client.qp.reset();
      code = ::testing::Test::HasFailure() ? 3 : 0;
    } catch (const std::exception& error) {
      std::fprintf(stderr, "child: %s\n", error.what());
    }
    ::_exit(code);
  }
  auto events = must(EventChannel::create(), "EventChannel");
  auto listener = must(ConnectionId::create(events), "ConnectionId");
  must(listener.bind_address(loopback("127.0.0.1")), "bind");
  must(listener.listen(), "listen");
  End server(kManySends);
  const std::uint16_t port = listener.local_address().port;
  ASSERT_EQ(::write(port_of[1], &port, sizeof port), static_cast<ssize_t>(sizeof port));
  auto request = expect_event(events, ConnectionEventType::kConnectRequest);
  must(request.request->accept(*server.qp), "accept");
  expect_event(events, ConnectionEventType::kEstablished);
  int status = -1;
  ASSERT_EQ(::waitpid(child, &status, 0), child);
  EXPECT_TRUE(WIFEXITED(status) && WEXITSTATUS(status) == 0) << status;
  expect_all(server);
  for (const int end : port_of) ::close(end);
}

// Work that is not finished is lost, and the peer hears of it at once: what is not there cannot be sent.
TEST(Leaving, UnfinishedWorkIsAborted) {
  Pair pair({.server_policy = {.timeouts = {.close = 60s}}, .client = {.queue_pair = {.max_send_wr = 2}}});
  Buffer into(pair.client, 8), source(pair.server, 8);
  const auto sink = into.sge();
  must(pair.client.qp->post_send({.wr_id = 1, .opcode = SendOpcode::kSend}), "post_send");  // meets no receive
  must(pair.client.qp->post_send({.wr_id = 2,
                                  .opcode = SendOpcode::kRdmaRead,
                                  .segments = {&sink, 1},
                                  .remote_address = source.remote(),
                                  .rkey = source.region.rkey()}),
       "post_send");
  pair.client.qp.reset();
  pair.event(ConnectionEventType::kDisconnected);
  pair.event(ConnectionEventType::kDisconnected);
}

// --- What a peer asked for and does not take

std::size_t open_sockets() {
  std::size_t count = 0;
  for (const auto& entry : std::filesystem::directory_iterator("/proc/self/fd")) {
    count += is_socket(std::stoi(entry.path().filename())) ? 1 : 0;
  }
  return count;
}

// A Read of this many octets.
void must_ask(HandPeer& peer, const Buffer& source, std::uint32_t octets) {
  const rdmap::LocalSegment sink{0, octets, 1};
  const bool posted = peer.engine
                          .post({.operation = engine::Operation::kRead,
                                 .local = {&sink, 1},
                                 .remote_stag = {source.region.rkey()},
                                 .remote_offset = {source.remote()},
                                 .sink_stag = {1}})
                          .has_value();
  if (!posted) throw std::runtime_error("a Read is not posted");
  peer.write();
}

// One end that has a queue pair for each of the peers that connect to it.
struct Server {
  explicit Server(const Policy& policy) {
    must(listener.bind_address(loopback("127.0.0.1")), "bind");
    must(listener.set_policy(policy), "set_policy");
    must(listener.listen(), "listen");
  }
  struct Connection {
    std::unique_ptr<HandPeer> peer;
    std::optional<QueuePair> qp;
    std::optional<ConnectionId> id;
  };
  Connection connection() {
    QueuePairAttributes attributes{};
    attributes.send_cq = attributes.receive_cq = &end.cq;
    Connection made{.peer = std::make_unique<HandPeer>(listener.local_address()),
                    .qp = must(end.domain.create_queue_pair(attributes), "create_queue_pair"),
                    .id = {}};
    auto request = expect_event(events, ConnectionEventType::kConnectRequest);
    made.id = std::move(*request.request);
    must(made.id->accept(*made.qp), "accept");
    made.peer->wait_for<engine::Established>();
    expect_event(events, ConnectionEventType::kEstablished);
    return made;
  }
  // One whose peer asks for more than its socket takes, and reads nothing.
  Connection greedy(const Buffer& source) {
    auto made = connection();
    must_ask(*made.peer, source, static_cast<std::uint32_t>(source.octets.size()));
    wait_until([&] { return made.peer->waiting_octets() > 1 << 16; }, "the response");
    return made;
  }

  EventChannel events = must(EventChannel::create(), "EventChannel");
  ConnectionId listener = must(ConnectionId::create(events), "ConnectionId");
  End end;
};

constexpr std::size_t kMuch = std::size_t{1} << 26;

// The application gets rid of such a peer in the time of a close, not of its work.
TEST(LeftBehind, AResponseThatNobodyReadsGoesWithinTheCloseTimeout) {
  Server server({.timeouts = {.finish = 600s, .close = 50ms}});
  Buffer source(server.end, kMuch);
  for (const bool disconnects : {false, true}) {
    const std::size_t before = open_sockets();
    auto one = server.greedy(source);
    EXPECT_EQ(open_sockets(), before + 2);
    if (disconnects) must(one.id->disconnect(), "disconnect");
    one.qp.reset();
    one.id.reset();
    wait_until([&] { return open_sockets() == before + 1; }, "the end of the stream");
    EXPECT_TRUE(one.peer->is_reset());  // the kernel keeps nothing for it either
  }
}

// Its window is closed, as that of a peer that has run out of receives while its program waits for the end: our FIN would
// follow what it does not take, and never be seen. (qperf's rc_rdma_write_bw.)
TEST(LeftBehind, WhoTakesNothingIsResetWithinTheCloseTimeout) {
  constexpr std::size_t kSize = std::size_t{1} << 20;
  Server server({.timeouts = {.close = 50ms}});
  Buffer source(server.end, kSize);
  auto one = server.connection();
  must_ask(*one.peer, source, 8);  // a responder's work waits for the initiator's first message
  wait_until([&] { return one.peer->waiting_octets() > 0; }, "the response");
  const auto much = source.sge();
  must(one.qp->post_send({.opcode = SendOpcode::kSend, .flags = SendFlags::kSignaled, .segments = {&much, 1}}),
       "post_send");
  EXPECT_EQ(server.end.next().status, WcStatus::kSuccess);  // the kernel has it
  must(one.id->disconnect(), "disconnect");
  expect_event(server.events, ConnectionEventType::kDisconnected);
  EXPECT_TRUE(one.peer->is_reset());
}

// The peer reads on, but its Read is for memory that is the application's again: a Terminate says so.
TEST(LeftBehind, WhoWaitsForAResponseIsTold) {
  Server server({.timeouts = {.close = 60s}});
  Buffer source(server.end, kMuch);
  auto one = server.greedy(source);
  one.qp.reset();
  one.peer->memory.add(1, kMuch);
  const auto told = one.peer->wait_for<engine::TerminateReceived>();
  EXPECT_EQ(told.report.layer, engine::Layer::kRdmap);
  EXPECT_EQ(told.report.type, 0);
}

// Else those that have closed would take the places of those that still do.
TEST(LeftBehind, WhoHasClosedIsCountedNoMore) {
  Server server({.timeouts = {.close = 600s}});
  const auto runtime = must(detail::Runtime::acquire(), "runtime");
  auto one = server.connection();
  one.qp.reset();
  EXPECT_EQ(runtime->orphans().size(), 1U);
  one.peer->close();
  wait_until([&] { return runtime->orphans().size() == 0; }, "the end of the stream");
}

// Peers that never close: as many are waited for as the bound says, and then the oldest goes, as if its time were over.
TEST(LeftBehind, StreamsAreFew) {
  Server server({.timeouts = {.close = 600s}});
  std::vector<std::unique_ptr<HandPeer>> peers;
  const std::size_t before = open_sockets();
  for (std::size_t i = 0; i < detail::Orphans::kMost + 3; ++i) {
    auto one = server.connection();
    one.qp.reset();
    if (i == 0) one.id.reset();
    peers.push_back(std::move(one.peer));
    const std::size_t waited_for = std::min(i + 1, detail::Orphans::kMost);
    ASSERT_EQ(open_sockets(), before + peers.size() + waited_for);
  }
}

}  // namespace
}  // namespace weft::verbs::test
