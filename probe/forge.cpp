// SPDX-License-Identifier: Apache-2.0
#include "probe/forge.hpp"

#include <algorithm>
#include <span>

#include "common/crc32c.hpp"
#include "mpa/errors.hpp"
#include "probe/field_writer.hpp"

namespace weft::probe {
namespace {

// Where the fields of a startup frame's fixed part lie (mpa/startup_frame.hpp has the figure).
constexpr std::size_t kFlagsAt = 16;
constexpr std::size_t kLengthAt = 18;
constexpr std::byte kEnhancedFlag{0x10};

std::uint16_t clipped_length(std::size_t ulpdu) noexcept {
  return static_cast<std::uint16_t>(std::min(ulpdu, mpa::kMaxUlpduLength));
}

}  // namespace

std::vector<std::byte> forge(mpa::FrameKind kind, const StartUp& start_up) {
  mpa::StartupFrame frame{.kind = kind,
                          .markers = start_up.markers,
                          .crc = start_up.crc,
                          .reject = start_up.reject,
                          .reserved = start_up.reserved,
                          .revision = start_up.revision,
                          .enhanced = start_up.enhanced};
  // The private data goes after by itself: there may be more of it than a frame may have.
  std::vector<std::byte> octets(frame.size());
  mpa::serialize(frame, octets);
  octets.insert(octets.end(), start_up.private_data.begin(), start_up.private_data.end());
  const std::size_t length = octets.size() - mpa::kFixedFrameSize;
  Be<kLengthAt, std::uint16_t>::put(octets, start_up.private_data_length.value_or(static_cast<std::uint16_t>(length)));
  if (start_up.key) std::ranges::copy(std::as_bytes(std::span(*start_up.key)), octets.begin());
  if (start_up.enhanced_flag)
    octets[kFlagsAt] = *start_up.enhanced_flag ? octets[kFlagsAt] | kEnhancedFlag : octets[kFlagsAt] & ~kEnhancedFlag;
  return octets;
}

std::vector<std::byte> Framer::fpdu(Bytes ulpdu, const FpduFault& fault) {
  FieldWriter bare;
  bare.put(fault.length.value_or(clipped_length(ulpdu.size()))).put(ulpdu);
  for (std::size_t pad = mpa::pad_size(ulpdu.size()); pad > 0; --pad)
    bare.put(std::to_integer<std::uint8_t>(fault.pad));
  const std::vector<std::byte> covered = std::move(bare).take();

  // A Marker stands wherever the stream's position is a multiple of 512, and belongs to the FPDU after or around it.
  std::vector<std::byte> out;
  std::optional<std::size_t> header;  // where the length field is, in `out`
  const auto marker_is_due = [&] {
    return framing_.markers && !fault.no_markers && mpa::octets_to_marker(position_ + out.size()) == 0;
  };
  std::size_t markers = 0;
  const auto put_marker = [&] {
    const std::size_t distance = header ? out.size() - *header : 0;
    const bool wrong = !fault.marker || *fault.marker == markers;
    ++markers;
    FieldWriter marker;
    marker.put(fault.marker_reserved)
        .put(static_cast<std::uint16_t>(wrong ? distance ^ fault.marker_pointer_xor : distance));
    const auto octets = std::move(marker).take();
    out.insert(out.end(), octets.begin(), octets.end());
  };
  for (const std::byte octet : covered) {
    if (marker_is_due()) put_marker();
    if (!header) header = out.size();
    out.push_back(octet);
  }
  if (marker_is_due()) put_marker();

  const std::uint32_t right = framing_.crc ? crc32c(out) : 0;
  std::array<std::byte, mpa::kCrcSize> crc{};
  mpa::CrcField::put(crc, fault.crc.value_or(right ^ fault.crc_xor));
  out.insert(out.end(), crc.begin(), crc.end());
  if (fault.flip) out[*fault.flip % out.size()] ^= std::byte{0xFF};
  position_ += out.size();
  return out;
}

FrameReader::FrameReader(mpa::Framing framing) noexcept : receiver_(framing) {}

std::expected<std::optional<FrameReader::Taken>, std::string> FrameReader::take(MutableBytes octets) {
  const auto taken = receiver_.next(octets);
  if (!taken) {
    const bool crc = taken.error().fault == mpa::Fault::kCrcMismatch;
    return std::unexpected(crc ? "the CRC of the peer's FPDU is wrong"
                               : "a Marker of the peer's does not point to the beginning of its FPDU");
  }
  if (!*taken) return std::nullopt;
  const mpa::Fpdu& fpdu = **taken;
  return Taken{.ulpdu = {fpdu.ulpdu.begin(), fpdu.ulpdu.end()}, .consumed = fpdu.consumed};
}

}  // namespace weft::probe
