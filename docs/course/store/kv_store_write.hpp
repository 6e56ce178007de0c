// SPDX-License-Identifier: Apache-2.0
// How a client may write an entry itself, without the server's program: exercise 7.5 of docs/course/7-store.md.
#pragma once

#include <cstddef>
#include <cstdint>

#include "kv_store_read.hpp"

namespace kv {

// An entry that this end may also write.
class WritableEntry : public RemoteEntry {
 public:
  // Writes this part of the copy into the same part of the entry: one RDMA Write. Returns when the copy may change
  // again. The octets may not have been placed then, and those of two Writes may be placed in any order.
  virtual void write(std::size_t offset, std::size_t length) = 0;

  // Replaces the number at this offset of the entry by `swap` if it equals `compare`: one atomic operation. Returns the
  // number that was there, when the response has arrived.
  virtual std::uint64_t compare_swap(std::size_t offset, std::uint64_t compare, std::uint64_t swap) = 0;
};

// Puts a pair into the entry, beside other writers that do the same. The copy is this function's to use.
void write_entry(WritableEntry& entry, const Pair& pair);

}  // namespace kv
