// SPDX-License-Identifier: Apache-2.0
#include "compat/rsockets/mappings.hpp"

#include <algorithm>
#include <utility>

namespace weft::compat::rsockets {

namespace {

bool matches(const verbs::MemoryRegion& region, const void* address, std::size_t length) {
  return region.address() == address && region.length() == length;
}

}  // namespace

Mappings::Mappings(std::span<std::byte> target_iomap, const ConnectData& peer)
    : target_(target_iomap), peer_(peer), of_peer_(target_iomap.size() / kIomapEntryOctets) {}

std::optional<std::string_view> Mappings::updated(std::uint32_t index) {
  if (index >= of_peer_.size()) return "an iomap update of an entry that does not exist";
  of_peer_[index] = read_mapping(target_.data() + index * kIomapEntryOctets);
  return std::nullopt;
}

std::optional<RemoteBuffer> Mappings::find(std::uint64_t offset) const {
  for (const RemoteMapping& mapping : of_peer_) {
    if (offset < mapping.offset || offset - mapping.offset >= mapping.buffer.length) continue;
    const auto skip = static_cast<std::uint32_t>(offset - mapping.offset);
    return RemoteBuffer{mapping.buffer.address + skip, mapping.buffer.stag, mapping.buffer.length - skip};
  }
  return std::nullopt;
}

bool Mappings::entry_left() const noexcept {
  return own_.size() < peer_.iomap_entries || std::ranges::any_of(own_, [](const Own& own) { return !own.region; });
}

bool Mappings::add_remote(verbs::MemoryRegion region, std::uint64_t offset) {
  if (!entry_left()) return false;
  auto entry = std::ranges::find_if(own_, [](const Own& own) { return !own.region; });
  if (entry == own_.end()) entry = own_.emplace(own_.end());
  const auto index = static_cast<std::uint32_t>(entry - own_.begin());
  if (std::ranges::find(pending_, index) == pending_.end()) pending_.push_back(index);
  entry->region.emplace(std::move(region));
  entry->offset = offset;
  return true;
}

// The peer is not told: it has no message for that, and must not write there any more (rsocket(7)).
bool Mappings::remove(const void* address, std::size_t length) {
  for (std::uint32_t index = 0; index < own_.size(); ++index) {
    if (!own_[index].region || !matches(*own_[index].region, address, length)) continue;
    own_[index].region.reset();
    std::erase(pending_, index);
    return true;
  }
  const auto local = std::ranges::find_if(local_, [&](const auto& region) { return matches(region, address, length); });
  if (local == local_.end()) return false;
  local_.erase(local);
  return true;
}

std::optional<Mappings::Update> Mappings::pending() const {
  if (pending_.empty()) return std::nullopt;
  const std::uint32_t index = pending_.front();
  const Own& own = own_[index];
  const RemoteMapping entry{.offset = own.offset,
                            .buffer = {.address = own.region->iova(),
                                       .stag = own.region->rkey(),
                                       .length = static_cast<std::uint32_t>(own.region->length())}};
  const std::uint64_t table = peer_.target_sgl.address + std::uint64_t{peer_.target_sgl.length} * kSglEntryOctets;
  return Update{.index = index,
                .address = table + index * kIomapEntryOctets,
                .stag = peer_.target_sgl.stag,
                .octets = encode(entry, peer_.big_endian)};
}

}  // namespace weft::compat::rsockets
