// SPDX-License-Identifier: Apache-2.0
#include "explain/tour/tour_memory.hpp"

#include <algorithm>

#include "rdmap/atomics.hpp"

namespace weft::explain {

using ddp::AccessError;
using ddp::LocalFault;

void TourMemory::add(std::uint32_t stag, std::uint64_t begin, std::size_t octets, TourRights rights,
                     std::string_view text) {
  Owned& region = regions_[stag];
  region = {.begin = begin, .octets = std::vector<std::byte>(octets), .rights = rights};
  for (std::size_t i = 0; i < octets && !text.empty(); ++i)
    region.octets[i] = static_cast<std::byte>(text[i % text.size()]);
}

void TourMemory::post_receive(std::uint64_t octets) {
  receives_.push_back({.cookie = inbox_.size(), .capacity = octets});
  inbox_.emplace_back(octets);
}

// In the order of ddp::AccessError; both ends have one protection domain.
std::expected<MutableBytes, AccessError> TourMemory::access(ddp::Stag stag, ddp::TaggedOffset offset,
                                                            std::size_t length, bool TourRights::* right) {
  const auto found = regions_.find(stag.value);
  if (found == regions_.end() || !found->second.valid) return std::unexpected(AccessError::kInvalidStag);
  Owned& region = found->second;
  if (!(region.rights.*right)) return std::unexpected(AccessError::kAccessRights);
  if (offset.value + length < offset.value) return std::unexpected(AccessError::kOffsetWrap);
  const std::uint64_t at = offset.value - region.begin;
  if (offset.value < region.begin || at > region.octets.size() || length > region.octets.size() - at)
    return std::unexpected(AccessError::kBaseOrBounds);
  return MutableBytes(region.octets).subspan(at, length);
}

// The tour's lists have one element.
std::expected<MutableBytes, LocalFault> TourMemory::local(rdmap::LocalSegments list, std::uint64_t offset,
                                                          std::size_t length) {
  const auto found = list.empty() ? regions_.end() : regions_.find(list.front().lkey);
  if (found == regions_.end()) return std::unexpected(LocalFault::kInvalidKey);
  Owned& region = found->second;
  const std::uint64_t at = list.front().address - region.begin + offset;
  if (at > region.octets.size() || length > region.octets.size() - at)
    return std::unexpected(LocalFault::kBaseOrBounds);
  return MutableBytes(region.octets).subspan(at, length);
}

std::expected<void, AccessError> TourMemory::place_tagged(ddp::Stag stag, ddp::TaggedOffset offset, Bytes payload) {
  const auto to = access(stag, offset, payload.size(), &TourRights::write);
  if (!to) return std::unexpected(to.error());
  std::ranges::copy(payload, to->begin());
  return {};
}

std::optional<ddp::ReceiveBuffer> TourMemory::take_receive() {
  if (receives_.empty()) return std::nullopt;
  const ddp::ReceiveBuffer taken = receives_.front();
  receives_.pop_front();
  return taken;
}

std::expected<void, LocalFault> TourMemory::place_untagged(const ddp::ReceiveBuffer& buffer, std::uint64_t offset,
                                                           Bytes payload) {
  auto& to = inbox_.at(buffer.cookie);
  if (offset > to.size() || payload.size() > to.size() - offset) return std::unexpected(LocalFault::kBaseOrBounds);
  std::ranges::copy(payload, to.begin() + static_cast<std::ptrdiff_t>(offset));
  return {};
}

std::expected<void, AccessError> TourMemory::check_read(ddp::Stag stag, ddp::TaggedOffset offset,
                                                        std::uint32_t length) {
  const auto from = access(stag, offset, length, &TourRights::read);
  if (!from) return std::unexpected(from.error());
  return {};
}

std::expected<void, AccessError> TourMemory::read_tagged(ddp::Stag stag, ddp::TaggedOffset offset, MutableBytes out) {
  const auto from = access(stag, offset, out.size(), &TourRights::read);
  if (!from) return std::unexpected(from.error());
  std::ranges::copy(*from, out.begin());
  return {};
}

// In memory the value has the same byte order on every machine, so the tour has the same octets.
std::expected<std::uint64_t, AccessError> TourMemory::atomic(ddp::Stag stag, ddp::TaggedOffset offset,
                                                             const rdmap::AtomicOperation& operation) {
  const auto at = access(stag, offset, sizeof(std::uint64_t), &TourRights::atomic);
  if (!at) return std::unexpected(at.error());
  if (offset.value % rdmap::kAtomicAlignment != 0) return std::unexpected(AccessError::kUnaligned);
  const std::uint64_t old = Le<0, std::uint64_t>::get(*at);
  Le<0, std::uint64_t>::put(*at, rdmap::apply(operation, old));
  return old;
}

std::expected<void, AccessError> TourMemory::invalidate(ddp::Stag stag) {
  const auto found = regions_.find(stag.value);
  if (found == regions_.end() || !found->second.valid) return std::unexpected(AccessError::kInvalidStag);
  found->second.valid = false;
  return {};
}

std::expected<void, LocalFault> TourMemory::gather(rdmap::LocalSegments source, std::uint64_t offset,
                                                   MutableBytes out) {
  const auto from = local(source, offset, out.size());
  if (!from) return std::unexpected(from.error());
  std::ranges::copy(*from, out.begin());
  return {};
}

std::expected<void, LocalFault> TourMemory::scatter(rdmap::LocalSegments sink, std::uint64_t offset, Bytes payload) {
  const auto to = local(sink, offset, payload.size());
  if (!to) return std::unexpected(to.error());
  std::ranges::copy(payload, to->begin());
  return {};
}

std::expected<void, LocalFault> TourMemory::perform_local(std::uint64_t) { return {}; }

}  // namespace weft::explain
