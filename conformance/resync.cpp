// SPDX-License-Identifier: Apache-2.0
#include "conformance/resync.hpp"

#include "conformance/plausible.hpp"

namespace weft::conformance {
namespace {

constexpr std::uint64_t kFreeWork = 1U << 20;
constexpr std::uint64_t kWorkPerOctet = 16;
constexpr int kMostToAgree = 64;  // FPDUs: the shortest ones that hold three Markers

// The first two octets of a DDP segment that RDMAP wants: DV 1, RV 1, reserved bits zero. Looked at before anything
// else, since most places fail here.
bool may_be_control(Bytes octets, std::size_t at) noexcept {
  return (octets[at] & std::byte{0x3f}) == std::byte{0x01} && (octets[at + 1] & std::byte{0xf0}) == std::byte{0x40};
}

// With Markers at known places the header may be interrupted, so there is no quick look.
bool worth_a_look(Bytes octets, const Known& known) noexcept {
  if (known.markers.value_or(true) && known.position) return true;
  if (octets.size() < mpa::kMarkerSize + kJudgedOctets) return true;
  return may_be_control(octets, mpa::kLengthSize) ||
         (known.markers.value_or(true) && may_be_control(octets, mpa::kMarkerSize + mpa::kLengthSize));
}

// FPDUs hold two Markers inside, and each Marker tells where its FPDU begins. One may be a small number of the payload.
// A zero in front of an FPDU may also be the CRC field of the one before, when CRCs are off.
bool markers_agree(Bytes octets, Track track) noexcept {
  std::size_t inside = 0;
  for (int i = 0; i < kMostToAgree; ++i) {
    const auto size = extent(octets, track);
    if (!size || octets.size() < size->size) break;
    const auto agree = markers_that_agree(octets, *size, track);
    if (!agree) return false;
    inside += *agree;
    octets = octets.subspan(size->size);
    track = track.behind(size->size);
  }
  return inside > 1;
}

}  // namespace

// FPDUs stand at multiples of four octets from the beginning of the stream (MPA-4.1-05).
Regained Resync::scan(Bytes octets, const Known& known, bool cut) {
  const std::size_t step = known.position ? 4 : 1;
  std::size_t at = known.position ? static_cast<std::size_t>((4 - *known.position % 4) % 4) : 0;
  for (; at < octets.size(); at += step) {
    const Bytes rest = octets.subspan(at);
    if (!worth_a_look(rest, known)) continue;
    Known here = known;
    if (here.position) *here.position += at;
    Track found{};
    const std::uint64_t work = effort_.work;
    const bool exhausted = effort_.work > kFreeWork + kWorkPerOctet * (looked_at_ + at);
    const Verdict verdict = exhausted ? Verdict::kNo : try_at(rest, here, cut, found);
    if (verdict == Verdict::kNo) continue;
    looked_at_ += at;
    if (verdict == Verdict::kYes) return {.skip = at, .found = found, .needed = 0};
    effort_.work = work;  // it is counted when it is done
    return {.skip = at, .found = {}, .needed = effort_.needed};
  }
  looked_at_ += octets.size();
  return {.skip = octets.size(), .found = {}, .needed = 0};
}

Verdict Resync::try_at(Bytes octets, const Known& known, bool cut, Track& found) {
  const bool with = known.markers.value_or(true);
  const bool without = !known.markers.value_or(false);
  Verdict verdict = Verdict::kNo;
  if (with && !known.position) verdict = try_phases(octets, known, cut, found);
  if (verdict == Verdict::kNo && without) {
    verdict = try_crc(octets, known, false, known.position.value_or(0), cut, found);
  }
  if (verdict == Verdict::kNo && with && known.position) {
    verdict = try_crc(octets, known, true, *known.position, cut, found);
  }
  return verdict;
}

// A good CRC says more than a plausible header, so it is tried first.
Verdict Resync::try_crc(Bytes octets, const Known& known, bool markers, std::uint64_t position, bool cut,
                        Track& found) {
  for (const bool crc : {true, false}) {
    if (known.crc.value_or(crc) != crc) continue;
    found = {{.crc = crc, .markers = markers}, position};
    const Verdict verdict = row_begins(octets, found, cut, effort_);
    const bool guess = markers && !known.position && !crc;
    if (verdict == Verdict::kYes && guess && !markers_agree(octets, found)) continue;
    if (verdict != Verdict::kNo) return verdict;
  }
  return Verdict::kNo;
}

// Markers whose places are unknown: the first one inside the FPDU tells by its FPDUPTR how far it is from the header
// (MPA-4.3-05), or it leads the FPDU and is zero (MPA-4.3-08). An FPDU without a Marker inside says nothing, and is
// taken for one of a stream without Markers until a Marker comes.
Verdict Resync::try_phases(Bytes octets, const Known& known, bool cut, Track& found) {
  const auto pointer_at = [&](std::size_t at) { return mpa::MarkerLayout::FpduPtr::get(octets.subspan(at)); };
  const auto more = [&](std::size_t needed) {
    effort_.needed = needed;
    return cut ? Verdict::kNo : Verdict::kMoreOctets;
  };
  if (octets.size() < mpa::kMarkerSize) return more(mpa::kMarkerSize);
  if (Be<0, std::uint32_t>::get(octets) == 0) return try_crc(octets, known, true, 0, cut, found);
  const auto bare = extent(octets, {});
  std::optional<Track> only;
  for (std::size_t at = mpa::kMarkerSize; at < mpa::kMarkerPeriod && at < mpa::bare_fpdu_size(bare->ulpdu); at += 4) {
    if (octets.size() < at + mpa::kMarkerSize) return more(at + mpa::kMarkerSize);
    if (pointer_at(at) != at) continue;
    const Verdict verdict = try_crc(octets, known, true, mpa::kMarkerPeriod - at, cut, found);
    if (verdict == Verdict::kMoreOctets) return verdict;
    if (verdict == Verdict::kNo) continue;
    if (only) return Verdict::kNo;  // a CRC covers Markers, too: one of them may be a number of the payload
    only = found;
  }
  if (only) found = *only;
  return only ? Verdict::kYes : Verdict::kNo;
}

}  // namespace weft::conformance
