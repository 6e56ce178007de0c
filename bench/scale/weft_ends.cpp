// SPDX-License-Identifier: Apache-2.0
#include "bench/scale/weft_ends.hpp"

#include <poll.h>

#include <algorithm>

namespace weft::scale {

using namespace verbs;

namespace {

template <typename T>
T must(Result<T> result, std::string_view doing) {
  if (!result) give_up(std::string(doing) + ": " + result.error().message());
  if constexpr (!std::is_void_v<T>) return std::move(*result);
}

Endpoint loopback(unsigned host, std::uint16_t port) {
  return must(lookup("127.0.0." + std::to_string(host), port), "address");
}

constexpr unsigned kSources = 8;  // client addresses, so that ports do not run short
constexpr std::uint32_t kCompletions = 1U << 18;
constexpr std::chrono::milliseconds kBetweenLooks{20};

// Where the server's memory lies, as private data of its answers; both ends run on one machine.
struct Invitation {
  std::uint64_t address;
  std::uint32_t key;
};

}  // namespace

WeftEnd::WeftEnd()
    : device_(must(Device::open("lo"), "device")),
      domain_(must(device_.allocate_protection_domain(), "protection domain")),
      completions_(must(device_.create_completion_queue({.capacity = kCompletions}), "completion queue")),
      events_(must(EventChannel::create(), "event channel")),
      octets_(kWrite),
      region_(must(domain_.register_memory(octets_.data(), octets_.size(), Access::kLocalWrite | Access::kRemoteWrite),
                   "memory")) {}

std::unique_ptr<QueuePair> WeftEnd::make_queue_pair() {
  auto made = std::make_unique<QueuePair>(must(
      domain_.create_queue_pair(
          {.send_cq = &completions_, .receive_cq = &completions_, .max_send_wr = kDepth, .max_receive_wr = kDepth}),
      "queue pair"));
  must(made->modify(QpState::kInit), "queue pair");
  for (std::uint32_t i = 0; i < kDepth; ++i) post_receive(*made);
  return made;
}

void WeftEnd::post_receive(QueuePair& queue_pair) {
  const Sge into = region_.sge(0, kMessage);
  must(queue_pair.post_receive({.segments = {&into, 1}}), "receive");
}

void WeftEnd::post_message(QueuePair& queue_pair) {
  const Sge from = region_.sge(0, kMessage);
  must(queue_pair.post_send({.opcode = SendOpcode::kSend, .flags = SendFlags::kSignaled, .segments = {&from, 1}}),
       "send");
}

template <typename Each>
void WeftEnd::take_messages(std::size_t count, Each each) {
  std::array<WorkCompletion, 64> done;
  while (count != 0) {
    const std::size_t found = must(completions_.poll(done), "poll");
    for (const auto& completion : std::span(done).first(found)) {
      if (completion.status != WcStatus::kSuccess) give_up(to_string(completion.status));
      if (completion.opcode != WcOpcode::kReceive) continue;
      each(completion.qp_num);
      --count;
    }
  }
}

// With a line, a thread looks there when no event comes for a while.
std::optional<ConnectionEvent> WeftEnd::next_event(const Line* line) {
  for (;;) {
    auto event = line == nullptr ? events_.get_event() : events_.get_event(kBetweenLooks);
    if (event) return std::move(*event);
    if (event.error().code != Errc::kTimedOut) give_up(event.error().message());
    pollfd told{.fd = line->descriptor(), .events = POLLIN, .revents = 0};
    if (poll(&told, 1, 0) > 0) return std::nullopt;
  }
}

// --- Server

WeftServer::WeftServer(Figures& figures) : listener_(must(ConnectionId::create(events_), "listener")) {
  must(listener_.set_policy({.startup = {.same_host = SameHost::kOff}}), "policy");  // beside raw TCP
  must(listener_.bind_address(loopback(1, 0)), "bind");
  must(listener_.listen(1024), "listen");
  figures.port = listener_.local_address().port;
}

void WeftServer::serve(std::size_t until, const Line& line) {
  while (until == 0 || established_ < until) {
    auto event = next_event(&line);
    if (!event) return line.hear();
    on(std::move(*event));
  }
}

void WeftServer::on(ConnectionEvent event) {
  if (event.type == ConnectionEventType::kConnectRequest) {
    Connection made{std::move(*event.request), make_queue_pair()};
    const Invitation invitation{region_.iova(), region_.rkey()};
    must(made.id.accept(*made.queue_pair, {.private_data = std::as_bytes(std::span(&invitation, 1))}), "accept");
    connections_.emplace(made.id.number(), std::move(made));
  } else if (event.type == ConnectionEventType::kEstablished) {
    ++established_;
  } else if (event.type == ConnectionEventType::kDisconnected) {
    connections_.erase(event.id);
  } else {
    give_up(event.error ? event.error->message() : std::string(to_string(event.type)));
  }
}

void WeftServer::answer_all() {
  std::unordered_map<std::uint32_t, QueuePair*> by_number;
  for (auto& [id, connection] : connections_) {
    by_number.emplace(connection.queue_pair->number(), connection.queue_pair.get());
  }
  take_messages(connections_.size(), [&](std::uint32_t number) {
    post_message(*by_number.at(number));
    post_receive(*by_number.at(number));
  });
}

// --- Client

WeftClient::WeftClient(const Figures& figures) : server_(loopback(1, figures.port)) {}

void WeftClient::connect(std::size_t count, std::size_t in_flight, bool keep) {
  std::size_t started = 0;
  for (std::size_t finished = 0; finished < count;) {
    while (started < count && started - finished < in_flight) begin(), ++started;
    if (on(std::move(*next_event()), keep)) ++finished;
  }
}

void WeftClient::begin() {
  auto id = must(ConnectionId::create(events_), "identifier");
  must(id.resolve_address(server_, loopback(1 + begun_++ % kSources, 0)), "resolve");
  const auto number = id.number();
  connections_.emplace(number, Connection{std::move(id)});
}

bool WeftClient::on(ConnectionEvent event, bool keep) {
  auto& connection = connections_.at(event.id);
  if (event.type == ConnectionEventType::kAddressResolved) {
    must(connection.id.resolve_route(), "route");
  } else if (event.type == ConnectionEventType::kRouteResolved) {
    connection.queue_pair = make_queue_pair();
    must(connection.id.connect(*connection.queue_pair), "connect");
  } else if (event.type == ConnectionEventType::kEstablished) {
    Invitation invitation{};
    if (event.private_data.size() < sizeof invitation) give_up("no invitation came");
    std::memcpy(&invitation, event.private_data.data(), sizeof invitation);
    remote_address_ = invitation.address;
    remote_key_ = invitation.key;
    if (keep) return true;
    must(connection.id.disconnect(), "disconnect");
  } else if (event.type == ConnectionEventType::kDisconnected) {
    connections_.erase(event.id);
    return true;
  } else {
    give_up(event.error ? event.error->message() : std::string(to_string(event.type)));
  }
  return false;
}

void WeftClient::exchange_all() {
  std::unordered_map<std::uint32_t, QueuePair*> by_number;
  for (auto& [id, connection] : connections_) {
    by_number.emplace(connection.queue_pair->number(), connection.queue_pair.get());
    post_message(*connection.queue_pair);
  }
  take_messages(connections_.size(), [&](std::uint32_t number) { post_receive(*by_number.at(number)); });
}

double WeftClient::write_for(std::size_t active, double seconds) {
  const Sge from = region_.sge(0, kWrite);
  const SendRequest work{.opcode = SendOpcode::kRdmaWrite,
                         .flags = SendFlags::kSignaled,
                         .segments = {&from, 1},
                         .remote_address = remote_address_,
                         .rkey = remote_key_};
  std::unordered_map<std::uint32_t, QueuePair*> by_number;
  for (auto& [id, connection] : connections_) {
    if (by_number.size() == active) break;
    by_number.emplace(connection.queue_pair->number(), connection.queue_pair.get());
  }
  for (auto& [number, queue_pair] : by_number) {
    for (int i = 0; i < kWritesUnderWay; ++i) must(queue_pair->post_send(work), "write");
  }
  std::array<WorkCompletion, 64> done;
  double octets = 0, begun = 0;
  const double warm = now() + seconds / 2;  // until the sockets' buffers are as full as they get
  for (double time = now(); time < warm + seconds; time = now()) {
    if (begun == 0 && time > warm) begun = time, octets = 0;
    const std::size_t found = must(completions_.poll(done), "poll");
    for (const auto& completion : std::span(done).first(found)) {
      if (completion.status != WcStatus::kSuccess) give_up(to_string(completion.status));
      octets += static_cast<double>(kWrite);
      must(by_number.at(completion.qp_num)->post_send(work), "write");
    }
  }
  return octets / (now() - begun);
}

}  // namespace weft::scale
