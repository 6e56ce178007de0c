// SPDX-License-Identifier: Apache-2.0
// The part that both ends of the key-value store share: the layout of the table, and how errors are reported. The
// server sends clients the place of its table (weft::RemoteRegion) as private data.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <stdexcept>
#include <string>
#include <string_view>
#include <type_traits>
#include <utility>

#include <weft/weft.hpp>

namespace kv {

struct Pair {  // two strings, each terminated by a zero
  std::array<char, 32> key;
  std::array<char, 1000> value;
};
// A writer stores a new stamp in `back` before it changes the pair, and in `front` after that. So a reader can tell
// whether a pair is consistent.
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

enum class Answer : std::uint32_t { kDone, kTableFull, kMalformed };  // reply to a put

[[noreturn]] inline void fail(std::string_view doing, std::string_view why) {
  throw std::runtime_error(std::string(doing) + ": " + std::string(why));
}

// Returns the value of a result, or throws the message of the error.
template <typename T>
T must(weft::Result<T> result) {
  if (!result) throw std::runtime_error(result.error().message());
  if constexpr (!std::is_void_v<T>) return std::move(*result);
}

}  // namespace kv
