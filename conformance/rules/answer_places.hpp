// SPDX-License-Identifier: Apache-2.0
// After a gap in the octets of a responder: which requests its next response may answer. Responses come in the order of
// the requests (RFC 5040 section 5.2.2, RFC 7306 section 7), and each one takes octets. So a gap holds a bounded number
// of them. A response that does not fit a request shows that it does not answer this one. What a correct responder
// answers always remains; when it alone remains, the responses can be judged again.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <vector>

#include "conformance/rules/pending_requests.hpp"
#include "conformance/rules/ulpdu.hpp"

namespace weft::conformance::rules {

// Places in the pending requests. The first place after them stands for the request that will be sent next.
class AnswerPlaces {
 public:
  static constexpr std::size_t kMost = 256;  // places; a gap that leaves more leaves none

  // The response to the request at `place` is the next one, or `under_way`. `cut`: how much of it is missing is
  // unknown.
  AnswerPlaces(std::size_t place, bool under_way, bool cut) : places_{place}, under_way_(under_way), cut_(cut) {}

  // So many octets of the responder are missing. `more`: the responder may have received requests behind those pending.
  void lose(const PendingRequests& pending, std::uint64_t octets, bool more);
  // A segment of a Read Response. `begins`: a message.
  void on_read_response(const PendingRequests& pending, const Ulpdu& ulpdu, bool begins, bool more);
  void on_atomic_response(const PendingRequests& pending, const Ulpdu& ulpdu, std::uint32_t id, bool more);
  // Removes the requests that were certainly answered.
  void drop_answered(PendingRequests& pending);

  // No place is left: the gap was too large, or a response fits no request.
  [[nodiscard]] bool none() const noexcept { return places_.empty(); }
  // The only place that is left, between two responses.
  [[nodiscard]] std::optional<std::size_t> only() const noexcept {
    return places_.size() == 1 && !under_way_ && !torn_ ? std::optional(places_.front()) : std::nullopt;
  }

 private:
  template <typename Fits>
  void keep(const PendingRequests& pending, const Ulpdu& ulpdu, bool more, const Fits& fits);
  void tear(bool may_go_on) noexcept;
  void end_response() noexcept;

  std::vector<std::size_t> places_;  // rising
  bool under_way_;                   // a segment of a Read Response was the last one, without L
  bool cut_;                         // how much is missing of the response under way is unknown
  bool torn_ = false;                // the next segment of a Read Response may be in the middle of one
  bool whole_ = false;               // the response under way was seen from its first segment on
  std::uint64_t octets_ = 0;         // of it
};

}  // namespace weft::conformance::rules
