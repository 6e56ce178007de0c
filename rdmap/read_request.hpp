// SPDX-License-Identifier: Apache-2.0
/// @file
/// The RDMA Read Request header (RFC 5040 section 4.4).
#pragma once

#include <cstdint>
#include <expected>

#include "ddp/header.hpp"
#include "rdmap/errors.hpp"

namespace weft::rdmap {

/// Describes the header, 28 octets after the DDP header: | SinkSTag 4 | SinkTO 8 | RDMARDSZ 4 | SrcSTag 4 | SrcTO 8 |
/// (RDMAP-4.4-01)
struct ReadRequestLayout {
  using SinkStag = Be<0, std::uint32_t>;
  using SinkTo = Be<4, std::uint64_t>;
  using Size = Be<12, std::uint32_t>;
  using SourceStag = Be<16, std::uint32_t>;
  using SourceTo = Be<20, std::uint64_t>;
  static constexpr std::size_t kSize = SourceTo::end;
};
static_assert(ReadRequestLayout::kSize == 28);

/// Holds an RDMA Read Request.
struct ReadRequest {
  /// Sink, which the responder copies to its Response unchecked, as it does sink_offset (RDMAP-4.4-03, RDMAP-4.4-04).
  ddp::Stag sink_stag{};
  ddp::TaggedOffset sink_offset{};
  std::uint32_t size{};  ///< octets to read; 0 is legal and validates nothing (RDMAP-5.2.1-14)
  ddp::Stag source_stag{};
  ddp::TaggedOffset source_offset{};
  constexpr bool operator==(const ReadRequest&) const = default;
};

/// Parses a Read Request, which has no octets besides its header (RDMAP-4.2-02). The RFC has no code for a wrong
/// length.
[[nodiscard]] constexpr std::expected<ReadRequest, OperationError> parse_read_request(Bytes payload) noexcept {
  using L = ReadRequestLayout;
  if (payload.size() != L::kSize) return std::unexpected(OperationError::kUnspecified);
  return ReadRequest{{L::SinkStag::get(payload)},
                     {L::SinkTo::get(payload)},
                     L::Size::get(payload),
                     {L::SourceStag::get(payload)},
                     {L::SourceTo::get(payload)}};
}

/// Writes the header to the front of `out`, which must be large enough, and returns its size.
constexpr std::size_t serialize(const ReadRequest& request, MutableBytes out) noexcept {
  using L = ReadRequestLayout;
  L::SinkStag::put(out, request.sink_stag.value);
  L::SinkTo::put(out, request.sink_offset.value);
  L::Size::put(out, request.size);
  L::SourceStag::put(out, request.source_stag.value);
  L::SourceTo::put(out, request.source_offset.value);
  return L::kSize;
}

/// Returns the rest of a request of which `sent` octets were answered, as a Terminate describes it (RDMAP-4.8-20,
/// RDMAP-4.8-21).
[[nodiscard]] constexpr ReadRequest remainder(const ReadRequest& request, std::uint32_t sent) noexcept {
  ReadRequest left = request;
  left.sink_offset.value += sent;
  left.source_offset.value += sent;
  left.size -= sent;
  return left;
}

}  // namespace weft::rdmap
