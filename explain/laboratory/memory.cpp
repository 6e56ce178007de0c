// SPDX-License-Identifier: Apache-2.0
#include "explain/laboratory/memory.hpp"

#include <algorithm>
#include <array>
#include <cstring>

#include "rdmap/atomics.hpp"

namespace weft::explain::laboratory {
Memory::Memory(const Script& script) : receives_(script.receives) {
  for (const RegionScript& region : script.regions) {
    by_stag_.emplace(region.stag, regions_.size());
    regions_.push_back({.script = &region});
    put(Placed::Where::kRegion, {regions_.size() - 1, 0}, region.octets);
  }
  placed_.clear();
}

void Memory::post_receive(std::uint64_t size) { receives_.push_back(size); }

rdmap::LocalSegment Memory::local(std::uint32_t stag, std::uint64_t offset, std::uint32_t size) const {
  const auto found = by_stag_.find(stag);
  if (found == by_stag_.end()) return {0, size, 0};
  const RegionScript& region = *regions_[found->second].script;
  const std::uint64_t inside = offset - region.begin;
  const bool fits = offset >= region.begin && inside <= region.size && size <= region.size - inside;
  if (!fits) return {0, size, 0};
  return {inside, size, static_cast<std::uint32_t>(found->second + 1)};
}

// --- Access of the peer, checked in the order of ddp::AccessError

std::expected<Memory::Found, ddp::AccessError> Memory::find(ddp::Stag stag, ddp::TaggedOffset offset,
                                                            std::uint64_t length, Right right) const {
  const auto found = by_stag_.find(stag.value);
  if (found == by_stag_.end() || !regions_[found->second].valid) {
    return std::unexpected(ddp::AccessError::kInvalidStag);
  }
  const RegionScript& region = *regions_[found->second].script;
  if (!(region.*right)) return std::unexpected(ddp::AccessError::kAccessRights);
  if (offset.value + length < offset.value) return std::unexpected(ddp::AccessError::kOffsetWrap);
  const std::uint64_t inside = offset.value - region.begin;
  if (offset.value < region.begin || inside > region.size || length > region.size - inside) {
    return std::unexpected(ddp::AccessError::kBaseOrBounds);
  }
  return Found{found->second, inside};
}

std::expected<void, ddp::AccessError> Memory::place_tagged(ddp::Stag stag, ddp::TaggedOffset offset, Bytes payload) {
  const auto to = find(stag, offset, payload.size(), &RegionScript::write);
  if (!to) return std::unexpected(to.error());
  put(Placed::Where::kRegion, *to, payload);
  return {};
}

std::optional<ddp::ReceiveBuffer> Memory::take_receive() {
  if (taken_ == receives_.size()) return std::nullopt;
  const std::size_t index = taken_++;
  return ddp::ReceiveBuffer{index, receives_[index]};
}

std::expected<void, ddp::LocalFault> Memory::place_untagged(const ddp::ReceiveBuffer& buffer, std::uint64_t offset,
                                                            Bytes payload) {
  put(Placed::Where::kReceive, {static_cast<std::size_t>(buffer.cookie), offset}, payload);
  return {};
}

std::expected<void, ddp::AccessError> Memory::check_read(ddp::Stag stag, ddp::TaggedOffset offset,
                                                         std::uint32_t length) {
  const auto from = find(stag, offset, length, &RegionScript::read);
  if (!from) return std::unexpected(from.error());
  return {};
}

std::expected<void, ddp::AccessError> Memory::read_tagged(ddp::Stag stag, ddp::TaggedOffset offset, MutableBytes out) {
  const auto from = find(stag, offset, out.size(), &RegionScript::read);
  if (!from) return std::unexpected(from.error());
  regions_[from->index].octets.read(from->offset, out);
  return {};
}

std::expected<std::uint64_t, ddp::AccessError> Memory::atomic(ddp::Stag stag, ddp::TaggedOffset offset,
                                                              const rdmap::AtomicOperation& op) {
  const auto at = find(stag, offset, sizeof(std::uint64_t), &RegionScript::atomic);
  if (!at) return std::unexpected(at.error());
  if (offset.value % rdmap::kAtomicAlignment != 0) return std::unexpected(ddp::AccessError::kUnaligned);
  std::array<std::byte, sizeof(std::uint64_t)> octets{};
  regions_[at->index].octets.read(at->offset, octets);
  std::uint64_t old{};
  std::memcpy(&old, octets.data(), octets.size());
  const std::uint64_t fresh = rdmap::apply(op, old);
  std::memcpy(octets.data(), &fresh, octets.size());
  put(Placed::Where::kRegion, *at, octets);
  return old;
}

std::expected<void, ddp::AccessError> Memory::invalidate(ddp::Stag stag) {
  const auto found = by_stag_.find(stag.value);
  if (found == by_stag_.end() || !regions_[found->second].valid) {
    return std::unexpected(ddp::AccessError::kInvalidStag);
  }
  regions_[found->second].valid = false;
  return {};
}

// --- Local work: a list of one segment, as local() makes it

std::optional<Memory::Found> Memory::find(const rdmap::LocalSegment& segment) const {
  if (segment.lkey == 0) return std::nullopt;
  return Found{segment.lkey - 1, segment.address};
}

std::expected<void, ddp::LocalFault> Memory::gather(rdmap::LocalSegments source, std::uint64_t offset,
                                                    MutableBytes out) {
  std::ranges::fill(out, std::byte{0});
  const auto from = source.empty() ? std::nullopt : find(source.front());
  if (from) regions_[from->index].octets.read(from->offset + offset, out);
  return {};
}

std::expected<void, ddp::LocalFault> Memory::scatter(rdmap::LocalSegments sink, std::uint64_t offset, Bytes payload) {
  const auto to = sink.empty() ? std::nullopt : find(sink.front());
  if (to) put(Placed::Where::kRegion, {to->index, to->offset + offset}, payload);
  return {};
}

std::expected<void, ddp::LocalFault> Memory::perform_local(std::uint64_t) { return {}; }

void Memory::put(Placed::Where where, const Found& to, Bytes octets) {
  if (where == Placed::Where::kRegion) {
    SparseOctets& region = regions_[to.index].octets;
    const std::size_t more = region.new_pages(to.offset, octets.size());
    full_ = full_ || pages_ + more > kMostPages;
    if (full_) return;
    pages_ += more;
    region.write(to.offset, octets);
  }
  placed_.push_back({where, to.index, to.offset, {octets.begin(), octets.end()}});
}

}  // namespace weft::explain::laboratory
