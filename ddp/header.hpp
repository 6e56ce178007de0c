// SPDX-License-Identifier: Apache-2.0
/// @file
/// The DDP header (RFC 5041 section 4). Only this file contains its layout.
#pragma once

#include <cstdint>
#include <expected>
#include <optional>
#include <variant>

#include "common/wire.hpp"

namespace weft::ddp {

/// Represents an STag.
using Stag = Strong<struct StagTag, std::uint32_t>;
/// Represents a tagged offset (TO).
using TaggedOffset = Strong<struct TaggedOffsetTag, std::uint64_t>;
/// Represents a message sequence number (MSN).
using Msn = Strong<struct MsnTag, std::uint32_t>;
/// Represents a message offset (MO).
using MessageOffset = Strong<struct MessageOffsetTag, std::uint32_t>;

/// Describes the control octet, with which both headers begin (RFC 5041 section 4.1).
///
///     bit  0   1   2 3 4 5   6 7
///        +---+---+---------+-----+
///        | T | L |  Rsvd   | DV  |     T tagged, L last segment, DV version
///        +---+---+---------+-----+
struct Control {
  static constexpr std::uint8_t kTagged = 0x80;
  static constexpr std::uint8_t kLast = 0x40;
  static constexpr std::uint8_t kVersionMask = 0x03;
  static constexpr std::uint8_t kVersion = 1;
};

/// Describes the tagged header (section 4.2), 14 octets: | control 1 | RsvdULP 1 | STag 4 | TO 8 |
struct TaggedLayout {
  using Ctrl = Be<0, std::uint8_t>;
  using RsvdUlp = Be<1, std::uint8_t>;
  using StagField = Be<2, std::uint32_t>;
  using ToField = Be<6, std::uint64_t>;
  static constexpr std::size_t kSize = ToField::end;
};
static_assert(TaggedLayout::kSize == 14);

/// Describes the untagged header (section 4.3), 18 octets: | control 1 | RsvdULP 1 + 4 | QN 4 | MSN 4 | MO 4 |
struct UntaggedLayout {
  using Ctrl = Be<0, std::uint8_t>;
  using RsvdUlp = Be<1, std::uint8_t>;
  using RsvdUlpWord = Be<2, std::uint32_t>;
  using QnField = Be<6, std::uint32_t>;
  using MsnField = Be<10, std::uint32_t>;
  using MoField = Be<14, std::uint32_t>;
  static constexpr std::size_t kSize = MoField::end;
};
static_assert(UntaggedLayout::kSize == 18);

/// Holds a tagged header.
struct TaggedHeader {
  bool last{};
  std::uint8_t rsvd_ulp{};
  Stag stag{};
  TaggedOffset offset{};
  bool operator==(const TaggedHeader&) const = default;
};

/// Holds an untagged header.
struct UntaggedHeader {
  bool last{};
  std::uint8_t rsvd_ulp{};
  std::uint32_t rsvd_ulp_word{};
  std::uint32_t queue{};  ///< queue number as received, any value; ddp/untagged_queues defines the valid ones
  Msn msn{};
  MessageOffset offset{};
  bool operator==(const UntaggedHeader&) const = default;
};

/// Holds a header of either kind.
using Header = std::variant<TaggedHeader, UntaggedHeader>;

/// Identifies why a header is invalid.
enum class HeaderError : std::uint8_t {
  kTooShort,        ///< fewer octets than the header has (DDP-4-01)
  kTaggedVersion,   ///< wrong version of a tagged header: Terminate 1/1/04
  kUntaggedVersion  ///< wrong version of an untagged header: Terminate 1/2/06
};

/// Returns why the header at the front of a ULPDU is invalid; nothing if it is valid.
[[nodiscard]] constexpr std::optional<HeaderError> find_error(Bytes ulpdu) noexcept {
  if (ulpdu.empty()) return HeaderError::kTooShort;
  const auto control = TaggedLayout::Ctrl::get(ulpdu);
  const bool tagged = (control & Control::kTagged) != 0;
  if (ulpdu.size() < (tagged ? TaggedLayout::kSize : UntaggedLayout::kSize)) return HeaderError::kTooShort;
  if ((control & Control::kVersionMask) == Control::kVersion) return std::nullopt;
  return tagged ? HeaderError::kTaggedVersion : HeaderError::kUntaggedVersion;
}

/// Reads a complete header, whatever its version, into `header`. Reserved bits are ignored (DDP-4.1-12).
constexpr void read(Bytes ulpdu, Header& header) noexcept {
  const auto control = TaggedLayout::Ctrl::get(ulpdu);
  const bool last = (control & Control::kLast) != 0;
  if ((control & Control::kTagged) != 0) {
    using L = TaggedLayout;
    header.emplace<TaggedHeader>(last, L::RsvdUlp::get(ulpdu), Stag{L::StagField::get(ulpdu)},
                                 TaggedOffset{L::ToField::get(ulpdu)});
  } else {
    using L = UntaggedLayout;
    header.emplace<UntaggedHeader>(last, L::RsvdUlp::get(ulpdu), L::RsvdUlpWord::get(ulpdu), L::QnField::get(ulpdu),
                                   Msn{L::MsnField::get(ulpdu)}, MessageOffset{L::MoField::get(ulpdu)});
  }
}
/// Reads a complete header, whatever its version.
[[nodiscard]] constexpr Header read(Bytes ulpdu) noexcept {
  Header header;
  read(ulpdu, header);
  return header;
}

/// Parses the header at the front of a ULPDU. The payload is `ulpdu.subspan(header_size(header))`.
[[nodiscard]] constexpr std::expected<Header, HeaderError> parse(Bytes ulpdu) noexcept {
  if (const auto error = find_error(ulpdu)) return std::unexpected(*error);
  return read(ulpdu);
}

/// Returns the size of the header in octets, which is the offset of the payload in the ULPDU. There is no length field:
/// the length of MPA determines the end of the payload (DDP-3-08).
[[nodiscard]] constexpr std::size_t header_size(const Header& header) noexcept {
  return std::holds_alternative<TaggedHeader>(header) ? TaggedLayout::kSize : UntaggedLayout::kSize;
}

/// Returns the control octet to send: reserved bits zero (DDP-4.1-11), version 1 (DDP-4.1-13).
[[nodiscard]] constexpr std::uint8_t control_octet(bool tagged, bool last) noexcept {
  return static_cast<std::uint8_t>((tagged ? Control::kTagged : 0) | (last ? Control::kLast : 0) | Control::kVersion);
}

/// Writes the header to the front of `out`, which must be large enough, and returns its size.
constexpr std::size_t serialize(const TaggedHeader& header, MutableBytes out) noexcept {
  using L = TaggedLayout;
  L::Ctrl::put(out, control_octet(true, header.last));
  L::RsvdUlp::put(out, header.rsvd_ulp);  // DDP-4.2-04
  L::StagField::put(out, header.stag.value);
  L::ToField::put(out, header.offset.value);
  return L::kSize;
}

constexpr std::size_t serialize(const UntaggedHeader& header, MutableBytes out) noexcept {
  using L = UntaggedLayout;
  L::Ctrl::put(out, control_octet(false, header.last));
  L::RsvdUlp::put(out, header.rsvd_ulp);  // DDP-4.3-04, with the word below
  L::RsvdUlpWord::put(out, header.rsvd_ulp_word);
  L::QnField::put(out, header.queue);
  L::MsnField::put(out, header.msn.value);
  L::MoField::put(out, header.offset.value);
  return L::kSize;
}

constexpr std::size_t serialize(const Header& header, MutableBytes out) noexcept {
  return std::visit([out](const auto& h) { return serialize(h, out); }, header);
}

}  // namespace weft::ddp
