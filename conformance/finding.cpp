// SPDX-License-Identifier: Apache-2.0
#include "conformance/finding.hpp"

#include <algorithm>
#include <utility>

namespace weft::conformance {
namespace {

constexpr std::size_t kBefore = 16;  // octets of the excerpt in front of the wrong ones
constexpr std::size_t kBehind = 16;
constexpr std::size_t kMostMarked = 64;

Excerpt excerpt_of(const Where& where) {
  const Bytes octets = where.piece->octets;
  const std::size_t at = std::min(where.at, octets.size());
  const std::size_t size = std::min({where.size, octets.size() - at, kMostMarked});
  const std::size_t begin = at - std::min(at, kBefore);
  const std::size_t end = std::min(octets.size(), at + size + kBehind);
  return {.octets = {octets.begin() + static_cast<std::ptrdiff_t>(begin),
                     octets.begin() + static_cast<std::ptrdiff_t>(end)},
          .stream_offset = where.piece->stream_offset + begin,
          .mark = at - begin,
          .marked = size};
}

}  // namespace

Place place_of(const Where& where) noexcept {
  const Piece& piece = *where.piece;
  if (piece.first.packet != piece.last.packet) return piece.last;
  return {piece.first.packet, piece.first.octet + static_cast<std::uint32_t>(where.at)};
}

void Findings::add(const Rule& rule, const Where& where, std::string message) {
  if (!room_for(rule, where.piece->from)) return;
  findings_.push_back(prepare(rule, where, std::move(message)));
}

Finding Findings::prepare(const Rule& rule, const Where& where, std::string message) const {
  return {.rule = &rule,
          .connection = connection_,
          .direction = where.piece->from,
          .place = place_of(where),
          .stream_offset = where.piece->stream_offset + where.at,
          .message = std::move(message),
          .excerpt = excerpt_of(where)};
}

void Findings::add(Finding finding) {
  if (room_for(*finding.rule, finding.direction)) findings_.push_back(std::move(finding));
}

void Findings::add(const Rule& rule, std::optional<Direction> direction, Place place, std::uint64_t stream_offset,
                   std::string message) {
  if (!room_for(rule, direction)) return;
  findings_.push_back({.rule = &rule,
                       .connection = connection_,
                       .direction = direction,
                       .place = place,
                       .stream_offset = stream_offset,
                       .message = std::move(message),
                       .excerpt = {}});
}

void Findings::swap_directions() noexcept {
  const auto swap = [](std::optional<Direction>& from) {
    if (from) from = engine::opposite(*from);
  };
  for (Finding& finding : findings_) swap(finding.direction);
  for (Count& count : counts_) swap(count.direction);
}

bool Findings::room_for(const Rule& rule, std::optional<Direction> direction) {
  const auto same = [&](const Count& count) { return count.rule == &rule && count.direction == direction; };
  const auto found = std::ranges::find_if(counts_, same);
  Count& count = found != counts_.end() ? *found : counts_.emplace_back(Count{&rule, direction, 0});
  return ++count.count <= kMost;
}

std::vector<Findings::Suppressed> Findings::suppressed() const {
  std::vector<Suppressed> result;
  for (const Count& count : counts_) {
    if (count.count > kMost)
      result.push_back({.rule = count.rule, .direction = count.direction, .count = count.count - kMost});
  }
  return result;
}

}  // namespace weft::conformance
