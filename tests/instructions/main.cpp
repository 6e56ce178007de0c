// SPDX-License-Identifier: Apache-2.0
// instructions CASE ROUNDS: plays one kind of operation so often between two engines in memory, for instructions.py to
// count what that takes. instructions --list: "NAME OPERATIONS ROUNDS" for each case, the operations of one round and
// the rounds that are counted.
#include <cstdio>
#include <cstdlib>
#include <string_view>

#include "bench/engine_pair.hpp"

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

int list() {
  for (const Case& one : kCases) std::printf("%s %u %u\n", one.name.data(), one.posted, one.rounds);
  return 0;
}

}  // namespace

int main(int argc, char** argv) {
  if (argc == 2 && std::string_view(argv[1]) == "--list") return list();
  for (const Case& one : kCases) {
    if (argc == 3 && one.name == argv[1]) return play(one, static_cast<std::uint32_t>(std::atoi(argv[2]))) ? 0 : 1;
  }
  std::fputs("usage: instructions CASE ROUNDS | --list\n", stderr);
  return 2;
}
