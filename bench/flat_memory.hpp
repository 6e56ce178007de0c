// SPDX-License-Identifier: Apache-2.0
// Registered memory at the least cost that still checks bounds: one region under one STag, and a receive whenever one
// is wanted. What is measured around it is then the engine's.
#pragma once

#include <cstring>
#include <vector>

#include "rdmap/memory.hpp"

namespace weft::bench {

class FlatMemory final : public rdmap::Memory {
 public:
  static constexpr std::uint32_t kStag = 7;  // and lkey; offsets and addresses count from the region's first octet

  explicit FlatMemory(std::size_t size) : octets_(size) {}

  [[nodiscard]] MutableBytes octets() noexcept { return octets_; }

  // --- ddp::Placement
  std::expected<void, ddp::AccessError> place_tagged(ddp::Stag stag, ddp::TaggedOffset offset, Bytes payload) override {
    return copy_to(remote(stag, offset, payload.size()), payload);
  }
  std::optional<ddp::ReceiveBuffer> take_receive() override { return ddp::ReceiveBuffer{1, octets_.size()}; }
  std::expected<void, ddp::LocalFault> place_untagged(const ddp::ReceiveBuffer&, std::uint64_t offset,
                                                      Bytes payload) override {
    return copy_to(local(offset, payload.size()), payload);
  }

  // --- rdmap::Memory
  std::expected<void, ddp::AccessError> check_read(ddp::Stag stag, ddp::TaggedOffset offset,
                                                   std::uint32_t length) override {
    return copy_to(remote(stag, offset, length), {});
  }
  std::expected<void, ddp::AccessError> read_tagged(ddp::Stag stag, ddp::TaggedOffset offset,
                                                    MutableBytes out) override {
    return copy_from(remote(stag, offset, out.size()), out);
  }
  std::expected<std::uint64_t, ddp::AccessError> atomic(ddp::Stag stag, ddp::TaggedOffset offset,
                                                        const rdmap::AtomicOperation& operation) override {
    const auto at = remote(stag, offset, 8);
    if (!at) return std::unexpected(at.error());
    std::uint64_t old{};
    std::memcpy(&old, *at, 8);
    const std::uint64_t fresh = old + operation.add_or_swap;
    std::memcpy(*at, &fresh, 8);
    return old;
  }
  std::expected<void, ddp::AccessError> invalidate(ddp::Stag) override { return {}; }
  std::expected<void, ddp::LocalFault> gather(rdmap::LocalSegments source, std::uint64_t offset,
                                              MutableBytes out) override {
    return copy_from(local(source[0].address + offset, out.size()), out);
  }
  bool borrow(rdmap::LocalSegments source, std::uint64_t offset, std::uint64_t length, std::span<Bytes> pieces,
              std::size_t& used) override {
    const auto from = local(source[0].address + offset, length);
    used = from && !pieces.empty() ? 1 : 0;
    if (used == 1) pieces[0] = {*from, static_cast<std::size_t>(length)};
    return used == 1;
  }
  std::expected<void, ddp::LocalFault> scatter(rdmap::LocalSegments sink, std::uint64_t offset,
                                               Bytes payload) override {
    return copy_to(local(sink[0].address + offset, payload.size()), payload);
  }
  std::expected<void, ddp::LocalFault> perform_local(std::uint64_t) override { return {}; }

 private:
  [[nodiscard]] bool holds(std::uint64_t offset, std::uint64_t length) const noexcept {
    return offset <= octets_.size() && length <= octets_.size() - offset;
  }
  [[nodiscard]] std::expected<std::byte*, ddp::AccessError> remote(ddp::Stag stag, ddp::TaggedOffset offset,
                                                                   std::uint64_t length) {
    if (stag.value != kStag) return std::unexpected(ddp::AccessError::kInvalidStag);
    if (!holds(offset.value, length)) return std::unexpected(ddp::AccessError::kBaseOrBounds);
    return octets_.data() + offset.value;
  }
  [[nodiscard]] std::expected<std::byte*, ddp::LocalFault> local(std::uint64_t offset, std::uint64_t length) {
    if (!holds(offset, length)) return std::unexpected(ddp::LocalFault::kBaseOrBounds);
    return octets_.data() + offset;
  }
  template <typename Error>
  static std::expected<void, Error> copy_to(std::expected<std::byte*, Error> to, Bytes from) {
    if (!to) return std::unexpected(to.error());
    if (!from.empty()) std::memcpy(*to, from.data(), from.size());
    return {};
  }
  template <typename Error>
  static std::expected<void, Error> copy_from(std::expected<std::byte*, Error> from, MutableBytes out) {
    if (!from) return std::unexpected(from.error());
    if (!out.empty()) std::memcpy(out.data(), *from, out.size());
    return {};
  }

  std::vector<std::byte> octets_;
};

}  // namespace weft::bench
