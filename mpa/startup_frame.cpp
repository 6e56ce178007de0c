// SPDX-License-Identifier: Apache-2.0
#include "mpa/startup_frame.hpp"

#include <algorithm>
#include <string_view>

namespace weft::mpa {
namespace {

struct Layout {
  using Flags = Be<16, std::uint8_t>;
  using Revision = Be<17, std::uint8_t>;
  using PdLength = Be<18, std::uint16_t>;
};
static_assert(Layout::PdLength::end == kFixedFrameSize);

struct Flag {
  static constexpr std::uint8_t kMarkers = 0x80;
  static constexpr std::uint8_t kCrc = 0x40;
  static constexpr std::uint8_t kReject = 0x20;
  static constexpr std::uint8_t kEnhanced = 0x10;  // S, from revision 2 on
  static constexpr std::uint8_t kReservedV1 = 0x1f;
  static constexpr std::uint8_t kReservedV2 = 0x0f;
};

// MPA2-9-01, MPA2-9-02: two 16-bit words, each with two flags above a 14-bit depth.
struct EnhancedLayout {
  using IrdWord = Be<0, std::uint16_t>;
  using OrdWord = Be<2, std::uint16_t>;
  static constexpr std::uint16_t kUpperFlag = 0x8000;  // A, C
  static constexpr std::uint16_t kLowerFlag = 0x4000;  // B, D
  static constexpr std::uint16_t kDepth = 0x3fff;
};
static_assert(EnhancedLayout::OrdWord::end == kEnhancedDataSize);

constexpr std::uint8_t kFirstEnhancedRevision = 2;  // MPA2-6-07

constexpr std::string_view key_of(FrameKind kind) noexcept {
  switch (kind) {
    case FrameKind::kRequest: return "MPA ID Req Frame";  // MPA-7.1.1-02
    case FrameKind::kReply: return "MPA ID Rep Frame";    // MPA-7.1.1-04
  }
  return {};
}
static_assert(key_of(FrameKind::kRequest).size() == kKeySize && key_of(FrameKind::kReply).size() == kKeySize);

// Do the octets that are there, at most 16, agree with the key?
bool agrees_with_key(Bytes octets, FrameKind kind) noexcept {
  const auto key = std::as_bytes(std::span(key_of(kind)));
  return std::ranges::equal(octets.first(std::min(octets.size(), kKeySize)),
                            key.first(std::min(octets.size(), kKeySize)));
}

bool has_enhanced_data(Bytes octets) noexcept {
  return (Layout::Flags::get(octets) & Flag::kEnhanced) != 0 && Layout::Revision::get(octets) >= kFirstEnhancedRevision;
}

// The verdict on what has arrived of the key. It never depends on how the octets were cut.
std::optional<Fault> key_fault(Bytes octets, FrameKind expected) noexcept {
  if (agrees_with_key(octets, expected)) return std::nullopt;
  // A clash is called so only when the whole key says it (MPA-7.1-09, MPA-7.1.2-25); a Reply out of place is just a bad
  // key.
  if (expected == FrameKind::kReply && agrees_with_key(octets, FrameKind::kRequest)) {
    return octets.size() < kKeySize ? std::nullopt : std::optional(Fault::kRoleClash);
  }
  return Fault::kBadKey;  // MPA-7.1.1-03, MPA-7.1.1-05, MPA-7.1.2-18
}

// `octets` holds the fixed part.
std::optional<Fault> length_fault(Bytes octets) noexcept {
  const std::size_t length = Layout::PdLength::get(octets);
  if (length > kMaxPrivateData) return Fault::kPrivateDataTooLong;  // MPA-7.1.1-26, MPA-7.1.2-27, MPA-7.1.2-28
  if (has_enhanced_data(octets) && length < kEnhancedDataSize) return Fault::kEnhancedDataMissing;  // MPA2-6-11
  return std::nullopt;
}

EnhancedData parse_enhanced(Bytes octets) noexcept {
  using L = EnhancedLayout;
  const std::uint16_t ird = L::IrdWord::get(octets);
  const std::uint16_t ord = L::OrdWord::get(octets);
  return {.peer_to_peer = (ird & L::kUpperFlag) != 0,
          .rtr = {.send = (ird & L::kLowerFlag) != 0,
                  .write = (ord & L::kUpperFlag) != 0,
                  .read = (ord & L::kLowerFlag) != 0},
          .ird = static_cast<std::uint16_t>(ird & L::kDepth),
          .ord = static_cast<std::uint16_t>(ord & L::kDepth)};
}

std::uint16_t word(bool upper, bool lower, std::uint16_t depth) noexcept {
  using L = EnhancedLayout;
  return static_cast<std::uint16_t>((upper ? L::kUpperFlag : 0) | (lower ? L::kLowerFlag : 0) | (depth & L::kDepth));
}

void serialize_enhanced(const EnhancedData& data, MutableBytes room) noexcept {
  EnhancedLayout::IrdWord::put(room, word(data.peer_to_peer, data.rtr.send, data.ird));
  EnhancedLayout::OrdWord::put(room, word(data.rtr.write, data.rtr.read, data.ord));
}

std::uint8_t flags_of(const StartupFrame& frame) noexcept {
  return static_cast<std::uint8_t>((frame.markers ? Flag::kMarkers : 0) | (frame.crc ? Flag::kCrc : 0) |
                                   (frame.reject ? Flag::kReject : 0) | (frame.enhanced ? Flag::kEnhanced : 0) |
                                   frame.reserved);
}

// `octets` holds the whole frame, and it is well-formed.
StartupFrame parse_complete(Bytes octets) noexcept {
  const std::uint8_t flags = Layout::Flags::get(octets);
  const std::uint8_t revision = Layout::Revision::get(octets);
  StartupFrame frame{.kind = *frame_kind(octets),
                     .markers = (flags & Flag::kMarkers) != 0,
                     .crc = (flags & Flag::kCrc) != 0,
                     .reject = (flags & Flag::kReject) != 0,
                     .reserved = static_cast<std::uint8_t>(
                         flags & (revision < kFirstEnhancedRevision ? Flag::kReservedV1 : Flag::kReservedV2)),
                     .revision = revision,
                     .enhanced = {},
                     .private_data = octets.subspan(kFixedFrameSize, Layout::PdLength::get(octets))};
  if (has_enhanced_data(octets)) {  // MPA2-6-03
    frame.enhanced = parse_enhanced(frame.private_data);
    frame.private_data = frame.private_data.subspan(kEnhancedDataSize);
  }
  return frame;
}

}  // namespace

std::optional<FrameKind> frame_kind(Bytes octets) noexcept {
  if (octets.size() < kKeySize) return std::nullopt;
  for (const FrameKind kind : {FrameKind::kRequest, FrameKind::kReply}) {
    if (agrees_with_key(octets, kind)) return kind;
  }
  return std::nullopt;
}

std::size_t missing_octets(Bytes octets) noexcept {
  if (octets.size() < kFixedFrameSize) return kFixedFrameSize - octets.size();
  const std::size_t size = kFixedFrameSize + Layout::PdLength::get(octets);  // MPA-7.1.1-23, MPA2-6-10
  return size > octets.size() ? size - octets.size() : 0;
}

std::expected<std::optional<StartupFrame>, Fault> parse_startup_frame(Bytes octets, FrameKind expected) noexcept {
  if (const auto fault = key_fault(octets, expected)) return std::unexpected(*fault);
  if (octets.size() < kFixedFrameSize) return std::nullopt;
  if (const auto fault = length_fault(octets)) return std::unexpected(*fault);
  if (missing_octets(octets) > 0) return std::nullopt;
  return parse_complete(octets);
}

std::size_t serialize(const StartupFrame& frame, MutableBytes room) noexcept {
  std::ranges::copy(std::as_bytes(std::span(key_of(frame.kind))), room.begin());
  Layout::Flags::put(room, flags_of(frame));
  Layout::Revision::put(room, frame.revision);
  Layout::PdLength::put(room, static_cast<std::uint16_t>(frame.size() - kFixedFrameSize));
  MutableBytes rest = room.subspan(kFixedFrameSize);
  if (frame.enhanced) {
    serialize_enhanced(*frame.enhanced, rest);
    rest = rest.subspan(kEnhancedDataSize);
  }
  std::ranges::copy(frame.private_data, rest.begin());
  return frame.size();
}

}  // namespace weft::mpa
