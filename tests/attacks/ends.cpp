// SPDX-License-Identifier: Apache-2.0
// The honest ends of tests/attacks/attacks.py: a server that echoes what it is sent, and clients that measure it.
//
//   ends serve BACKLOG [DROP_AFTER_MS]   prints its port, and serves; drops each connection DROP_AFTER_MS after accept
//   ends connect PORT COUNT PAUSE_MS     sets up COUNT connections one after the other; milliseconds, or "failed", each
//   ends ping PORT SECONDS               sets up one and sends on it; milliseconds of each round trip, set-up first
#include <chrono>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <map>
#include <memory>
#include <stdexcept>
#include <string>
#include <string_view>
#include <thread>
#include <type_traits>
#include <vector>

#include "verbs/verbs.hpp"

namespace weft::attacks {
namespace {

using namespace verbs;
using namespace std::chrono_literals;
using Clock = std::chrono::steady_clock;

constexpr std::size_t kMessage = 8;
constexpr std::size_t kExposed = 32U << 20U;  // for peers that ask for Reads
constexpr std::uint32_t kReceives = 8;

template <typename T>
T must(Result<T> result, const char* what) {
  if (!result) throw std::runtime_error(std::string(what) + ": " + result.error().message());
  if constexpr (!std::is_void_v<T>) return std::move(*result);
}

struct Host {
  Device device = must(Device::open("lo"), "device");
  ProtectionDomain domain = must(device.allocate_protection_domain(), "domain");
  CompletionQueue cq = must(device.create_completion_queue({.capacity = 1U << 16U}), "queue");
  std::vector<std::byte> memory = std::vector<std::byte>(kExposed);
  MemoryRegion region = must(domain.register_memory(memory.data(), memory.size(), kAllAccess), "region");

  QueuePair queue_pair() {
    auto made = must(domain.create_queue_pair({.send_cq = &cq, .receive_cq = &cq}), "queue pair");
    must(made.modify(QpState::kInit), "INIT");
    for (std::uint32_t i = 0; i < kReceives; ++i) receive(made);
    return made;
  }
  void receive(QueuePair& pair) {
    const Sge where = region.sge(0, kMessage);
    must(pair.post_receive({.segments = {&where, 1}}), "receive");
  }
  void send(QueuePair& pair) {
    const Sge what = region.sge(0, kMessage);
    static_cast<void>(pair.post_send({.opcode = SendOpcode::kSend, .segments = {&what, 1}}));
  }
};

// --- The server

struct Guest {
  QueuePair pair;
  ConnectionId id;
  Clock::time_point since = Clock::now();
};

class Server {
 public:
  Server(int backlog, std::chrono::milliseconds drop_after) : drop_after_(drop_after) {
    must(listener_.bind_address({Address::loopback(transport::Family::kIpv4), 0}), "bind");
    must(listener_.listen(backlog), "listen");
    std::printf("%d\n", listener_.local_address().port);
    std::fflush(stdout);
  }
  [[noreturn]] void run() {
    for (;;) {
      if (auto event = events_.get_event(1ms)) on(std::move(*event));
      echo();
      if (drop_after_ > 0ms) drop_old();
    }
  }

 private:
  void on(ConnectionEvent event) {
    if (event.type == ConnectionEventType::kConnectRequest) return take(std::move(event.request));
    if (event.type == ConnectionEventType::kEstablished) return;
    for (auto at = guests_.begin(); at != guests_.end(); ++at) {
      if (at->second->id.number() == event.id) return static_cast<void>(guests_.erase(at));
    }
  }
  void take(std::unique_ptr<ConnectionId> request) {
    auto pair = host_.queue_pair();
    const std::uint32_t key = host_.region.rkey();
    const std::uint64_t address = host_.region.iova();
    std::vector<std::byte> told(sizeof key + sizeof address);
    std::memcpy(told.data(), &key, sizeof key);
    std::memcpy(told.data() + sizeof key, &address, sizeof address);
    const bool accepted = request->accept(pair, {.private_data = told}).has_value();
    if (!accepted) return;
    const auto number = pair.number();
    guests_.emplace(number, std::make_unique<Guest>(std::move(pair), std::move(*request)));
  }
  void echo() {
    WorkCompletion done[64];
    const std::size_t got = must(host_.cq.poll(done), "poll");
    for (std::size_t i = 0; i < got; ++i) {
      const auto guest = guests_.find(done[i].qp_num);
      const bool came = done[i].status == WcStatus::kSuccess && done[i].opcode == WcOpcode::kReceive;
      if (guest == guests_.end() || !came) continue;
      host_.receive(guest->second->pair);
      host_.send(guest->second->pair);
    }
  }
  void drop_old() {
    for (auto at = guests_.begin(); at != guests_.end();) {
      auto& guest = *at->second;
      if (Clock::now() - guest.since < drop_after_) {
        ++at;
        continue;
      }
      static_cast<void>(guest.id.disconnect());
      at = guests_.erase(at);
    }
  }

  const std::chrono::milliseconds drop_after_;
  Host host_;
  std::map<std::uint32_t, std::unique_ptr<Guest>> guests_;
  EventChannel events_ = must(EventChannel::create(), "channel");
  ConnectionId listener_ = must(ConnectionId::create(events_), "identifier");
};

// --- Clients

double since(Clock::time_point begin) {
  return std::chrono::duration<double, std::milli>(Clock::now() - begin).count();
}

struct Client {
  QueuePair pair;
  EventChannel events = must(EventChannel::create(), "channel");
  ConnectionId id = must(ConnectionId::create(events), "identifier");

  bool connect(std::uint16_t port) {
    must(id.resolve_address({Address::loopback(transport::Family::kIpv4), port}), "resolve");
    must(events.get_event(), "event");
    must(id.resolve_route(), "route");
    must(events.get_event(), "event");
    must(id.connect(pair), "connect");
    const auto event = events.get_event(30s);
    return event && event->type == ConnectionEventType::kEstablished;
  }
};

void connect(std::uint16_t port, int count, std::chrono::milliseconds pause) {
  Host host;
  for (int i = 0; i < count; ++i) {
    const auto begin = Clock::now();
    Client client{.pair = host.queue_pair()};
    if (client.connect(port)) {
      std::printf("%.3f\n", since(begin));
    } else {
      std::printf("failed\n");
    }
    std::fflush(stdout);
    std::this_thread::sleep_for(pause);
  }
}

void ping(std::uint16_t port, std::chrono::seconds time) {
  Host host;
  const auto begin = Clock::now();
  Client client{.pair = host.queue_pair()};
  if (!client.connect(port)) throw std::runtime_error("no connection");
  std::printf("%.3f\n", since(begin));
  while (Clock::now() - begin < time) {
    const auto sent = Clock::now();
    host.send(client.pair);
    for (bool came = false; !came;) {
      WorkCompletion done[8];
      const std::size_t got = must(host.cq.poll(done), "poll");
      for (std::size_t i = 0; i < got; ++i) {
        if (done[i].status != WcStatus::kSuccess) throw std::runtime_error("the connection ended");
        came = came || done[i].opcode == WcOpcode::kReceive;
      }
      if (Clock::now() - sent > 30s) throw std::runtime_error("no answer");
    }
    std::printf("%.4f\n", since(sent));
    host.receive(client.pair);
    std::this_thread::sleep_for(1ms);
  }
}

int run(const std::vector<std::string>& words) {
  const auto number = [&](std::size_t at) { return at < words.size() ? std::atoi(words[at].c_str()) : 0; };
  const std::string_view what = words.size() < 2 ? std::string_view{} : words[1];
  if (what == "serve") Server(number(2), std::chrono::milliseconds(number(3))).run();
  if (what == "connect")
    return connect(static_cast<std::uint16_t>(number(2)), number(3), std::chrono::milliseconds(number(4))), 0;
  if (what == "ping") return ping(static_cast<std::uint16_t>(number(2)), std::chrono::seconds(number(3))), 0;
  std::fprintf(stderr, "serve BACKLOG [DROP_AFTER_MS] | connect PORT COUNT PAUSE_MS | ping PORT SECONDS\n");
  return 2;
}

}  // namespace
}  // namespace weft::attacks

int main(int argc, char** argv) {
  try {
    return weft::attacks::run({argv, argv + argc});
  } catch (const std::exception& error) {
    std::fprintf(stderr, "%s\n", error.what());
    return 1;
  }
}
