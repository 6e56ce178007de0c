// SPDX-License-Identifier: Apache-2.0
// How a client of the key-value store reads an entry: the assignment of docs/course/7-store.md.
#pragma once

#include <cstddef>

#include "kv_store.hpp"

namespace kv {

// An entry of the server's table, and this end's copy of it.
class RemoteEntry {
 public:
  RemoteEntry() = default;
  RemoteEntry(const RemoteEntry&) = delete;
  RemoteEntry& operator=(const RemoteEntry&) = delete;
  virtual ~RemoteEntry() = default;

  // Reads this part of the entry into the same part of the copy: one RDMA Read. Returns when it has completed.
  virtual void read(std::size_t offset, std::size_t length) = 0;

  Entry copy{};
};

// Reads the entry until the copy is consistent. Returns how often it had to read again.
unsigned long read_entry(RemoteEntry& entry);

}  // namespace kv
