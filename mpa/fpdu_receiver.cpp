// SPDX-License-Identifier: Apache-2.0
#include "mpa/fpdu_receiver.hpp"

#include <algorithm>
#include <cstring>

#include "common/crc32c.hpp"

namespace weft::mpa {
namespace {

// MPA-4.4-14, MPA-4.4-15, MPA-4.4-16: everything that belongs to the FPDU but the CRC field, in the order and with the
// values in which it arrived; so Markers need no special care, not even their reserved bits (MPA-4.2-03, MPA-4.2-06).
bool crc_matches(Bytes fpdu, const Landed& landed) noexcept {
  const Bytes covered = fpdu.first(fpdu.size() - kCrcSize);
  Crc32c crc;
  if (landed.octets.empty()) {
    crc.update(covered);
  } else {
    const std::size_t behind = landed.at + landed.octets.size();
    crc.update(covered.first(landed.at)).update(landed.octets).update(covered.subspan(behind));
  }
  return crc.value() == CrcField::get(fpdu.subspan(covered.size()));
}

// MPA-5.2-02, MPA-8-06: each Marker tells its distance from the length field (a leading one tells zero), and all of
// them have to agree with where the lengths say that the FPDU begins. Offsets count within the FPDU, so no sequence
// number can wrap (MPA-4.3-06). A length field beyond what senders may use can give distances beyond 16 bits; those
// wrap.
bool markers_agree(Bytes fpdu, std::size_t header, std::size_t first_marker) noexcept {
  for (std::size_t at = first_marker; at < fpdu.size(); at += kMarkerPeriod) {
    const std::size_t distance = at < header ? 0 : at - header;
    const auto pointer =
        MarkerLayout::FpduPtr::get(fpdu.subspan(at)) & MarkerLayout::kPtrMask;  // MPA-4.2-06, MPA-4.3-10
    if (static_cast<std::uint16_t>(distance) != pointer) return false;
  }
  return true;
}

// Moves what lies after each Marker towards the front, so that `octets` of ULPDU and PAD become contiguous at `begin`.
void close_gaps(MutableBytes fpdu, std::size_t begin, std::size_t octets, std::size_t first_inner_marker) noexcept {
  std::size_t from = begin;
  std::size_t to = begin;
  std::size_t marker = first_inner_marker;
  while (to != begin + octets) {
    const std::size_t run = std::min(marker - from, begin + octets - to);
    if (to != from) std::memmove(&fpdu[to], &fpdu[from], run);
    to += run;
    from = marker + kMarkerSize;
    marker += kMarkerPeriod;
  }
}

// At most three octets: no work for a vector unit, which compilers call for when they see a loop.
bool all_zero(Bytes pad) noexcept {
  std::byte any{};
  if (!pad.empty()) any |= pad[0];
  if (pad.size() > 1) any |= pad[1];
  if (pad.size() > 2) any |= pad[2];
  return any == std::byte{0};
}

}  // namespace

// MPA-5.2-01, MPA-6-02, MPA-6-04, DDP-3-04: an FPDU begins where the last verified one ended, and its length field
// tells where it ends. The length field is never split, since FPDUs and Markers lie on multiples of four octets
// (MPA-4.3-19).
std::expected<std::optional<Fpdu>, FpduError> FpduReceiver::next(MutableBytes stream, const Landed& landed) noexcept {
  if (failed_) return std::unexpected(*failed_);
  const bool leading_marker = framing_.markers && octets_to_marker(position_) == 0;
  const std::size_t header = leading_marker ? kMarkerSize : 0;  // MPA-4.3-09
  if (!has(stream, header + kLengthSize)) return std::nullopt;
  const std::size_t ulpdu = UlpduLength::get(stream.subspan(header));
  const std::size_t size = fpdu_size(framing_, position_, ulpdu);
  if (!has(stream, size)) return std::nullopt;  // MPA-6-06: nothing is forwarded before the whole FPDU is there
  return take(stream.first(size), header, ulpdu, landed);
}

std::optional<UlpduBegun> FpduReceiver::begun(Bytes stream) const noexcept {
  if (failed_ || framing_.markers || stream.size() < kLengthSize) return std::nullopt;
  const std::size_t ulpdu = UlpduLength::get(stream);
  const Bytes octets = stream.subspan(kLengthSize);
  if (octets.size() >= ulpdu) return std::nullopt;
  return UlpduBegun{octets, ulpdu};
}

// MPA-6-01, MPA-6-03, DDP-3-07: verified first (MPA-4.4-01, MPA-4.4-18, MPA-4.4-19), or not at all when CRCs are off
// (MPA-4.1-08, MPA-4.4-10, MPA-7.1.1-09, MPA-7.1.1-13). Noise where an FPDU should begin fails here (MPA-9.1-01).
// MPA-8-03: Markers only when the CRC is good.
std::expected<std::optional<Fpdu>, FpduError> FpduReceiver::take(MutableBytes fpdu, std::size_t header,
                                                                 std::size_t ulpdu, const Landed& landed) noexcept {
  if (framing_.crc && !crc_matches(fpdu, landed)) return fail(Fault::kCrcMismatch);
  const std::size_t begin = header + kLengthSize;
  const std::size_t pad = pad_size(ulpdu);
  if (framing_.markers) {
    const std::size_t first = octets_to_marker(position_);
    if (!markers_agree(fpdu, header, first)) return fail(Fault::kMarkerMismatch);
    close_gaps(fpdu, begin, ulpdu + pad, header == 0 ? first : kMarkerPeriod);
  }
  const Fpdu result{.ulpdu = fpdu.subspan(begin, ulpdu),
                    .consumed = fpdu.size(),
                    .stream_offset = position_,
                    .pad_nonzero = !all_zero(fpdu.subspan(begin + ulpdu, pad))};
  position_ += fpdu.size();
  return result;
}

std::unexpected<FpduError> FpduReceiver::fail(Fault fault) noexcept {
  failed_ = FpduError{fault, position_};
  return std::unexpected(*failed_);
}

}  // namespace weft::mpa
