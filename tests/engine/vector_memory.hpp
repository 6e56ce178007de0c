// SPDX-License-Identifier: Apache-2.0
// Registered memory for the engine's tests: a RegionTable that counts, lends, fails and scribbles when it is asked to.
#pragma once

#include <algorithm>
#include <cstring>
#include <map>
#include <vector>

#include "rdmap/region_table.hpp"

namespace weft::engine::test {

using rdmap::Access;
using Region = rdmap::RegionTable::Region;

class VectorMemory : public rdmap::RegionTable {
 public:
  // --- What a test sets up
  std::vector<std::uint64_t> performed;                     // cookies of local operations
  std::map<std::uint64_t, std::uint32_t> local_invalidate;  // what perform_local(cookie) invalidates
  bool lend = false;                                        // borrow() works
  bool scribbles = false;                                   // the application changes each octet that was just read
  bool fault_on_receive = false;
  std::uint64_t octets_placed = 0;  // in any buffer
  Bytes landed;                     // room in a payload whose octets were read to their place

  std::expected<void, ddp::LocalFault> place_untagged(const ddp::ReceiveBuffer& buffer, std::uint64_t offset,
                                                      Bytes payload) override {
    if (fault_on_receive) return std::unexpected(ddp::LocalFault::kInvalidKey);
    auto& to = received().at(buffer.cookie);
    if (offset + payload.size() > to.size()) return std::unexpected(ddp::LocalFault::kBaseOrBounds);
    copy(to.data() + offset, payload);
    return {};
  }
  bool borrow(rdmap::LocalSegments source, std::uint64_t offset, std::uint64_t length, std::span<Bytes> pieces,
              std::size_t& used) override {
    return lend ? RegionTable::borrow(source, offset, length, pieces, used) : Memory::borrow({}, 0, 0, {}, used);
  }
  MutableBytes landing(const ddp::ReceiveBuffer& buffer, std::uint64_t offset, std::uint64_t length) override {
    return MutableBytes(received().at(buffer.cookie)).subspan(offset, length);
  }
  MutableBytes landing(rdmap::LocalSegments sink, std::uint64_t offset, std::uint64_t length) override {
    MutableBytes found;
    static_cast<void>(rdmap::walk_segments(sink, offset, length, [&](const auto& segment, auto skip, auto use) {
      const auto to = local(segment, Access::kLocalWrite, skip, use);
      if (to) found = MutableBytes(to->region->octets).subspan(to->at, use);
      return std::expected<void, ddp::LocalFault>();
    }));
    return found.size() == length ? found : MutableBytes();
  }
  std::expected<void, ddp::LocalFault> perform_local(std::uint64_t cookie) override {
    performed.push_back(cookie);
    const auto wanted = local_invalidate.find(cookie);
    if (wanted == local_invalidate.end()) return {};
    if (!invalidate({wanted->second})) return std::unexpected(ddp::LocalFault::kInvalidKey);
    return {};
  }

 protected:
  void put(const Place& to, Bytes octets) override { copy(to.region->octets.data() + to.at, octets); }
  void get(const Place& from, MutableBytes out) override {
    RegionTable::get(from, out);
    const auto read = MutableBytes(from.region->octets).subspan(from.at, out.size());
    if (scribbles) std::ranges::transform(read, read.begin(), [](std::byte octet) { return ~octet; });
  }

 private:
  void copy(std::byte* to, Bytes payload) {
    octets_placed += payload.size();
    if (payload.empty()) return;
    const bool room_inside = !landed.empty() && landed.data() >= payload.data() && landed.data() < &payload.back() + 1;
    const std::size_t before = room_inside ? static_cast<std::size_t>(landed.data() - payload.data()) : payload.size();
    std::memcpy(to, payload.data(), before);
    if (!room_inside) return;
    const std::size_t behind = before + landed.size();
    std::memcpy(to + behind, payload.data() + behind, payload.size() - behind);
  }
};

}  // namespace weft::engine::test
