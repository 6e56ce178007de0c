// SPDX-License-Identifier: Apache-2.0
// The DDP header, RFC 5041 section 4. This file is the only place that knows its layout.
#pragma once

#include <cstdint>
#include <expected>
#include <optional>
#include <variant>

#include "common/wire.hpp"

namespace weft::ddp {

using Stag = Strong<struct StagTag, std::uint32_t>;
using TaggedOffset = Strong<struct TaggedOffsetTag, std::uint64_t>;
using Msn = Strong<struct MsnTag, std::uint32_t>;
using MessageOffset = Strong<struct MessageOffsetTag, std::uint32_t>;

// RFC 5041 section 4.1: one control octet opens both headers.
//
//   bit  0   1   2 3 4 5   6 7
//      +---+---+---------+-----+
//      | T | L |  Rsvd   | DV  |     T tagged, L last segment, DV version
//      +---+---+---------+-----+
struct Control {
  static constexpr std::uint8_t kTagged = 0x80;
  static constexpr std::uint8_t kLast = 0x40;
  static constexpr std::uint8_t kVersionMask = 0x03;
  static constexpr std::uint8_t kVersion = 1;
};

// Section 4.2, 14 octets:  | control 1 | RsvdULP 1 | STag 4 | TO 8 |
struct TaggedLayout {
  using Ctrl = Be<0, std::uint8_t>;
  using RsvdUlp = Be<1, std::uint8_t>;
  using StagField = Be<2, std::uint32_t>;
  using ToField = Be<6, std::uint64_t>;
  static constexpr std::size_t kSize = ToField::end;
};
static_assert(TaggedLayout::kSize == 14);

// Section 4.3, 18 octets:  | control 1 | RsvdULP 1 + 4 | QN 4 | MSN 4 | MO 4 |
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

struct TaggedHeader {
  bool last{};
  std::uint8_t rsvd_ulp{};
  Stag stag{};
  TaggedOffset offset{};
  bool operator==(const TaggedHeader&) const = default;
};

struct UntaggedHeader {
  bool last{};
  std::uint8_t rsvd_ulp{};
  std::uint32_t rsvd_ulp_word{};
  std::uint32_t queue{};  // any value may arrive; ddp/untagged_queues decides which exist
  Msn msn{};
  MessageOffset offset{};
  bool operator==(const UntaggedHeader&) const = default;
};

using Header = std::variant<TaggedHeader, UntaggedHeader>;

enum class HeaderError : std::uint8_t {
  kTooShort,        // DDP-4-01: fewer octets than the header has
  kTaggedVersion,   // Terminate 1/1/04
  kUntaggedVersion  // Terminate 1/2/06
};

// Why there is no header to be read at the front of a ULPDU, if so.
[[nodiscard]] constexpr std::optional<HeaderError> find_error(Bytes ulpdu) noexcept {
  if (ulpdu.empty()) return HeaderError::kTooShort;
  const auto control = TaggedLayout::Ctrl::get(ulpdu);
  const bool tagged = (control & Control::kTagged) != 0;
  if (ulpdu.size() < (tagged ? TaggedLayout::kSize : UntaggedLayout::kSize)) return HeaderError::kTooShort;
  if ((control & Control::kVersionMask) == Control::kVersion) return std::nullopt;
  return tagged ? HeaderError::kTaggedVersion : HeaderError::kUntaggedVersion;
}

// Reads a header that is all there, whatever its version, field by field into where it is wanted. Reserved bits are not
// looked at (DDP-4.1-12).
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
[[nodiscard]] constexpr Header read(Bytes ulpdu) noexcept {
  Header header;
  read(ulpdu, header);
  return header;
}

// Parses the header at the front of a ULPDU. The payload is `ulpdu.subspan(header_size(header))`.
[[nodiscard]] constexpr std::expected<Header, HeaderError> parse(Bytes ulpdu) noexcept {
  if (const auto error = find_error(ulpdu)) return std::unexpected(*error);
  return read(ulpdu);
}

// Octets of the header, and so the place in the ULPDU where the payload begins. There is no length field: the payload
// is what MPA's length leaves (DDP-3-08).
[[nodiscard]] constexpr std::size_t header_size(const Header& header) noexcept {
  return std::holds_alternative<TaggedHeader>(header) ? TaggedLayout::kSize : UntaggedLayout::kSize;
}

// The control octet that we send: reserved bits zero (DDP-4.1-11), version 1 (DDP-4.1-13).
[[nodiscard]] constexpr std::uint8_t control_octet(bool tagged, bool last) noexcept {
  return static_cast<std::uint8_t>((tagged ? Control::kTagged : 0) | (last ? Control::kLast : 0) | Control::kVersion);
}

// Writes the header to the front of `out`, which has room for it, and returns its size.
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
