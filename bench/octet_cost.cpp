// SPDX-License-Identifier: Apache-2.0
// Processor time of an octet at each end of a transfer, and which threads spend it: TCP beside Writes and Reads, whose
// target's application sleeps (docs/why.md). Two processes over 127.0.0.1; the first moves a MiB at a time, the second
// is there.
//   weft_octet_cost_bench [RUNS]    runs of half a second for each line (5); the fastest one counts
#include <arpa/inet.h>
#include <netinet/in.h>
#include <sys/mman.h>
#include <sys/resource.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <unistd.h>

#include <array>
#include <chrono>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <string>
#include <vector>

#include "verbs/verbs.hpp"

namespace weft {
namespace {

using namespace verbs;

constexpr std::size_t kMessage = 1 << 20;
constexpr std::size_t kPlaces = 64;  // more than the cache has room for
constexpr std::size_t kDepth = 4;

[[noreturn]] void give_up(std::string_view doing, std::string_view why) {
  std::fprintf(stderr, "octet_cost: %s: %s\n", std::string(doing).c_str(), std::string(why).c_str());
  std::_Exit(1);
}
template <typename T>
T must(Result<T> result, std::string_view doing) {
  if (!result) give_up(doing, result.error().message());
  if constexpr (!std::is_void_v<T>) return std::move(*result);
}
void need(bool fine, std::string_view doing) {
  if (!fine) give_up(doing, std::strerror(errno));
}

struct Work {
  double process = 0;      // seconds of processor time
  double application = 0;  // of these, of the calling thread
  double asleep = 0;       // times that this thread went to sleep
  static Work now() {
    const auto seconds = [](const rusage& usage) {
      const auto of = [](const timeval& t) {
        return static_cast<double>(t.tv_sec) + static_cast<double>(t.tv_usec) * 1e-6;
      };
      return of(usage.ru_utime) + of(usage.ru_stime);
    };
    rusage all{};
    rusage own{};
    getrusage(RUSAGE_SELF, &all), getrusage(RUSAGE_THREAD, &own);
    return {seconds(all), seconds(own), static_cast<double>(own.ru_nvcsw)};
  }
  Work operator-(const Work& before) const {
    return {process - before.process, application - before.application, asleep - before.asleep};
  }
};

struct Outcome {  // in memory that both processes share
  std::uint16_t port{};
  double octets{};
  double seconds{};
  Work first{};
  Work second{};
  [[nodiscard]] double rate() const { return octets / seconds; }
};

// What the two tell each other while they measure: the second one sleeps in hear().
struct Line {
  int descriptor;
  void tell() const { need(write(descriptor, "x", 1) == 1, "write"); }
  void hear() const {
    char octet = 0;
    if (read(descriptor, &octet, 1) != 1) std::_Exit(1);
  }
};

// Moves octets by `message()`, which returns how many, for the time that was asked for.
template <typename Message>
void measure(Outcome& outcome, double seconds, const Line& line, Message message) {
  using Clock = std::chrono::steady_clock;
  line.tell();  // the second one begins to count
  line.hear();
  const Work before = Work::now();
  const auto begin = Clock::now();
  const auto passed = [&] { return std::chrono::duration<double>(Clock::now() - begin).count(); };
  while (passed() < seconds) outcome.octets += message();
  outcome.seconds = passed();
  outcome.first = Work::now() - before;
}

// --- TCP

int connected(const Line& line, Outcome& outcome, bool second) {
  sockaddr_in address{};
  address.sin_family = AF_INET;
  address.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
  auto* const generic = reinterpret_cast<sockaddr*>(&address);
  const int socket = ::socket(AF_INET, SOCK_STREAM, 0);
  if (second) {
    socklen_t size = sizeof address;
    need(bind(socket, generic, size) == 0 && listen(socket, 1) == 0 && getsockname(socket, generic, &size) == 0,
         "listen");
    outcome.port = ntohs(address.sin_port);
    line.tell();
    return accept(socket, nullptr, nullptr);
  }
  line.hear();
  address.sin_port = htons(outcome.port);
  need(connect(socket, generic, sizeof address) == 0, "connect");
  return socket;
}

void send_all(const Line& line, Outcome& outcome, double seconds) {
  const int socket = connected(line, outcome, false);
  const std::vector<char> octets(kMessage * kPlaces, 'x');
  std::size_t place = 0;
  measure(outcome, seconds, line, [&] {
    const ssize_t sent = send(socket, &octets[kMessage * (place++ % kPlaces)], kMessage, 0);
    need(sent > 0, "send");
    return static_cast<double>(sent);
  });
  close(socket);
}

// Where `copies`, what has been received is copied to its place, as it is when a library sorts messages.
void receive_all(const Line& line, Outcome& outcome, bool copies) {
  const int socket = connected(line, outcome, true);
  std::vector<char> octets(kMessage * kPlaces, 'y');
  std::vector<char> staging(256 * 1024);
  line.hear();
  const Work before = Work::now();
  line.tell();
  std::size_t at = 0;
  for (;;) {
    if (at + staging.size() > octets.size()) at = 0;
    const ssize_t got = recv(socket, copies ? staging.data() : &octets[at], staging.size(), 0);
    if (got <= 0) break;
    if (copies) std::memcpy(&octets[at], staging.data(), static_cast<std::size_t>(got));
    at += static_cast<std::size_t>(got);
  }
  outcome.second = Work::now() - before;
  line.hear();
}

// --- weft

struct End {
  EventChannel events = must(EventChannel::create(), "event channel");
  ConnectionId id = must(ConnectionId::create(events), "connection");
  std::vector<std::byte> octets = std::vector<std::byte>(kMessage * kPlaces, std::byte{'z'});

  ConnectionEvent expect(ConnectionEventType wanted) {
    ConnectionEvent event = must(events.get_event(), to_string(wanted));
    if (event.type != wanted) give_up(to_string(wanted), event.error ? event.error->message() : "another event");
    return event;
  }
};

struct Desk {
  ProtectionDomain domain;
  CompletionQueue completions;
  QueuePair queue_pair;
  explicit Desk(Device device)
      : domain(must(device.allocate_protection_domain(), "domain")),
        completions(must(device.create_completion_queue(), "completion queue")),
        queue_pair(
            must(domain.create_queue_pair({.send_cq = &completions, .receive_cq = &completions}), "queue pair")) {
    must(queue_pair.modify(QpState::kInit), "queue pair");
  }
};

struct Invitation {
  std::uint64_t address;
  std::uint64_t key;
};

void move_all(const Line& line, Outcome& outcome, double seconds, SendOpcode opcode, bool crc) {
  End end;
  Policy policy;
  policy.startup.crc = crc;
  policy.startup.same_host = SameHost::kOff;
  must(end.id.set_policy(policy), "policy");
  line.hear();
  must(end.id.resolve_address(must(lookup("127.0.0.1", outcome.port), "address")), "resolve");
  end.expect(ConnectionEventType::kAddressResolved);
  must(end.id.resolve_route(), "route");
  end.expect(ConnectionEventType::kRouteResolved);
  Desk desk(must(end.id.device(), "device"));
  must(end.id.connect(desk.queue_pair), "connect");
  const ConnectionEvent established = end.expect(ConnectionEventType::kEstablished);
  Invitation target{};
  std::memcpy(&target, established.private_data.data(), sizeof target);
  const MemoryRegion region =
      must(desk.domain.register_memory(end.octets.data(), end.octets.size(), Access::kLocalWrite), "memory");
  std::size_t place = 0;
  std::size_t under_way = 0;
  const auto completed = [&] {
    std::array<WorkCompletion, kDepth> done;
    const std::size_t count = must(desk.completions.wait(done), "wait");
    for (std::size_t i = 0; i < count; ++i)
      if (done[i].status != WcStatus::kSuccess) give_up("completion", to_string(done[i].status));
    under_way -= count;
    return count;
  };
  measure(outcome, seconds, line, [&] {
    for (; under_way < kDepth; ++under_way, ++place) {
      const std::uint64_t at = kMessage * (place % kPlaces);
      const std::array segments{region.sge(at, kMessage)};
      must(desk.queue_pair.post_send({.opcode = opcode,
                                      .flags = SendFlags::kSignaled,
                                      .segments = segments,
                                      .remote_address = target.address + at,
                                      .rkey = static_cast<std::uint32_t>(target.key)}),
           "post");
    }
    return static_cast<double>(completed() * kMessage);
  });
  while (under_way != 0) completed();
}

void be_there(const Line& line, Outcome& outcome, bool crc) {
  End end;
  Policy policy;
  policy.startup.crc = crc;
  policy.startup.same_host = SameHost::kOff;
  must(end.id.set_policy(policy), "policy");
  must(end.id.bind_address(must(lookup("127.0.0.1", 0), "address")), "bind");
  must(end.id.listen(), "listen");
  outcome.port = end.id.local_address().port;
  line.tell();
  const auto request = end.expect(ConnectionEventType::kConnectRequest).request;
  Desk desk(must(request->device(), "device"));
  const MemoryRegion region =
      must(desk.domain.register_memory(end.octets.data(), end.octets.size(),
                                       Access::kLocalWrite | Access::kRemoteWrite | Access::kRemoteRead),
           "memory");
  const Invitation invitation{region.iova(), region.rkey()};
  must(request->accept(desk.queue_pair, {.private_data = std::as_bytes(std::span(&invitation, 1))}), "accept");
  end.expect(ConnectionEventType::kEstablished);
  line.hear();
  const Work before = Work::now();
  line.tell();
  line.hear();  // asleep while the other end writes and reads
  outcome.second = Work::now() - before;
}

// --- Both

template <typename First, typename Second>
Outcome run(First first, Second second) {
  auto* const outcome =
      static_cast<Outcome*>(mmap(nullptr, sizeof(Outcome), PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0));
  new (outcome) Outcome();
  std::array<int, 2> ends{};
  need(socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0, ends.data()) == 0, "socketpair");
  for (int i = 0; i < 2; ++i) {
    const pid_t child = fork();
    need(child >= 0, "fork");
    if (child != 0) continue;
    close(ends[static_cast<std::size_t>(1 - i)]);
    const Line line{ends[static_cast<std::size_t>(i)]};
    if (i == 0) first(line, *outcome), line.tell();
    if (i == 1) second(line, *outcome);
    std::_Exit(0);
  }
  close(ends[0]), close(ends[1]);
  for (int i = 0; i < 2; ++i) {
    int status = 0;
    need(wait(&status) > 0 && status == 0, "a process");
  }
  return *outcome;
}

void tell(const std::string& name, const Outcome& outcome) {
  const double per_kib = 1e9 / (outcome.octets / 1024);
  std::printf(
      "%-24s %6.2f GB/s   first %4.0f ns a KiB   second %4.0f, of which its application's thread %4.0f (asleep %.0f "
      "times)\n",
      name.c_str(), outcome.rate() / 1e9, per_kib * outcome.first.process, per_kib * outcome.second.process,
      per_kib * outcome.second.application, outcome.second.asleep);
  std::fflush(stdout);
}

}  // namespace
}  // namespace weft

int main(int argc, char** argv) {
  using namespace weft;
  const int runs = argc > 1 ? std::atoi(argv[1]) : 5;
  constexpr double kSeconds = 0.5;
  const auto fastest = [&](const std::string& name, auto first, auto second) {
    Outcome best = run(first, second);
    for (int i = 1; i < runs; ++i) {
      const Outcome next = run(first, second);
      if (next.rate() > best.rate()) best = next;
    }
    tell(name, best);
  };
  for (const bool copies : {false, true}) {
    fastest(
        copies ? "TCP and a copy" : "TCP", [](const Line& line, Outcome& out) { send_all(line, out, kSeconds); },
        [=](const Line& line, Outcome& out) { receive_all(line, out, copies); });
  }
  for (const auto opcode : {SendOpcode::kRdmaWrite, SendOpcode::kRdmaRead}) {
    for (const bool crc : {true, false}) {
      fastest(
          std::string(opcode == SendOpcode::kRdmaRead ? "RDMA Read" : "RDMA Write") + (crc ? ", CRC" : ", no CRC"),
          [=](const Line& line, Outcome& out) { move_all(line, out, kSeconds, opcode, crc); },
          [=](const Line& line, Outcome& out) { be_there(line, out, crc); });
    }
  }
}
