// SPDX-License-Identifier: Apache-2.0
#include "rdmap/region_table.hpp"

#include <algorithm>
#include <array>
#include <cstring>

#include "rdmap/atomics.hpp"

namespace weft::rdmap {

using ddp::AccessError;
using ddp::LocalFault;

namespace {
using LocalResult = std::expected<void, LocalFault>;
}  // namespace

RegionTable::Region& RegionTable::add(std::uint32_t stag, const Grant& grant) {
  return regions_[stag] = {.grant = grant, .index = regions_.size()};
}

RegionTable::Region& RegionTable::add(std::uint32_t stag, std::size_t size, std::uint64_t first_offset, Access access) {
  Region& region = add(stag, {.length = size,
                              .first_offset = first_offset,
                              .access = access,
                              .domain = who_.domain,
                              .only_stream = who_.stream});
  region.octets.resize(size);
  return region;
}

void RegionTable::post_receive(std::uint64_t cookie, std::size_t capacity) {
  receives_.push_back({cookie, capacity});
  received_[cookie].assign(capacity, std::byte{});
}

// --- Finding memory

RegionTable::Region* RegionTable::find(std::uint32_t stag) {
  const auto found = regions_.find(stag);
  return found != regions_.end() && found->second.valid ? &found->second : nullptr;
}

std::expected<RegionTable::Place, AccessError> RegionTable::remote(ddp::Stag stag, Access needed,
                                                                   ddp::TaggedOffset offset, std::uint64_t length) {
  Region* const region = find(stag.value);
  if (region == nullptr) return std::unexpected(AccessError::kInvalidStag);
  const auto at = check_remote(region->grant, who_, needed, offset.value, length);
  if (!at) return std::unexpected(at.error());
  return Place{region, *at};
}

std::expected<RegionTable::Place, LocalFault> RegionTable::local(const LocalSegment& segment, Access needed,
                                                                 std::uint64_t skip, std::uint64_t length) {
  Region* const region = find(segment.lkey);
  if (region == nullptr) return std::unexpected(LocalFault::kInvalidKey);
  if (segment.address + skip < segment.address) return std::unexpected(LocalFault::kBaseOrBounds);
  const auto at = check_local(region->grant, who_, needed, segment.address + skip, length);
  if (!at) return std::unexpected(at.error());
  return Place{region, *at};
}

void RegionTable::put(const Place& to, Bytes octets) {
  if (!octets.empty()) std::memcpy(to.region->octets.data() + to.at, octets.data(), octets.size());
}

void RegionTable::get(const Place& from, MutableBytes out) {
  if (!out.empty()) std::memcpy(out.data(), from.region->octets.data() + from.at, out.size());
}

// --- Placement

std::expected<void, AccessError> RegionTable::place_tagged(ddp::Stag stag, ddp::TaggedOffset offset, Bytes payload) {
  const auto to = remote(stag, Access::kRemoteWrite, offset, payload.size());
  if (!to) return std::unexpected(to.error());
  put(*to, payload);
  return {};
}

std::optional<ddp::ReceiveBuffer> RegionTable::take_receive() {
  if (receives_.empty()) return std::nullopt;
  const ddp::ReceiveBuffer taken = receives_.front();
  receives_.pop_front();
  return taken;
}

LocalResult RegionTable::place_untagged(const ddp::ReceiveBuffer& buffer, std::uint64_t offset, Bytes payload) {
  auto& to = received_.at(buffer.cookie);
  if (offset > to.size() || payload.size() > to.size() - offset) return std::unexpected(LocalFault::kBaseOrBounds);
  std::ranges::copy(payload, to.begin() + static_cast<std::ptrdiff_t>(offset));
  return {};
}

// --- A peer's reads, atomics and invalidations

std::expected<void, AccessError> RegionTable::check_read(ddp::Stag stag, ddp::TaggedOffset offset,
                                                         std::uint32_t length) {
  const auto from = remote(stag, Access::kRemoteRead, offset, length);
  if (!from) return std::unexpected(from.error());
  return {};
}

std::expected<void, AccessError> RegionTable::read_tagged(ddp::Stag stag, ddp::TaggedOffset offset, MutableBytes out) {
  const auto from = remote(stag, Access::kRemoteRead, offset, out.size());
  if (!from) return std::unexpected(from.error());
  get(*from, out);
  return {};
}

std::expected<std::uint64_t, AccessError> RegionTable::atomic(ddp::Stag stag, ddp::TaggedOffset offset,
                                                              const AtomicOperation& operation) {
  const auto at = remote(stag, Access::kRemoteAtomic, offset, sizeof(std::uint64_t));
  if (!at) return std::unexpected(at.error());
  if (offset.value % kAtomicAlignment != 0) return std::unexpected(AccessError::kUnaligned);
  std::array<std::byte, sizeof(std::uint64_t)> octets{};
  get(*at, octets);
  const auto old = Le<0, std::uint64_t>::get(octets);
  Le<0, std::uint64_t>::put(octets, apply(operation, old));
  put(*at, octets);
  return old;
}

std::expected<void, AccessError> RegionTable::invalidate(ddp::Stag stag) {
  Region* const region = find(stag.value);
  if (region == nullptr) return std::unexpected(AccessError::kInvalidStag);
  if (const auto may = check_invalidate(region->grant, who_); !may) return may;
  region->valid = false;
  return {};
}

// --- The local side's lists

LocalResult RegionTable::gather(LocalSegments source, std::uint64_t offset, MutableBytes out) {
  return walk_segments(source, offset, out.size(), [&](const auto& segment, auto skip, auto use) -> LocalResult {
    const auto from = local(segment, Access::kNone, skip, use);
    if (!from) return std::unexpected(from.error());
    get(*from, out.first(use));
    out = out.subspan(use);
    return {};
  });
}

// What is wrong with the list is for gather() to find.
bool RegionTable::borrow(LocalSegments source, std::uint64_t offset, std::uint64_t length, std::span<Bytes> pieces,
                         std::size_t& used) {
  used = 0;
  const auto lent = walk_segments(source, offset, length, [&](const auto& segment, auto skip, auto use) -> LocalResult {
    const auto from = local(segment, Access::kNone, skip, use);
    if (!from || used == pieces.size()) return std::unexpected(LocalFault::kInvalidKey);
    pieces[used++] = Bytes(from->region->octets).subspan(from->at, use);
    return {};
  });
  return lent.has_value();
}

LocalResult RegionTable::scatter(LocalSegments sink, std::uint64_t offset, Bytes payload) {
  return walk_segments(sink, offset, payload.size(), [&](const auto& segment, auto skip, auto use) -> LocalResult {
    const auto to = local(segment, Access::kLocalWrite, skip, use);
    if (!to) return std::unexpected(to.error());
    put(*to, payload.first(use));
    payload = payload.subspan(use);
    return {};
  });
}

LocalResult RegionTable::perform_local(std::uint64_t) { return {}; }

}  // namespace weft::rdmap
