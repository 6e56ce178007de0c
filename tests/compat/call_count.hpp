// SPDX-License-Identifier: Apache-2.0
// Counts what the calling thread takes from the heap and asks of its sockets, in the whole test program.
#pragma once

#include <cstddef>
#include <ostream>

namespace weft::compat::test {

struct Calls {
  std::size_t allocations{};  // operator new
  std::size_t writes{};       // send or sendmsg
  std::size_t reads{};        // recv

  friend bool operator==(const Calls&, const Calls&) = default;
  Calls& operator+=(const Calls& more) {
    allocations += more.allocations;
    writes += more.writes;
    reads += more.reads;
    return *this;
  }
  friend Calls operator-(const Calls& a, const Calls& b) {
    return {a.allocations - b.allocations, a.writes - b.writes, a.reads - b.reads};
  }
};
inline void PrintTo(const Calls& calls, std::ostream* out) {
  *out << calls.allocations << " allocations, " << calls.writes << " writes, " << calls.reads << " reads";
}

[[nodiscard]] Calls calls_so_far() noexcept;

}  // namespace weft::compat::test
