// SPDX-License-Identifier: Apache-2.0
#include "conformance/fpdu_chain.hpp"

#include <algorithm>

#include "conformance/plausible.hpp"

namespace weft::conformance {
namespace {

constexpr int kFollowed = 3;  // FPDUs after the doubtful one

// The rest of cut octets: what of an FPDU is there must look like one.
Verdict fits(Bytes octets, const Track& track) noexcept {
  const auto size = extent(octets, track);
  if (!size) return Verdict::kYes;
  return plausible(octets, *size, track).value_or(true) ? Verdict::kYes : Verdict::kNo;
}

// The FPDU at `from` is not all there.
Verdict more(std::size_t from, const std::optional<Extent>& size, Effort& effort) noexcept {
  effort.needed = from + (size ? size->size : mpa::kMarkerSize + mpa::kLengthSize);
  return Verdict::kMoreOctets;
}

// With a CRC, whose word is enough.
Verdict one_begins(Bytes octets, const Track& track, bool cut, Effort& effort) noexcept {
  const auto size = extent(octets, track);
  if (size && !plausible(octets, *size, track).value_or(true)) return Verdict::kNo;
  if (size && octets.size() >= size->size) return convincing(octets, *size, track) ? Verdict::kYes : Verdict::kNo;
  return cut ? Verdict::kNo : more(0, size, effort);
}

}  // namespace

// With a CRC one good FPDU settles it. One with a wrong CRC and a header that makes no sense settles the contrary: a wrong
// length leads to such octets, and they may seem to lead to an FPDU. A direction whose CRCs are all wrong is still followed
// when the headers make sense.
Verdict leads_on(Bytes behind, const Track& track, bool cut, Effort& effort) noexcept {
  const bool crc = track.framing.crc;
  Track at = track;
  std::size_t from = 0;
  for (int i = 0; i < kFollowed; ++i) {
    const auto size = extent(behind, at);
    if (!size || behind.size() < size->size) {
      if (!cut) return more(from, size, effort);
      return crc || i == 0 ? fits(behind, at) : Verdict::kNo;
    }
    if (convincing(behind, *size, at)) return Verdict::kYes;
    const bool sensible = plausible(behind, *size, at).value_or(false);
    if (sensible != crc) return sensible ? Verdict::kYes : Verdict::kNo;
    behind = behind.subspan(size->size);
    from += size->size;
    at = at.behind(size->size);
  }
  return crc ? Verdict::kYes : Verdict::kNo;
}

Verdict row_begins(Bytes octets, const Track& track, bool cut, Effort& effort) noexcept {
  Track at = track;
  std::size_t from = 0;
  for (int i = 0; i < 2; ++i) {
    const auto size = extent(octets, at);
    const auto sensible = size ? plausible(octets, *size, at) : std::nullopt;
    if (sensible && !*sensible) return Verdict::kNo;
    if (!size || octets.size() < size->size) {
      if (!cut) return more(from, size, effort);
      return i > 0 ? Verdict::kYes : Verdict::kNo;
    }
    if (at.framing.crc) effort.work += size->size;
    if (!convincing(octets, *size, at)) return Verdict::kNo;
    octets = octets.subspan(size->size);
    from += size->size;
    at = at.behind(size->size);
  }
  if (at.framing.crc) return Verdict::kYes;
  const auto third = extent(octets, at);
  const auto sensible = third ? plausible(octets, *third, at) : std::nullopt;
  if (!sensible && !cut) {
    effort.needed = from + mpa::kMarkerSize + kJudgedOctets;
    return Verdict::kMoreOctets;
  }
  if (!sensible) return Verdict::kYes;
  return *sensible ? Verdict::kYes : Verdict::kNo;
}

Verdict row_goes_on(Bytes octets, std::size_t& from, Track& track, bool cut, Effort& effort) noexcept {
  const Bytes rest = octets.subspan(from);
  const auto size = extent(rest, track);
  if (!size || rest.size() < size->size) return cut ? fits(rest, track) : more(from, size, effort);
  if (!convincing(rest, *size, track)) return Verdict::kNo;
  const auto& framing = track.framing;
  if (framing.markers && !framing.crc && !markers_that_agree(rest, *size, track)) return Verdict::kNo;
  from += size->size;
  track = track.behind(size->size);
  return Verdict::kYes;
}

Verdict fpdus_begin(Bytes octets, std::optional<bool> crc, bool cut, Track& found, Effort& effort) noexcept {
  constexpr std::size_t kFirstLook = mpa::kMarkerSize + kJudgedOctets;
  effort.needed = kFirstLook;
  if (octets.size() < kFirstLook && !cut) return Verdict::kMoreOctets;
  Verdict result = Verdict::kNo;
  for (const bool with_crc : {true, false}) {
    if (with_crc && !crc.value_or(true)) continue;
    for (const bool markers : {false, true}) {
      const Track track{{.crc = with_crc, .markers = markers}, 0};
      Effort here;
      const Verdict verdict = with_crc ? one_begins(octets, track, cut, here) : row_begins(octets, track, cut, here);
      found = {{.crc = crc.value_or(with_crc), .markers = markers}, 0};
      if (verdict == Verdict::kYes) return verdict;
      if (verdict == Verdict::kNo) continue;
      effort.needed = result == verdict ? std::min(effort.needed, here.needed) : here.needed;
      result = verdict;
    }
  }
  return result;
}

}  // namespace weft::conformance
