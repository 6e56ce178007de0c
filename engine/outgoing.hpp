// SPDX-License-Identifier: Apache-2.0
// One outgoing RDMA Message: its DDP segments, and where its payload comes from.
#pragma once

#include <algorithm>
#include <array>
#include <cstdint>
#include <variant>

#include "ddp/segmenter.hpp"
#include "rdmap/atomic_messages.hpp"
#include "rdmap/terminate.hpp"

namespace weft::engine {

// Payload that RDMAP itself makes: request and response headers, Immediate Data, Terminate.
struct OwnOctets {
  static constexpr std::size_t kCapacity =
      std::max(rdmap::AtomicRequestLayout::kSize, rdmap::TerminateLayout::kLongest);
  std::array<std::byte, kCapacity> octets{};
};
// The gather list or inline octets of a work request.
struct FromWorkRequest {
  std::uint64_t ticket{};
};
// The source buffer of a peer's RDMA Read.
struct FromTaggedBuffer {
  ddp::Stag stag{};
  ddp::TaggedOffset offset{};
};

using PayloadSource = std::variant<OwnOctets, FromWorkRequest, FromTaggedBuffer>;

struct OutgoingMessage {
  using Segments = std::variant<ddp::TaggedSegmenter, ddp::UntaggedSegmenter>;
  enum class Purpose : std::uint8_t { kWorkRequest, kResponse, kTerminate };

  Purpose purpose{};
  std::uint64_t ticket{};  // kWorkRequest
  Segments segments{};
  PayloadSource source{};

  [[nodiscard]] const ddp::MessageCut& progress() const noexcept {
    return std::visit([](const auto& s) -> const ddp::MessageCut& { return s.progress(); }, segments);
  }
  [[nodiscard]] std::uint32_t next_size(std::uint32_t mulpdu) const noexcept {
    return std::visit([mulpdu](const auto& s) { return s.next_size(mulpdu); }, segments);
  }
  // Writes the next segment's header to `out`; says which octets of the payload follow it.
  struct Piece {
    std::size_t header_size{};
    std::uint32_t offset{};
    std::uint32_t length{};
  };
  Piece next(std::uint32_t mulpdu, MutableBytes out) noexcept { return next(segments, mulpdu, out); }
  static Piece next(Segments& segments, std::uint32_t mulpdu, MutableBytes out) noexcept {
    return std::visit(
        [&](auto& s) {
          const auto segment = s.next(mulpdu);
          return Piece{ddp::serialize(segment.header, out), segment.offset, segment.length};
        },
        segments);
  }
};

}  // namespace weft::engine
