// SPDX-License-Identifier: Apache-2.0
// instructions CASE ROUNDS: plays one kind of operation so often, between two engines in memory or over two connections of
// this process, for instructions.py to count what that takes. instructions --list: "NAME OPERATIONS ROUNDS [FUNCTIONS]" for
// each case: the operations of one round, the rounds that are counted, and the beginnings of the functions that are, if not all.
#include <array>
#include <chrono>
#include <cstdio>
#include <cstdlib>
#include <string_view>
#include <thread>

#include "bench/engine_pair.hpp"
#include "verbs/verbs.hpp"
#include "weft/weft.hpp"

namespace {

using weft::bench::EnginePair;
using weft::engine::Operation;

struct Case {
  std::string_view name;
  Operation operation{};
  std::uint32_t length{};
  std::uint32_t posted = 1;  // operations of one round
  std::uint32_t rounds = 500;
  weft::bench::PairSettings settings{};
};

constexpr std::uint32_t kLong = 1024 * 1024;
constexpr std::uint32_t kLoopback = 65483;  // EMSS of the loopback device, timestamps on

constexpr Case kCases[] = {
    {.name = "send_64", .operation = Operation::kSend, .length = 64},
    {.name = "write_64", .operation = Operation::kWrite, .length = 64},
    {.name = "write_64_no_crc", .operation = Operation::kWrite, .length = 64, .settings = {.crc = false}},
    {.name = "send_64_by_64", .operation = Operation::kSend, .length = 64, .posted = 64, .rounds = 20},
    {.name = "write_64_by_64", .operation = Operation::kWrite, .length = 64, .posted = 64, .rounds = 20},
    {.name = "read_64", .operation = Operation::kRead, .length = 64},
    {.name = "fetch_add", .operation = Operation::kFetchAdd, .length = 8},
    {.name = "immediate", .operation = Operation::kImmediate, .length = 0},
    {.name = "write_1m_emss_1448", .operation = Operation::kWrite, .length = kLong, .rounds = 4},
    {.name = "write_1m_emss_1448_no_crc",
     .operation = Operation::kWrite,
     .length = kLong,
     .rounds = 4,
     .settings = {.crc = false}},
    {.name = "write_1m_emss_1448_markers",
     .operation = Operation::kWrite,
     .length = kLong,
     .rounds = 4,
     .settings = {.markers = true}},
    {.name = "read_1m_emss_1448", .operation = Operation::kRead, .length = kLong, .rounds = 4},
    {.name = "send_1m_emss_65483",
     .operation = Operation::kSend,
     .length = kLong,
     .rounds = 8,
     .settings = {.emss = kLoopback}},
};

bool play(const Case& played, std::uint32_t rounds) {
  EnginePair pair(played.settings);
  auto work = pair.work(played.operation, played.length);
  if (played.length == 0) work.local = {};
  std::uint64_t completed = 0;
  for (std::uint32_t round = 0; round < rounds; ++round) {
    for (std::uint32_t i = 0; i < played.posted; ++i) pair.post(work);
    pair.run();
    completed += pair.take_completed();
  }
  return completed == std::uint64_t{rounds} * played.posted;
}

// What weft/ adds to a work request that is posted through it, and to its completion. Sockets and threads are involved, so only the
// functions of weft/ are counted: they do the same for each.
constexpr std::string_view kPosted = "posted_write_64_above_verbs";

bool play_posted(std::uint32_t rounds) {
  using namespace std::chrono_literals;
  auto listener = weft::Listener::listen({"127.0.0.1", 0}).value();
  auto client = weft::Connection::prepare(listener.local()).value();
  std::jthread connects([&] { client.establish(10s).value(); });
  auto server = listener.accept(10s).value();
  connects.join();
  std::array<std::byte, 64> out{}, in{};
  constexpr auto kReadAndWritten = weft::Access::kLocalWrite | weft::Access::kRemoteRead | weft::Access::kRemoteWrite;
  const auto source = client.register_memory(out).value();
  const auto sink = server.register_memory(in, kReadAndWritten).value();
  std::uint32_t completed = 0;
  for (std::uint32_t round = 0; round < rounds; ++round) {
    client.write(source, sink.remote(), weft::Post{}).value();
    std::array<weft::verbs::WorkCompletion, 1> done;
    if (client.completion_queue().wait(done, 10s) && done[0].status == weft::verbs::WcStatus::kSuccess) ++completed;
  }
  client.read(source, sink.remote(), 10s).value();  // the Writes have been placed when its response comes
  return completed == rounds;
}

int list() {
  for (const Case& one : kCases) std::printf("%s %u %u\n", one.name.data(), one.posted, one.rounds);
  std::printf("%s 1 500 weft::Connection::,weft::detail::,weft::Region,weft::Slice\n", kPosted.data());
  return 0;
}

}  // namespace

int main(int argc, char** argv) {
  if (argc == 2 && std::string_view(argv[1]) == "--list") return list();
  for (const Case& one : kCases) {
    if (argc == 3 && one.name == argv[1]) return play(one, static_cast<std::uint32_t>(std::atoi(argv[2]))) ? 0 : 1;
  }
  if (argc == 3 && argv[1] == kPosted) return play_posted(static_cast<std::uint32_t>(std::atoi(argv[2]))) ? 0 : 1;
  std::fputs("usage: instructions CASE ROUNDS | --list\n", stderr);
  return 2;
}
