// SPDX-License-Identifier: Apache-2.0
#include "conformance/rules/answer_places.hpp"

#include <algorithm>

#include "ddp/header.hpp"
#include "mpa/fpdu.hpp"
#include "rdmap/atomic_messages.hpp"

namespace weft::conformance::rules {

namespace {

constexpr std::uint64_t kFrame = mpa::kLengthSize + mpa::kCrcSize;
constexpr std::uint64_t kLeastResponse = kFrame + ddp::TaggedLayout::kSize;  // a Read Response without octets

// Octets of the stream that a response takes at least, or what is missing of it. It may come in any number of FPDUs.
std::uint64_t least_octets(const PendingRequest& request) noexcept {
  if (!request.known) return kLeastResponse;
  if (request.atomic) return kFrame + ddp::UntaggedLayout::kSize + rdmap::AtomicResponseLayout::kSize;
  return kLeastResponse + request.size - std::min<std::uint64_t>(request.answered, request.size);
}

}  // namespace

void AnswerPlaces::lose(const PendingRequests& pending, std::uint64_t octets, bool more) {
  if (octets < kLeastResponse) return tear(under_way_);
  std::vector<std::size_t> wider;
  for (const std::size_t first : places_) {
    std::uint64_t left = octets;
    for (std::size_t place = first;; ++place) {
      if (wider.empty() || wider.back() < place) wider.push_back(place);
      if (wider.size() > kMost) return places_.clear();
      if (place >= pending.size() && !more) break;
      const bool cut = place == first && (torn_ || cut_);
      const std::uint64_t least = cut || place >= pending.size() ? kLeastResponse : least_octets(pending[place]);
      if (least > left) break;
      left -= least;
    }
  }
  tear(more || places_.front() < pending.size());
  places_ = std::move(wider);
}

// `may_go_on`: a response may be under way, and no segment says that it began before.
void AnswerPlaces::tear(bool may_go_on) noexcept {
  torn_ = may_go_on || torn_;
  under_way_ = cut_ = whole_ = false;
}

template <typename Fits>
void AnswerPlaces::keep(const PendingRequests& pending, const Ulpdu& ulpdu, bool more, const Fits& fits) {
  const auto& acknowledged = ulpdu.fpdu->piece.acknowledged;
  std::erase_if(places_, [&](std::size_t place) {
    if (place >= pending.size()) return !more;
    const PendingRequest& request = pending[place];
    return request.known && (sent_without(acknowledged, request.end) || !fits(request));
  });
}

// Segments may come in any order of their TOs (DDP-5.3-03), so of a response whose beginning was not seen, no octet
// says how many there are.
void AnswerPlaces::on_read_response(const PendingRequests& pending, const Ulpdu& ulpdu, bool begins, bool more) {
  if (under_way_ && begins) return places_.clear();  // the one under way has no L: told
  const bool first = !under_way_ && !torn_;
  if (first) {
    whole_ = true;
    octets_ = 0;
  }
  octets_ += ulpdu.payload.size();
  const auto& header = *ulpdu.tagged();
  keep(pending, ulpdu, more, [&](const PendingRequest& request) {
    if (request.atomic) return false;
    if (whole_ && (octets_ > request.size || (ulpdu.last() && octets_ < request.size))) return false;
    if (ulpdu.payload.empty()) return request.size == 0;  // STag and TO may be anything (DDP-5.2-12)
    const std::uint64_t at = header.offset.value - request.sink_offset;
    if (first ? at != 0 && ulpdu.last() : at == 0 && request.answered > 0) return false;
    return header.stag == request.sink_stag && at <= request.size && ulpdu.payload.size() <= request.size - at;
  });
  torn_ = false;
  under_way_ = cut_ = !ulpdu.last();
  if (!under_way_) end_response();
}

void AnswerPlaces::on_atomic_response(const PendingRequests& pending, const Ulpdu& ulpdu, std::uint32_t id, bool more) {
  keep(pending, ulpdu, more, [&](const PendingRequest& request) { return request.atomic && request.number == id; });
  under_way_ = cut_ = torn_ = false;
  end_response();
}

void AnswerPlaces::end_response() noexcept {
  whole_ = false;
  for (std::size_t& place : places_) ++place;
}

void AnswerPlaces::drop_answered(PendingRequests& pending) {
  if (places_.empty()) return;
  const std::size_t count = std::min(places_.front(), pending.size());
  pending.erase(pending.begin(), pending.begin() + static_cast<std::ptrdiff_t>(count));
  for (std::size_t& place : places_) place -= count;
}

}  // namespace weft::conformance::rules
