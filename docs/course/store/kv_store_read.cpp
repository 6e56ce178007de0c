// SPDX-License-Identifier: Apache-2.0
// Your part of the assignment: exercise 7.4. This version reads the whole entry at once, and so returns torn values.
#include "kv_store_read.hpp"

namespace kv {

unsigned long read_entry(RemoteEntry& entry) {
  entry.read(0, sizeof(Entry));
  return 0;
}

}  // namespace kv
