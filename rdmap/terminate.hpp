// SPDX-License-Identifier: Apache-2.0
// The Terminate message, RFC 5040 section 4.8: the last message of a direction, saying what went wrong and where.
#pragma once

#include <array>
#include <cstdint>
#include <expected>
#include <optional>

#include "ddp/header.hpp"
#include "rdmap/errors.hpp"
#include "rdmap/read_request.hpp"

namespace weft::rdmap {

//  octet 0: Layer 4 bits, EType 4   1: Error Code   2: M D R, reserved 5   3: reserved              (RDMAP-4.8-04)
//  then, each only if its bit says so and without padding (RDMAP-4.8-02):
//  DDP Segment Length 2 (M or D) | Terminated DDP Header 14 or 18 (D) | Terminated RDMA Header 28 (R)
struct TerminateLayout {
  using LayerAndType = Be<0, std::uint8_t>;
  using Code = Be<1, std::uint8_t>;
  using HeaderBits = Be<2, std::uint8_t>;
  using Reserved = Be<3, std::uint8_t>;
  using SegmentLength = Be<4, std::uint16_t>;
  static constexpr std::uint8_t kLengthValid = 0x80;  // M
  static constexpr std::uint8_t kDdpHeader = 0x40;    // D
  static constexpr std::uint8_t kRdmaHeader = 0x20;   // R
  static constexpr std::size_t kShortest = Reserved::end;
  static constexpr std::size_t kDdpHeaderAt = SegmentLength::end;
  static constexpr std::size_t kLongest = kDdpHeaderAt + ddp::UntaggedLayout::kSize + ReadRequestLayout::kSize;
};
static_assert(TerminateLayout::kShortest == 4 && TerminateLayout::kLongest == 52);

// A DDP header kept octet by octet: it is quoted as it came, wrong version and reserved bits included (RDMAP-4.8-15).
class HeaderCopy {
 public:
  constexpr HeaderCopy() noexcept = default;
  explicit constexpr HeaderCopy(const ddp::Header& header) noexcept : size_(ddp::serialize(header, octets_)) {}

  // The header at the front of a ULPDU; its T bit tells the size. Empty when the ULPDU is too short to have one.
  [[nodiscard]] static std::optional<HeaderCopy> front_of(Bytes ulpdu) noexcept;

  [[nodiscard]] constexpr Bytes octets() const noexcept { return Bytes(octets_).first(size_); }

 private:
  std::array<std::byte, ddp::UntaggedLayout::kSize> octets_{};
  std::size_t size_ = 0;
};

// The segment that an error is about. Kept with each request, whose ULPDU is long gone when answering it fails.
struct SegmentInError {
  std::optional<HeaderCopy> header{};
  std::uint16_t length{};  // of the ULPDU, DDP header included (RDMAP-4.8-13; section 7.1 says "ULP PDU Length")
  std::optional<ReadRequest> read_request{};  // what is left of it, see remainder()
};
[[nodiscard]] SegmentInError segment_in_error(Bytes ulpdu) noexcept;

struct Terminate {
  ErrorCode error{};
  std::optional<std::uint16_t> segment_length{};
  std::optional<HeaderCopy> ddp_header{};
  std::optional<ReadRequest> read_request{};
};

// Chooses by figure 10 and section 7.1 what to quote. Without a segment (a fault of our own) nothing is quoted.
[[nodiscard]] Terminate make_terminate(const ErrorCode& error, const SegmentInError* segment = nullptr) noexcept;

// Writes the message's payload to the front of `out`, which has room for TerminateLayout::kLongest, and returns its
// size.
std::size_t serialize(const Terminate& message, MutableBytes out) noexcept;

// A Terminate from a peer. Linux siw swaps the nibbles of octet 0 and puts M, D and R in the lowest bits of octet 2, so
// the same octets can have two readings; both are given, and which one the evidence favours.
struct TerminateReport {
  Terminate as_rfc{};                 // the reading of RFC 5040
  std::optional<Terminate> as_siw{};  // siw's reading, where it names an error that exists
  bool siw_layout{};                  // it has siw's header bits and none of the RFC's; or makes sense as siw's only
  [[nodiscard]] constexpr const Terminate& meant() const noexcept { return siw_layout && as_siw ? *as_siw : as_rfc; }
};

// Tolerant: headers are taken only as far as there are octets, reserved bits are ignored (RDMAP-4.8-12) except as
// evidence for siw's layout. Refuses fewer than 4 octets. Never answer a Terminate with a Terminate.
[[nodiscard]] std::expected<TerminateReport, OperationError> parse_terminate(Bytes payload) noexcept;

}  // namespace weft::rdmap
