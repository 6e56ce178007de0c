// SPDX-License-Identifier: Apache-2.0
#include "kv_store_read.hpp"

namespace kv {

// A reader goes against the order of writers: it reads `front`, then the pair, then `back`. The pair is consistent if
// both stamps are equal. Neither the octets of one Read nor concurrent Reads are ordered (RFC 5040 section 5.5, rules 8
// and 20), so each part waits for the previous one.
unsigned long read_entry(RemoteEntry& entry) {
  for (unsigned long again = 0; again < 10000; ++again) {
    entry.read(offsetof(Entry, front), sizeof(Entry::front));
    entry.read(offsetof(Entry, pair), sizeof(Entry::pair));
    entry.read(offsetof(Entry, back), sizeof(Entry::back));
    if (entry.copy.front == entry.copy.back) return again;
  }
  fail("get", "the entry has changed under each of 10000 reads");
}

}  // namespace kv
