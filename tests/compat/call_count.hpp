// SPDX-License-Identifier: Apache-2.0
// Counts what the calling thread takes from the heap and asks of its sockets and of the descriptors of its channels, in
// the whole test program.
#pragma once

#include <cstddef>
#include <ostream>

namespace weft::compat::test {

struct Calls {
  std::size_t allocations{};  // operator new
  std::size_t writes{};       // send or sendmsg
  std::size_t reads{};        // recv
  std::size_t waits{};        // epoll_wait
  std::size_t tokens{};       // write or preadv2: an event's way through a descriptor

  friend bool operator==(const Calls&, const Calls&) = default;
  Calls& operator+=(const Calls& more) {
    allocations += more.allocations;
    writes += more.writes;
    reads += more.reads;
    waits += more.waits;
    tokens += more.tokens;
    return *this;
  }
  friend Calls operator-(const Calls& a, const Calls& b) {
    return {a.allocations - b.allocations, a.writes - b.writes, a.reads - b.reads, a.waits - b.waits,
            a.tokens - b.tokens};
  }
};
inline void PrintTo(const Calls& calls, std::ostream* out) {
  *out << calls.allocations << " allocations, " << calls.writes << " writes, " << calls.reads << " reads, "
       << calls.waits << " waits, " << calls.tokens << " tokens";
}

[[nodiscard]] Calls calls_so_far() noexcept;

}  // namespace weft::compat::test
