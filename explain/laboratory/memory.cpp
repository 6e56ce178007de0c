// SPDX-License-Identifier: Apache-2.0
#include "explain/laboratory/memory.hpp"

#include <algorithm>
#include <limits>

namespace weft::explain::laboratory {
namespace {
constexpr rdmap::Accessor kStream{.domain = 1, .stream = 1};
}  // namespace

Memory::Memory(const Script& script)
    : RegionTable(kStream), octets_(script.regions.size()), receives_(script.receives) {
  for (const RegionScript& region : script.regions) {
    rdmap::Grant grant{.length = region.size, .first_offset = region.begin, .access = region.access};
    grant.domain = kStream.domain;
    grant.only_stream = kStream.stream;
    put({&add(region.stag, grant), 0}, region.octets);
  }
  placed_.clear();
  while (regions().contains(nowhere_)) ++nowhere_;
  add(nowhere_, {.length = std::numeric_limits<std::uint64_t>::max(),
                 .access = rdmap::Access::kLocalWrite,
                 .domain = kStream.domain,
                 .only_stream = kStream.stream,
                 .null = true});
}

rdmap::LocalSegment Memory::segment(std::uint32_t stag, std::uint64_t offset, std::uint32_t size) {
  const rdmap::LocalSegment wanted{offset, size, stag};
  return local(wanted, rdmap::Access::kNone, 0, size) ? wanted : rdmap::LocalSegment{0, size, nowhere_};
}

std::optional<ddp::ReceiveBuffer> Memory::take_receive() {
  if (taken_ == receives_.size()) return std::nullopt;
  const std::size_t index = taken_++;
  return ddp::ReceiveBuffer{index, receives_[index]};
}

std::expected<void, ddp::LocalFault> Memory::place_untagged(const ddp::ReceiveBuffer& buffer, std::uint64_t offset,
                                                            Bytes payload) {
  const auto index = static_cast<std::size_t>(buffer.cookie);
  placed_.push_back({Placed::Where::kReceive, index, offset, {payload.begin(), payload.end()}});
  return {};
}

void Memory::put(const Place& to, Bytes octets) {
  if (to.region->grant.null) return;
  SparseOctets& region = octets_[to.region->index];
  const std::size_t more = region.new_pages(to.at, octets.size());
  full_ = full_ || pages_ + more > kMostPages;
  if (full_) return;
  pages_ += more;
  region.write(to.at, octets);
  placed_.push_back({Placed::Where::kRegion, to.region->index, to.at, {octets.begin(), octets.end()}});
}

void Memory::get(const Place& from, MutableBytes out) {
  if (from.region->grant.null) return static_cast<void>(std::ranges::fill(out, std::byte{}));
  octets_[from.region->index].read(from.at, out);
}

}  // namespace weft::explain::laboratory
