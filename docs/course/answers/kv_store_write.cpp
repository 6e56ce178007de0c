// SPDX-License-Identifier: Apache-2.0
// The answer to exercise 7.5.
#include "kv_store_write.hpp"

namespace kv {

void write_entry(WritableEntry& entry, const Pair& pair) {
  for (int tries = 0; tries < 10000; ++tries) {
    entry.read(offsetof(Entry, front), sizeof(Entry::front));
    const std::uint64_t stamp = entry.copy.front;
    // Equal stamps: nobody writes. Of several writers that see this, one changes `back`.
    if (entry.compare_swap(offsetof(Entry, back), stamp, stamp + 1) != stamp) continue;
    entry.copy.pair = pair;
    entry.write(offsetof(Entry, pair), sizeof(Entry::pair));
    // A Read is processed after the Writes before it have been placed (RFC 5040 section 5.5, rule 12).
    entry.read(offsetof(Entry, back), sizeof(Entry::back));
    entry.copy.front = stamp + 1;
    entry.write(offsetof(Entry, front), sizeof(Entry::front));
    return;
  }
  fail("put", "other writers have been faster 10000 times");
}

}  // namespace kv
