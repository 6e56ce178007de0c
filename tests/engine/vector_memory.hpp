// SPDX-License-Identifier: Apache-2.0
// Registered memory for the engine's tests: plain vectors, one per key. No threads, no pages, but all the checks.
#pragma once

#include <algorithm>
#include <cstring>
#include <deque>
#include <map>
#include <vector>

#include "rdmap/memory.hpp"

namespace weft::engine::test {

struct Region {
  std::vector<std::byte> octets;
  std::uint64_t base = 0;  // TO of the first octet
  bool read = true, write = true, atomic = true;
  bool associated = true;  // false: belongs to another Protection Domain
  bool valid = true;
};

class VectorMemory : public rdmap::Memory {
 public:
  // --- What a test sets up
  Region& add(std::uint32_t key, std::size_t size, std::uint64_t base = 0) {
    Region& region = regions[key];
    region.octets.assign(size, std::byte{0});
    region.base = base;
    return region;
  }
  void post_receive(std::uint64_t cookie, std::size_t capacity) {
    receives.push_back({cookie, capacity});
    inbox[cookie].assign(capacity, std::byte{0});
  }

  std::map<std::uint32_t, Region> regions;
  std::deque<ddp::ReceiveBuffer> receives;
  std::map<std::uint64_t, std::vector<std::byte>> inbox;    // by receive cookie
  std::vector<std::uint64_t> performed;                     // cookies of local operations
  std::map<std::uint64_t, std::uint32_t> local_invalidate;  // what perform_local(cookie) invalidates
  bool lend = false;                                        // borrow() works
  bool scribbles = false;                                   // the application changes each octet that was just read
  std::uint64_t octets_placed = 0;                          // in any buffer
  Bytes landed;                                             // room in a payload whose octets were read to their place

  // --- ddp::Placement
  std::expected<void, ddp::AccessError> place_tagged(ddp::Stag stag, ddp::TaggedOffset offset, Bytes payload) override {
    const auto to = access(stag, offset, payload.size(), &Region::write);
    if (!to) return std::unexpected(to.error());
    copy(*to, payload);
    return {};
  }
  std::optional<ddp::ReceiveBuffer> take_receive() override {
    if (receives.empty()) return std::nullopt;
    const ddp::ReceiveBuffer taken = receives.front();
    receives.pop_front();
    return taken;
  }
  std::expected<void, ddp::LocalFault> place_untagged(const ddp::ReceiveBuffer& buffer, std::uint64_t offset,
                                                      Bytes payload) override {
    if (fault_on_receive) return std::unexpected(ddp::LocalFault::kInvalidKey);
    auto& to = inbox.at(buffer.cookie);
    if (offset + payload.size() > to.size()) return std::unexpected(ddp::LocalFault::kBaseOrBounds);
    copy(to.data() + offset, payload);
    return {};
  }
  bool fault_on_receive = false;

  // --- rdmap::Memory
  std::expected<void, ddp::AccessError> check_read(ddp::Stag stag, ddp::TaggedOffset offset,
                                                   std::uint32_t length) override {
    const auto from = access(stag, offset, length, &Region::read);
    if (!from) return std::unexpected(from.error());
    return {};
  }
  std::expected<void, ddp::AccessError> read_tagged(ddp::Stag stag, ddp::TaggedOffset offset,
                                                    MutableBytes out) override {
    const auto from = access(stag, offset, out.size(), &Region::read);
    if (!from) return std::unexpected(from.error());
    read(out.data(), *from, out.size());
    return {};
  }
  std::expected<std::uint64_t, ddp::AccessError> atomic(ddp::Stag stag, ddp::TaggedOffset offset,
                                                        const rdmap::AtomicOperation& op) override {
    const auto at = access(stag, offset, 8, &Region::atomic);
    if (!at) return std::unexpected(at.error());
    if (offset.value % 8 != 0) return std::unexpected(ddp::AccessError::kUnaligned);
    std::uint64_t old{};
    std::memcpy(&old, *at, 8);
    std::uint64_t fresh = old;
    if (op.kind == rdmap::AtomicOperation::Kind::kFetchAdd) {
      const std::uint64_t m = op.add_or_swap_mask;
      fresh = ((old & ~m) + (op.add_or_swap & ~m)) ^ ((old ^ op.add_or_swap) & m);
    } else if (((op.compare ^ old) & op.compare_mask) == 0) {
      fresh = (old & ~op.add_or_swap_mask) | (op.add_or_swap & op.add_or_swap_mask);
    }
    std::memcpy(*at, &fresh, 8);
    return old;
  }
  std::expected<void, ddp::AccessError> invalidate(ddp::Stag stag) override {
    const auto found = regions.find(stag.value);
    if (found == regions.end() || !found->second.valid) return std::unexpected(ddp::AccessError::kInvalidStag);
    if (!found->second.associated) return std::unexpected(ddp::AccessError::kNotAssociated);
    found->second.valid = false;
    return {};
  }
  std::expected<void, ddp::LocalFault> gather(rdmap::LocalSegments source, std::uint64_t offset,
                                              MutableBytes out) override {
    return each_piece(source, offset, out.size(),
                      [&](std::byte* from, std::size_t done, std::size_t n) { read(out.data() + done, from, n); });
  }
  bool borrow(rdmap::LocalSegments source, std::uint64_t offset, std::uint64_t length, std::span<Bytes> pieces,
              std::size_t& used) override {
    used = 0;
    if (!lend) return false;
    bool fits = true;
    const auto walked = each_piece(source, offset, length, [&](std::byte* from, std::size_t, std::size_t n) {
      fits = fits && used < pieces.size();
      if (fits) pieces[used++] = Bytes(from, n);
    });
    return walked.has_value() && fits;
  }
  std::expected<void, ddp::LocalFault> scatter(rdmap::LocalSegments sink, std::uint64_t offset,
                                               Bytes payload) override {
    return each_piece(sink, offset, payload.size(),
                      [&](std::byte* to, std::size_t done, std::size_t n) { copy(to, payload.subspan(done, n)); });
  }
  MutableBytes landing(const ddp::ReceiveBuffer& buffer, std::uint64_t offset, std::uint64_t length) override {
    return MutableBytes(inbox.at(buffer.cookie)).subspan(offset, length);
  }
  MutableBytes landing(rdmap::LocalSegments sink, std::uint64_t offset, std::uint64_t length) override {
    MutableBytes found;
    const auto walked =
        each_piece(sink, offset, length, [&](std::byte* to, std::size_t, std::size_t n) { found = {to, n}; });
    return walked && found.size() == length ? found : MutableBytes();
  }
  std::expected<void, ddp::LocalFault> perform_local(std::uint64_t cookie) override {
    performed.push_back(cookie);
    const auto wanted = local_invalidate.find(cookie);
    if (wanted == local_invalidate.end()) return {};
    if (!invalidate({wanted->second})) return std::unexpected(ddp::LocalFault::kInvalidKey);
    return {};
  }

 private:
  // In the order of ddp::AccessError.
  std::expected<std::byte*, ddp::AccessError> access(ddp::Stag stag, ddp::TaggedOffset offset, std::size_t length,
                                                     bool Region::* right) {
    const auto found = regions.find(stag.value);
    if (found == regions.end() || !found->second.valid) return std::unexpected(ddp::AccessError::kInvalidStag);
    Region& region = found->second;
    if (!region.associated) return std::unexpected(ddp::AccessError::kNotAssociated);
    if (!(region.*right)) return std::unexpected(ddp::AccessError::kAccessRights);
    if (offset.value + length < offset.value) return std::unexpected(ddp::AccessError::kOffsetWrap);
    const std::uint64_t size = region.octets.size();
    if (offset.value < region.base || offset.value - region.base > size ||
        length > size - (offset.value - region.base)) {
      return std::unexpected(ddp::AccessError::kBaseOrBounds);
    }
    return region.octets.data() + (offset.value - region.base);
  }

  // Walks `length` octets from `offset` of a scatter or gather list, whose addresses are offsets within lkey's region.
  template <typename F>
  std::expected<void, ddp::LocalFault> each_piece(rdmap::LocalSegments list, std::uint64_t offset, std::uint64_t length,
                                                  F&& f) {
    std::size_t done = 0;
    for (const rdmap::LocalSegment& segment : list) {
      if (done == length) break;
      if (offset >= segment.length) {
        offset -= segment.length;
        continue;
      }
      const auto n = static_cast<std::size_t>(std::min<std::uint64_t>(segment.length - offset, length - done));
      const auto found = regions.find(segment.lkey);
      if (found == regions.end() || !found->second.valid) return std::unexpected(ddp::LocalFault::kInvalidKey);
      auto& octets = found->second.octets;
      if (segment.address + offset + n > octets.size()) return std::unexpected(ddp::LocalFault::kBaseOrBounds);
      f(octets.data() + segment.address + offset, done, n);
      done += n;
      offset = 0;
    }
    if (done != length) return std::unexpected(ddp::LocalFault::kBaseOrBounds);
    return {};
  }

  void read(std::byte* to, std::byte* from, std::size_t n) const {
    std::memcpy(to, from, n);
    if (scribbles) std::transform(from, from + n, from, [](std::byte octet) { return ~octet; });
  }
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
