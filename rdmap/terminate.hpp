// SPDX-License-Identifier: Apache-2.0
/// @file
/// The Terminate message (RFC 5040 section 4.8): the last message of a direction, which describes an error and its
/// place.
#pragma once

#include <array>
#include <cstdint>
#include <expected>
#include <optional>

#include "ddp/header.hpp"
#include "rdmap/errors.hpp"
#include "rdmap/read_request.hpp"

namespace weft::rdmap {

/// Describes the message (RDMAP-4.8-04).
///
///     octet 0: Layer 4 bits, EType 4   1: Error Code   2: M D R, reserved 5   3: reserved
///
/// Each of the following fields is present only if its bit is set, without padding (RDMAP-4.8-02):
///
///     DDP Segment Length 2 (M or D) | Terminated DDP Header 14 or 18 (D) | Terminated RDMA Header 28 (R)
struct TerminateLayout {
  using LayerAndType = Be<0, std::uint8_t>;
  using Code = Be<1, std::uint8_t>;
  using HeaderBits = Be<2, std::uint8_t>;
  using Reserved = Be<3, std::uint8_t>;
  using SegmentLength = Be<4, std::uint16_t>;
  static constexpr std::uint8_t kLengthValid = 0x80;  ///< M: the DDP Segment Length is valid
  static constexpr std::uint8_t kDdpHeader = 0x40;    ///< D: a DDP header follows
  static constexpr std::uint8_t kRdmaHeader = 0x20;   ///< R: an RDMA header follows
  static constexpr std::size_t kShortest = Reserved::end;
  static constexpr std::size_t kDdpHeaderAt = SegmentLength::end;
  static constexpr std::size_t kLongest = kDdpHeaderAt + ddp::UntaggedLayout::kSize + ReadRequestLayout::kSize;
};
static_assert(TerminateLayout::kShortest == 4 && TerminateLayout::kLongest == 52);

/// Holds a copy of a DDP header octet by octet: it is quoted as received, including a wrong version and reserved bits
/// (RDMAP-4.8-15).
class HeaderCopy {
 public:
  constexpr HeaderCopy() noexcept = default;
  explicit constexpr HeaderCopy(const ddp::Header& header) noexcept : size_(ddp::serialize(header, octets_)) {}

  /// Returns the header at the front of a ULPDU, whose size the T bit determines. Returns nothing if the ULPDU is too
  /// short.
  [[nodiscard]] static std::optional<HeaderCopy> front_of(Bytes ulpdu) noexcept;

  /// Returns the octets of the header.
  [[nodiscard]] constexpr Bytes octets() const noexcept { return Bytes(octets_).first(size_); }

 private:
  std::array<std::byte, ddp::UntaggedLayout::kSize> octets_{};
  std::size_t size_ = 0;
};

/// Describes the segment that an error refers to. It is kept with each request, because the ULPDU no longer exists when
/// answering fails.
struct SegmentInError {
  std::optional<HeaderCopy> header{};
  /// Length of the ULPDU, including the DDP header (RDMAP-4.8-13; section 7.1 says "ULP PDU Length").
  std::uint16_t length{};
  std::optional<ReadRequest> read_request{};  ///< rest of the Read Request, see remainder()
};
/// Returns the description of a ULPDU.
[[nodiscard]] SegmentInError segment_in_error(Bytes ulpdu) noexcept;

/// Holds the content of a Terminate message.
struct Terminate {
  ErrorCode error{};
  std::optional<std::uint16_t> segment_length{};
  std::optional<HeaderCopy> ddp_header{};
  std::optional<ReadRequest> read_request{};
};

/// Returns the Terminate message for an error. Figure 10 and section 7.1 determine what is quoted. Without a segment (a
/// local fault), nothing is quoted.
[[nodiscard]] Terminate make_terminate(const ErrorCode& error, const SegmentInError* segment = nullptr) noexcept;

/// Writes the payload of the message to the front of `out`, which must hold TerminateLayout::kLongest octets, and
/// returns its size.
std::size_t serialize(const Terminate& message, MutableBytes out) noexcept;

/// Holds a Terminate message of a peer.
/// Linux siw swaps the nibbles of octet 0 and has M, D and R in the lowest bits of octet 2, so the same octets may have
/// two readings. Both are returned, and which one is more likely.
struct TerminateReport {
  Terminate as_rfc{};                 ///< reading according to RFC 5040
  std::optional<Terminate> as_siw{};  ///< reading according to siw, if it names an error that exists
  /// The message has the header bits of siw and none of the RFC, or is only valid in the reading of siw.
  bool siw_layout{};
  /// Returns the more likely reading.
  [[nodiscard]] constexpr const Terminate& meant() const noexcept { return siw_layout && as_siw ? *as_siw : as_rfc; }
};

/// Parses a Terminate message tolerantly: headers are read as far as there are octets, and reserved bits are ignored
/// (RDMAP-4.8-12), except as evidence of the siw layout.
/// Fails for fewer than 4 octets. Never answer a Terminate with a Terminate.
[[nodiscard]] std::expected<TerminateReport, OperationError> parse_terminate(Bytes payload) noexcept;

}  // namespace weft::rdmap
