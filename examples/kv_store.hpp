// SPDX-License-Identifier: Apache-2.0
// The part that both ends of the key-value store share: the layout of the table, and what a connection needs.
#pragma once

#include <array>
#include <chrono>
#include <cstddef>
#include <cstdint>
#include <stdexcept>
#include <string>
#include <string_view>
#include <type_traits>

#include <weft/verbs/verbs.hpp>

namespace kv {

using namespace weft::verbs;

struct Pair {  // two strings, each terminated by a zero
  std::array<char, 32> key;
  std::array<char, 1000> value;
};
// A writer stores a new stamp in `back` before it changes the pair, and in `front` after that. A reader reads `front`,
// then the pair, then `back`: the pair is consistent if both stamps are equal.
struct Entry {
  std::uint64_t front;
  Pair pair;
  std::uint64_t back;
};
constexpr std::size_t kEntries = 1024;

// Returns the index at which a key may be: the home position (a hash, FNV-1a), or `steps` after it. A free entry has no
// key and ends the search.
inline std::size_t place(std::string_view key, std::size_t steps) {
  std::uint64_t hash = 0xcbf29ce484222325;
  for (const char c : key) hash = (hash ^ std::uint8_t(c)) * 0x100000001b3;
  return (hash + steps) % kEntries;
}

// Private data of the server: address and key of its table. Numbers are in host byte order, because this example runs
// on one machine.
struct Invitation {
  std::uint64_t address;
  std::uint64_t rkey;
};
enum class Answer : std::uint32_t { kDone, kTableFull, kMalformed };  // reply to a put

[[noreturn]] inline void fail(std::string_view doing, std::string_view why) {
  throw std::runtime_error(std::string(doing) + ": " + std::string(why));
}

// Returns the value of a result, or throws the message of the error.
template <typename T>
T must(Result<T> result, std::string_view doing) {
  if (!result) fail(doing, result.error().message());
  if constexpr (!std::is_void_v<T>) return std::move(*result);
}

struct Desk {
  ProtectionDomain domain;
  CompletionQueue completions;
  QueuePair queue_pair;

  explicit Desk(Device device)
      : domain(must(device.allocate_protection_domain(), "protection domain")),
        completions(must(device.create_completion_queue(), "completion queue")),
        queue_pair(
            must(domain.create_queue_pair({.send_cq = &completions, .receive_cq = &completions}), "queue pair")) {
    // The queue pair now accepts receives.
    must(queue_pair.modify(QpState::kInit), "initialise the queue pair");
  }
  // Sleeps until a work request completes, and returns the completion.
  WorkCompletion next(std::string_view what, std::chrono::milliseconds at_most) {
    std::array<WorkCompletion, 1> done;
    must(completions.wait(done, at_most), what);
    return done[0];
  }
  // Returns the next completion, which must be successful.
  WorkCompletion wait(std::string_view what) {
    const WorkCompletion done = next(what, std::chrono::seconds(10));
    if (done.status != WcStatus::kSuccess) fail(what, to_string(done.status));
    return done;
  }
};

}  // namespace kv
