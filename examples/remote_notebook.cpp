// SPDX-License-Identifier: Apache-2.0
// A notebook in the memory of one process, which another process writes and reads.
//
//     remote_notebook serve [PORT]            opens a notebook, prints its port, waits for one visitor,
//                                             prints what was written
//     remote_notebook visit ADDR PORT TEXT    writes TEXT to the notebook and reads it back
//
// The device performs the visitor's writes and reads (one-sided operations): the server's program is not involved. An
// empty Send at the end notifies the server that the notebook was written.
#include <array>
#include <chrono>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <string>
#include <string_view>

#include <weft/verbs/verbs.hpp>

using namespace weft::verbs;

namespace {

constexpr std::size_t kPageSize = 4096;

// Describes the notebook to a visitor: its address, key and length. Sent as private data of the connection, in host
// byte order, because this example runs on one machine.
struct Invitation {
  std::uint64_t address;
  std::uint32_t rkey;
  std::uint32_t length;
};

[[noreturn]] void give_up(std::string_view doing, std::string_view why) {
  std::fprintf(stderr, "remote_notebook: %.*s: %.*s\n", int(doing.size()), doing.data(), int(why.size()), why.data());
  std::exit(1);
}

// Returns the value of a result, or exits with the message of the error.
template <typename T>
T must(Result<T> result, std::string_view doing) {
  if (!result) give_up(doing, result.error().message());
  if constexpr (!std::is_void_v<T>) return std::move(*result);
}

// Owns what each end needs for one connection: a protection domain, a completion queue and a queue pair.
struct Desk {
  ProtectionDomain domain;
  CompletionQueue completions;
  QueuePair queue_pair;

  explicit Desk(Device device)
      : domain(must(device.allocate_protection_domain(), "protection domain")),
        completions(must(device.create_completion_queue({}), "completion queue")),
        queue_pair(
            must(domain.create_queue_pair({.send_cq = &completions, .receive_cq = &completions}), "queue pair")) {
    // The queue pair now accepts receives.
    must(queue_pair.modify(QpState::kInit), "initialise the queue pair");
  }

  // Sleeps until a work request completes, and returns the completion. A program that waits for several queues creates
  // them with a channel, whose descriptor it can poll.
  WorkCompletion wait(std::string_view what) {
    std::array<WorkCompletion, 1> done;
    must(completions.wait(done, std::chrono::seconds(10)), what);
    if (done[0].status != WcStatus::kSuccess) give_up(what, to_string(done[0].status));
    return done[0];
  }
};

// Returns the next event of the connection manager, which must be of the given type.
ConnectionEvent expect(EventChannel& events, ConnectionEventType wanted) {
  ConnectionEvent event = must(events.get_event(std::chrono::seconds(10)), to_string(wanted));
  if (event.type != wanted) give_up(to_string(wanted), event.error ? event.error->message() : to_string(event.type));
  return event;
}

int serve(std::uint16_t port) {
  EventChannel events = must(EventChannel::create(), "event channel");
  ConnectionId listener = must(ConnectionId::create(events), "listener");
  must(listener.bind_address(must(lookup("127.0.0.1", port), "address")), "bind");
  must(listener.listen(), "listen");
  std::printf("listening on port %u\n", unsigned{listener.local_address().port});
  std::fflush(stdout);

  const auto request = must(events.get_event(), "connection request").request;
  Desk desk(must(request->device(), "device"));

  std::array<char, kPageSize> page{};
  const MemoryRegion notebook =
      must(desk.domain.register_memory(page.data(), page.size(),
                                       Access::kLocalWrite | Access::kRemoteWrite | Access::kRemoteRead),
           "register the notebook");
  // The final Send has no octets, so its receive needs no memory.
  must(desk.queue_pair.post_receive({.wr_id = 1, .segments = {}}), "post a receive");

  const Invitation invitation{notebook.iova(), notebook.rkey(), std::uint32_t(notebook.length())};
  must(request->accept(desk.queue_pair, {.private_data = std::as_bytes(std::span(&invitation, 1))}), "accept");
  expect(events, ConnectionEventType::kEstablished);

  desk.wait("the visitor's Send");
  std::printf("the notebook says: %s\n", page.data());
  return 0;
}

int visit(const char* address, std::uint16_t port, std::string_view text) {
  EventChannel events = must(EventChannel::create(), "event channel");
  ConnectionId id = must(ConnectionId::create(events), "connection");
  must(id.resolve_address(must(lookup(address, port), "look up the address")), "resolve");
  expect(events, ConnectionEventType::kAddressResolved);
  must(id.resolve_route(), "route");
  expect(events, ConnectionEventType::kRouteResolved);

  Desk desk(must(id.device(), "device"));
  must(id.connect(desk.queue_pair), "connect");
  const ConnectionEvent established = expect(events, ConnectionEventType::kEstablished);
  Invitation invitation{};
  if (established.private_data.size() < sizeof invitation) give_up("connect", "no invitation came back");
  std::memcpy(&invitation, established.private_data.data(), sizeof invitation);
  if (text.size() + 1 > invitation.length) give_up("TEXT", "longer than the notebook");

  // One buffer to write from, and one to read into.
  std::string written(text);
  std::string read(text.size() + 1, '?');
  const MemoryRegion source =
      must(desk.domain.register_memory(written.c_str(), written.size() + 1), "register the text");
  const MemoryRegion sink =
      must(desk.domain.register_memory(read.data(), read.size(), Access::kLocalWrite), "register the copy");

  const std::array from{source.sge()};
  const std::array into{sink.sge()};
  must(desk.queue_pair.post_send({.wr_id = 1,
                                  .opcode = SendOpcode::kRdmaWrite,
                                  .flags = SendFlags::kSignaled,
                                  .segments = from,
                                  .remote_address = invitation.address,
                                  .rkey = invitation.rkey}),
       "post the Write");
  desk.wait("RDMA Write");
  // A Read that follows a Write returns the written data (RFC 5040 section 5.5).
  must(desk.queue_pair.post_send({.wr_id = 2,
                                  .opcode = SendOpcode::kRdmaRead,
                                  .flags = SendFlags::kSignaled,
                                  .segments = into,
                                  .remote_address = invitation.address,
                                  .rkey = invitation.rkey}),
       "post the Read");
  desk.wait("RDMA Read");
  if (std::memcmp(read.data(), written.c_str(), read.size()) != 0) give_up("read back", "not what was written");

  must(desk.queue_pair.post_send({.wr_id = 3, .opcode = SendOpcode::kSend, .flags = SendFlags::kSignaled}),
       "post the Send");
  desk.wait("Send");
  must(id.disconnect(), "disconnect");
  expect(events, ConnectionEventType::kDisconnected);
  std::printf("written and read back: %s\n", read.c_str());
  return 0;
}

}  // namespace

int main(int argc, char** argv) {
  const std::string_view mode = argc > 1 ? argv[1] : "";
  const auto port_number = [](const char* text) { return std::uint16_t(std::strtoul(text, nullptr, 10)); };
  if (mode == "serve" && argc <= 3) return serve(argc == 3 ? port_number(argv[2]) : std::uint16_t{0});
  if (mode == "visit" && argc == 5) return visit(argv[2], port_number(argv[3]), argv[4]);
  std::fprintf(stderr, "usage: %s serve [PORT] | visit ADDR PORT TEXT\n", argv[0]);
  return 2;
}
