// SPDX-License-Identifier: Apache-2.0
// io_uring beside epoll, and zero-copy sends beside copies: weft_uring_bench [--quick] [--only GROUP] [--repeats N]
// [JSON]
//
//   asleep    requests of 64 octets answered by a thread that sleeps: weft's progress thread, the target of a Read
//   spinning  the same by a thread that polls: weft's application in poll_cq
//   sqpoll    the same, and a thread of the kernel polls for what is submitted
//   many      the same on 16 and 256 connections at once
//   receive   a stream received
//   send      a stream sent, copied and not, over loopback and over a veth pair
//
// docs/decisions/0005-io-uring.md has the figures and what follows from them. Exit code 77: this kernel refuses
// io_uring, and only what does without was measured.
#include <algorithm>
#include <cstdlib>
#include <string_view>

#include "bench/uring/report.hpp"

namespace {

using namespace weft::uring;

constexpr int kSkipped = 77;
constexpr std::uint64_t kTransferUnit = 1024 * 1024;

constexpr unsigned kCooperative = IORING_SETUP_COOP_TASKRUN | IORING_SETUP_SINGLE_ISSUER;
constexpr unsigned kDeferred = IORING_SETUP_DEFER_TASKRUN | IORING_SETUP_SINGLE_ISSUER;

struct Settings {
  bool quick = false;
  int repeats = 11;
  std::string only{};
  std::string json{};
};

struct Variant {
  const char* name;
  RingOptions options;
};

template <typename Make>
void add_variants(Group& group, std::initializer_list<Variant> variants, Make make) {
  for (const Variant& one : variants) {
    group.contestants.push_back({one.name, make(one.options), refusal(one.options)});
  }
}

Task requests(const Settings& settings, const Network& network, std::size_t connections, Peer peer) {
  const std::uint64_t rounds = (settings.quick ? 20 : 2000) / connections + 1;
  return {.network = &network,
          .connections = connections,
          .warm = std::min<std::uint64_t>(rounds / 10 + 1, 50) * connections,
          .measured = rounds * connections,
          .peer = std::move(peer)};
}

Task stream(const Settings& settings, const Network& network, Peer peer) {
  const std::uint64_t octets = (settings.quick ? 4 : 128) * kTransferUnit;
  return {.network = &network, .warm = octets / 4, .measured = octets, .peer = std::move(peer)};
}

Group asleep(const Settings& settings, const Network& network) {
  Group group{.name = "asleep: 64 octets, one connection, both ends block",
              .task = requests(settings, network, 1, ask_blocking())};
  group.contestants = {{"epoll_wait, recv, sendmsg (weft)", answer_with_epoll()},
                       {"recv that blocks, sendmsg (one connection only)", answer_with_blocking_recv()}};
  add_variants(group,
               {{"io_uring: recv, sendmsg", {}},
                {"io_uring: multishot recv", {.multishot = true}},
                {"io_uring: multishot, registered", {.multishot = true, .fixed_files = true}},
                {"io_uring: recv, registered, DEFER_TASKRUN", {.setup = kDeferred, .fixed_files = true}},
                {"io_uring: multishot, registered, COOP_TASKRUN",
                 {.setup = kCooperative, .multishot = true, .fixed_files = true}},
                {"io_uring: multishot, registered, DEFER_TASKRUN",
                 {.setup = kDeferred, .multishot = true, .fixed_files = true}}},
               answer_with);
  return group;
}

Group spinning(const Settings& settings, const Network& network) {
  Group group{.name = "spinning: 64 octets, one connection, both ends poll",
              .task = requests(settings, network, 1, ask_spinning())};
  group.contestants = {{"recv(MSG_DONTWAIT), sendmsg (weft)", answer_with_spinning_recv()}};
  constexpr unsigned kTold = kCooperative | IORING_SETUP_TASKRUN_FLAG;
  add_variants(group,
               {{"io_uring: multishot, registered", {.multishot = true, .fixed_files = true, .spin = true}},
                {"io_uring: multishot, registered, COOP_TASKRUN",
                 {.setup = kTold, .multishot = true, .fixed_files = true, .spin = true}},
                {"io_uring: multishot, registered, DEFER_TASKRUN",
                 {.setup = kDeferred, .multishot = true, .fixed_files = true, .spin = true}}},
               answer_with);
  return group;
}

// A curiosity: the kernel's thread spins too, a third one, so that with two processors nobody gets far.
Group polled_by_kernel(const Settings& settings, const Network& network) {
  Group group{.name = "sqpoll: 64 octets, one connection, both ends and the kernel poll",
              .task = requests(settings, network, 1, ask_spinning())};
  group.task.measured = std::min<std::uint64_t>(group.task.measured, 50);
  group.contestants = {{"recv(MSG_DONTWAIT), sendmsg (weft)", answer_with_spinning_recv()}};
  add_variants(group,
               {{"io_uring: multishot, registered, SQPOLL",
                 {.setup = IORING_SETUP_SQPOLL, .multishot = true, .fixed_files = true, .spin = true}}},
               answer_with);
  return group;
}

Group many(const Settings& settings, const Network& network, std::size_t connections) {
  Group group{.name = "many: 64 octets, " + std::to_string(connections) + " connections, both ends block",
              .task = requests(settings, network, connections, ask_blocking())};
  group.contestants = {{"epoll_wait, recv, sendmsg (weft)", answer_with_epoll()}};
  add_variants(group,
               {{"io_uring: recv, registered, DEFER_TASKRUN", {.setup = kDeferred, .fixed_files = true}},
                {"io_uring: multishot, registered", {.multishot = true, .fixed_files = true}},
                {"io_uring: multishot, registered, DEFER_TASKRUN",
                 {.setup = kDeferred, .multishot = true, .fixed_files = true}}},
               answer_with);
  return group;
}

Group receive(const Settings& settings, const Network& network) {
  Group group{.name = "receive: a stream of 1 MiB messages", .stream = true, .task = stream(settings, network, feed())};
  group.contestants = {{"epoll_wait, recv of 256 KiB (weft)", receive_with_epoll()}};
  add_variants(group,
               {{"io_uring: recv of 256 KiB, registered, DEFER_TASKRUN", {.setup = kDeferred, .fixed_files = true}},
                {"io_uring: multishot, 16 x 64 KiB, DEFER_TASKRUN",
                 {.setup = kDeferred, .multishot = true, .fixed_files = true}}},
               receive_with);
  return group;
}

Group send(const Settings& settings, const Network& network, std::size_t octets) {
  Group group{.name = "send: messages of " + std::to_string(octets / 1024) + " KiB over " + network.name(),
              .stream = true,
              .task = stream(settings, network, drain())};
  group.contestants = {{"sendmsg, poll when full (weft)", send_copies(octets)},
                       {"sendmsg(MSG_ZEROCOPY)", send_zero_copy(octets)}};
  const RingOptions options{.setup = kDeferred, .fixed_files = true};
  group.contestants.push_back({"io_uring: SEND", send_copies_with(options, octets), refusal(options)});
  group.contestants.push_back({"io_uring: SEND_ZC", send_zero_copy_with(options, octets), refusal(options)});
  return group;
}

// What a copy in user memory costs, to judge what a send could save.
Group copying(const Settings& settings, const Network& network, std::size_t octets) {
  Group group{.name = "copy: memcpy of " + std::to_string(octets / 1024) + " KiB messages",
              .stream = true,
              .task = stream(settings, network, stay_away())};
  group.contestants = {{"memcpy", copy_only(octets)}};
  return group;
}

Settings parse(int argc, char** argv) {
  Settings settings;
  for (int i = 1; i < argc; ++i) {
    const std::string_view argument = argv[i];
    const bool has_value = i + 1 < argc;
    if (argument == "--quick")
      settings.quick = true, settings.repeats = 1;
    else if (argument == "--only" && has_value)
      settings.only = argv[++i];
    else if (argument == "--repeats" && has_value)
      settings.repeats = std::max(1, std::atoi(argv[++i]));
    else if (argument.starts_with("--"))
      give_up("usage: weft_uring_bench [--quick] [--only GROUP] [--repeats N] [JSON]");
    else
      settings.json = argument;
  }
  return settings;
}

void measure_all(const Settings& settings, Report& report) {
  const auto wanted = [&](std::string_view name) { return settings.only.empty() || settings.only == name; };
  const auto measure = [&](const Group& group) { report.measure(group, settings.repeats); };
  const Network loopback = Network::loopback();
  if (wanted("asleep")) measure(asleep(settings, loopback));
  if (wanted("spinning")) measure(spinning(settings, loopback));
  if (wanted("sqpoll")) measure(polled_by_kernel(settings, loopback));
  for (const std::size_t connections : {16UL, 256UL}) {
    if (wanted("many")) measure(many(settings, loopback, connections));
  }
  if (wanted("receive")) measure(receive(settings, loopback));
  if (!wanted("send")) return;
  const auto veth = Network::veth();
  for (const std::size_t octets : {64 * 1024UL, 1024 * 1024UL}) {
    measure(send(settings, loopback, octets));
    if (veth) measure(send(settings, *veth, octets));
    measure(copying(settings, loopback, octets));
  }
}

}  // namespace

int main(int argc, char** argv) {
  const Settings settings = parse(argc, argv);
  const int refused = refusal({});
  if (refused != 0) {
    std::fprintf(
        stderr,
        "THIS KERNEL REFUSES io_uring (io_uring_setup: %s; see /proc/sys/kernel/io_uring_disabled, and seccomp "
        "in containers): nothing is compared with it, and the exit code is %d\n",
        std::strerror(refused), kSkipped);
  }
  Report report;
  measure_all(settings, report);
  if (!settings.json.empty()) report.write(settings.json, settings.repeats);
  return refused == 0 ? 0 : kSkipped;
}
