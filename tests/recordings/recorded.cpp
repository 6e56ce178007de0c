// SPDX-License-Identifier: Apache-2.0
#include "recorded.hpp"

#include <poll.h>

#include <filesystem>
#include <stdexcept>

#include "tests/raw_tcp.hpp"

namespace weft::recordings {

using namespace verbs;
using verbs::test::kPatience;
using verbs::test::wait_until;

namespace {

constexpr std::uint32_t kMemory = 16384;
constexpr std::uintmax_t kFileHeader = 24;  // of a pcap file: what is longer has packets

// Without private data, revision 1.
constexpr std::string_view kRequest{"MPA ID Req Frame\x40\x01\x00\x00", 20};

void await_readable(int descriptor) {
  pollfd waiting{.fd = descriptor, .events = POLLIN, .revents = 0};
  const auto patience = std::chrono::duration_cast<std::chrono::milliseconds>(kPatience);
  if (::poll(&waiting, 1, static_cast<int>(patience.count())) != 1) throw std::runtime_error("no connection request");
}

ConnectionId listen(EventChannel& events, const Terms& terms) {
  auto id = must(ConnectionId::create(events), "ConnectionId");
  must(id.bind_address(verbs::test::loopback(terms.address)), "bind_address");
  must(id.set_policy(terms.server), "set_policy");
  must(id.listen(1), "listen");
  return id;
}

}  // namespace

// --- Side

Side::Side() : memory(end, kMemory), inbox(end, kMemory) { memory.fill(1); }

void Side::post_receive() {
  const Sge sink = inbox.sge();
  must(end.qp->post_receive({.segments = {&sink, 1}}), "post_receive");
}

void Side::post(SendRequest request) { must(end.qp->post_send(request), "post_send"); }

void Side::run(SendRequest request) {
  request.flags = request.flags | SendFlags::kSignaled;
  post(request);
  const WorkCompletion done = end.next();
  if (done.status != WcStatus::kSuccess) throw std::runtime_error("failed: " + std::string(to_string(done.status)));
}

void Side::await_receive() {
  const WorkCompletion done = end.next();
  const bool receive = done.opcode == WcOpcode::kReceive || done.opcode == WcOpcode::kReceiveImmediate;
  if (done.status != WcStatus::kSuccess || !receive) throw std::runtime_error("no message was received");
}

SendRequest access(SendOpcode opcode, const Sge& local, const Buffer& target, std::uint64_t offset) {
  return {.opcode = opcode,
          .segments = {&local, 1},
          .remote_address = target.remote() + offset,
          .rkey = target.region.rkey()};
}

// --- Connecting

ConnectionEvent expect(EventChannel& events, ConnectionEventType type) {
  return verbs::test::expect_event(events, type);
}

ConnectionId caller(EventChannel& events, const Endpoint& server, const Policy& policy) {
  auto id = must(ConnectionId::create(events), "ConnectionId");
  must(id.set_policy(policy), "set_policy");
  must(id.resolve_address(server), "resolve_address");
  expect(events, ConnectionEventType::kAddressResolved);
  must(id.resolve_route(), "resolve_route");
  expect(events, ConnectionEventType::kRouteResolved);
  return id;
}

// Both ends live in this process, and each would write its view into the file. So a doorkeeper takes the listener's one
// place: the server's end of the next connection begins only when that goes, and by then nothing new is recorded.
void record_initiator(const std::string& path, const Endpoint& server, EventChannel& server_events,
                      const std::function<void()>& connect) {
  const weft::test::RawSocket doorkeeper(server, kRequest);
  await_readable(server_events.descriptor());
  must(set_capture_file(path), "set_capture_file");
  connect();
  wait_until([&] { return std::filesystem::file_size(path) > kFileHeader; }, "the client's TCP connection");
  must(set_capture_file(""), "set_capture_file");
  expect(server_events, ConnectionEventType::kConnectRequest);  // dropped, and so rejected
}

Recorded::Recorded(const std::string& path, const Terms& terms)
    : server_events(must(EventChannel::create(), "EventChannel")),
      client_events(must(EventChannel::create(), "EventChannel")),
      listener(listen(server_events, terms)) {
  client.end.id = caller(client_events, listener.local_address(), terms.client);
  record_initiator(path, listener.local_address(), server_events, [&] {
    must(client.end.id->connect(
             *client.end.qp,
             {.private_data = terms.request_data, .ird = terms.client_depths.ird, .ord = terms.client_depths.ord}),
         "connect");
  });
  auto request = expect(server_events, ConnectionEventType::kConnectRequest);
  if (request.private_data != terms.request_data) throw std::runtime_error("other private data than was sent");
  server.end.id = std::move(*request.request);
  const bool rtr_takes_receive =
      terms.client.startup.peer_to_peer && terms.server.startup.rtr == RtrTypes{.send = true};
  if (rtr_takes_receive) server.post_receive();
  must(server.end.id->accept(
           *server.end.qp,
           {.private_data = terms.reply_data, .ird = terms.server_depths.ird, .ord = terms.server_depths.ord}),
       "accept");
  const auto established = expect(client_events, ConnectionEventType::kEstablished);
  if (established.private_data != terms.reply_data) throw std::runtime_error("other private data than was sent");
  expect(server_events, ConnectionEventType::kEstablished);
  if (rtr_takes_receive) server.await_receive();
}

void record_rejection(const std::string& path, const Terms& terms) {
  auto server_events = must(EventChannel::create(), "EventChannel");
  auto client_events = must(EventChannel::create(), "EventChannel");
  const auto listener = listen(server_events, terms);
  Side client;
  client.end.id = caller(client_events, listener.local_address(), terms.client);
  record_initiator(path, listener.local_address(), server_events, [&] {
    must(client.end.id->connect(*client.end.qp, {.private_data = terms.request_data}), "connect");
  });
  const auto request = expect(server_events, ConnectionEventType::kConnectRequest);
  must(request.request->reject(terms.reply_data), "reject");
  const auto rejected = expect(client_events, ConnectionEventType::kRejected);
  if (rejected.private_data != terms.reply_data) throw std::runtime_error("other private data than was sent");
}

void record_failed_start(const std::string& path, const Terms& terms) {
  auto server_events = must(EventChannel::create(), "EventChannel");
  auto client_events = must(EventChannel::create(), "EventChannel");
  const auto listener = listen(server_events, terms);
  Side client, server;
  client.end.id = caller(client_events, listener.local_address(), terms.client);
  record_initiator(path, listener.local_address(), server_events,
                   [&] { must(client.end.id->connect(*client.end.qp), "connect"); });
  auto request = expect(server_events, ConnectionEventType::kConnectRequest);
  server.end.id = std::move(*request.request);
  must(server.end.id->accept(*server.end.qp), "accept");
  expect(client_events, ConnectionEventType::kConnectError);
  expect(server_events, ConnectionEventType::kConnectError);
}

// --- Operations

void Recorded::send(Side& from, std::uint32_t length, SendFlags flags) {
  const Sge source = from.memory.sge(0, length);
  Side& to = peer_of(from);
  to.post_receive();
  from.run({.opcode = SendOpcode::kSend, .flags = flags, .segments = {&source, 1}});
  to.await_receive();
}

void Recorded::send_invalidating(Side& from, std::uint32_t length, std::uint32_t rkey, SendFlags flags) {
  const Sge source = from.memory.sge(0, length);
  Side& to = peer_of(from);
  to.post_receive();
  from.run(
      {.opcode = SendOpcode::kSendWithInvalidate, .flags = flags, .segments = {&source, 1}, .invalidate_rkey = rkey});
  to.await_receive();
}

void Recorded::write(Side& from, std::uint32_t length) {
  from.run(access(SendOpcode::kRdmaWrite, from.memory.sge(0, length), peer_of(from).memory));
}

void Recorded::read(Side& from, std::uint32_t length) {
  from.run(access(SendOpcode::kRdmaRead, from.memory.sge(0, length), peer_of(from).memory));
}

namespace {

constexpr ImmediateData kImmediate{std::byte{0xa0}, std::byte{0xa1}, std::byte{0xa2}, std::byte{0xa3},
                                   std::byte{0xa4}, std::byte{0xa5}, std::byte{0xa6}, std::byte{0xa7}};

}  // namespace

void Recorded::immediate(Side& from, SendFlags flags) {
  Side& to = peer_of(from);
  to.post_receive();
  from.run({.opcode = SendOpcode::kImmediate, .flags = flags, .immediate = kImmediate});
  to.await_receive();
}

void Recorded::write_with_immediate(Side& from, std::uint32_t length) {
  const Sge source = from.memory.sge(0, length);
  Side& to = peer_of(from);
  to.post_receive();
  SendRequest request = access(SendOpcode::kRdmaWriteWithImmediate, source, to.memory);
  request.immediate = kImmediate;
  from.run(request);
  to.await_receive();
}

// --- Ending

void Recorded::close_by(Side& side) {
  must(side.end.id->disconnect(), "disconnect");
  await_end();
}

void Recorded::await_end() {
  expect(client_events, ConnectionEventType::kDisconnected);
  expect(server_events, ConnectionEventType::kDisconnected);
}

}  // namespace weft::recordings
