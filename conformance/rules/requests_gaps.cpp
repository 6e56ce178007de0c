// SPDX-License-Identifier: Apache-2.0
// What the capture lost of Reads and atomics, or shows late, of requests.hpp. Requests are numbered (DDP-4.3-10), and their
// responses come in the same order. So a lost request costs the judgment of its response, and lost responses that of those
// that follow, until it is known again which request is answered next.
#include <algorithm>
#include <utility>

#include "conformance/rules/requests.hpp"

namespace weft::conformance::rules {

// A response that has no request yet may be the first to one that is lost.
void Requests::lose_requests() {
  if (unknown_) return;
  if (!requests_.end || !in_sequence_ || !early_.empty()) return forget();
  requests_.lost = true;
}

void Requests::lose_responses() {
  if (unknown_) return;
  if (!responses_.end || !early_.empty()) return forget();
  responses_.lost = true;
  counted_ = false;
  without_last_.reset();
  answered_.clear();
  cut_.reset();
  if (places_) return;
  const auto response = std::exchange(response_, std::nullopt);
  const bool unseen = response && ahead_ > 0;  // its request
  const bool known = response && response->judged && !response->astray;
  if (response && !unseen) {
    pending_.push_front(known ? response->read : Request{.known = false});
    pending_.front().answered = response->octets;
  }
  places_.emplace(std::exchange(ahead_, 0) - (unseen ? 1 : 0), response.has_value(), !known);
}

void Requests::on_responder(const Piece& piece) {
  if (std::exchange(responses_.lost, false) && places_) {
    places_->lose(pending_, piece.stream_offset - *responses_.end, more_sent(piece));
    look_for_place();
  }
  responses_.end = piece.end();
}

// The responder may have received requests that are not seen yet.
bool Requests::more_sent(const Piece& response) const noexcept {
  return requests_.lost || !response.acknowledged || *response.acknowledged > requests_.end.value_or(0);
}

void Requests::look_for_place() {
  places_->drop_answered(pending_);
  if (places_->none()) return forget();
  const auto place = places_->only();
  if (!place) return;
  ahead_ = *place;  // drop_answered() leaves 0 while there are requests
  places_.reset();
}

// With those before it that are missing. False: it is not outstanding.
bool Requests::append(const Request& request, std::uint32_t msn) {
  const std::uint32_t missing = msn - next_msn_;
  next_msn_ = msn + 1;
  if (std::exchange(requests_.lost, false)) {
    pending_.insert(pending_.end(), std::min<std::size_t>(missing, kMost), Request{.known = false});
  } else {
    in_sequence_ = in_sequence_ && missing == 0;
  }
  pending_.push_back(request);
  if (pending_.size() > kMost) {
    forget();
    return false;
  }
  const std::size_t answered = std::min(ahead_, pending_.size());
  pending_.erase(pending_.begin(), pending_.begin() + static_cast<std::ptrdiff_t>(answered));
  ahead_ -= answered;
  return !pending_.empty();
}

// The request whose turn it is was lost, or is not seen yet. What it asked for is unknown.
bool Requests::answers_unseen() {
  if (pending_.empty()) {
    const bool unseen = requests_.lost || ahead_ > 0;
    if (unseen) ++ahead_;
    return unseen;
  }
  if (pending_.front().known) return false;
  pending_.pop_front();
  return true;
}

// Without an acknowledgment number a request may come first all the same. One that the capture lost may be of this kind.
void Requests::unrequested(const Ulpdu& ulpdu, Request answered, Finding finding) {
  const bool any_lost = std::ranges::find(pending_, false, &Request::known) != pending_.end();
  if (!ulpdu.fpdu->piece.acknowledged || any_lost) return forget();
  const Piece& piece = ulpdu.fpdu->piece;
  if (unrequested_.size() < Findings::kMost) {
    unrequested_.push_back({std::move(finding), piece.stream_offset, *piece.acknowledged});
  }
  if (early_.size() == Findings::kMost) early_.erase(early_.begin());
  answered.end = piece.stream_offset;
  early_.push_back(answered);
}

// Those whose end had received only what was seen of the requester.
void Requests::confirm_unrequested(Findings& findings) {
  std::erase_if(unrequested_, [&](Unrequested& one) {
    const bool certain = requests_.end && one.acknowledged <= *requests_.end;
    if (certain) findings.add(std::move(one.finding));
    return certain;
  });
}

// A response that was told for having no request may have been sent too early for this one: then neither end had heard
// of the other's message.
bool Requests::answered_early(const Ulpdu& ulpdu, const Request& request) {
  const auto fits = [&](const Request& answer) {
    const bool heard = ulpdu.fpdu->piece.acknowledged.value_or(0) > answer.end;
    if (answer.atomic != request.atomic || heard) return false;
    if (request.atomic) return answer.number == request.number;
    return answer.sink_stag == request.sink_stag && answer.sink_offset == request.sink_offset;
  };
  const auto found = std::ranges::find_if(early_, fits);
  if (found == early_.end()) return false;
  std::erase_if(unrequested_, [&](const Unrequested& one) {  // the capture shows the request late
    return one.begin == found->end && one.acknowledged >= request.end;
  });
  early_.erase(found);
  return true;
}

}  // namespace weft::conformance::rules
