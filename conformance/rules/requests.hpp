// SPDX-License-Identifier: Apache-2.0
// Rules on Reads and atomics: each request is answered by one response, in order, with what it asked for, and no more
// of them are outstanding than agreed (RFC 5040 sections 4.4, 5.2 and 6.1, RFC 7306 sections 5.2 and 7). Their
// responses share one order.
#pragma once

#include <array>
#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "conformance/facts.hpp"
#include "conformance/rules/answer_places.hpp"
#include "conformance/rules/pending_requests.hpp"
#include "conformance/rules/ulpdu.hpp"

namespace weft::conformance::rules {

// The requests of one direction and the responses of the other.
class Requests {
 public:
  void on_read_request(const Ulpdu& ulpdu, const Facts& facts, Findings& findings);
  void on_atomic_request(const Ulpdu& ulpdu, const Facts& facts, Findings& findings);
  // What DDP found of a segment of a Read Response.
  struct Segment {
    bool begins{};  // a message; one that was open has no L, which was told
    bool jumped{};  // its segments have a hole or overlap, which was told
  };
  // Returns false if the response goes elsewhere than its request said, or there was no request.
  bool on_read_response(const Ulpdu& ulpdu, const Segment& segment, Findings& findings);
  // A segment of a Read Response without octets and without L, as was told: if a Read of nothing is to be answered, with that.
  void on_empty_segment(const Ulpdu& ulpdu);
  // The response under way has all of its octets, and this segment of a Read Response begins the one to another request:
  // the L is what is missing.
  [[nodiscard]] bool begins_next_response(const Ulpdu& ulpdu) const noexcept;
  void on_atomic_response(const Ulpdu& ulpdu, Findings& findings);
  // The requester has sent octets up to here: a frame or an FPDU.
  void on_requester(const Piece& piece) noexcept { requests_.end = piece.end(); }
  // The responder has, and judges its responses next.
  void on_responder(const Piece& piece);
  // The capture lost octets of the requester. The MSN of the next request tells how many requests are missing.
  void lose_requests();
  // The capture lost octets of the responder. The responses after them tell which requests are outstanding.
  void lose_responses();
  // What was requested or answered is unknown from here on: a message is wrong.
  void forget();
  // A response without a request is certain when the requester's next FPDU shows that the one under way was no request
  // that got lost: by a ULPDU_Length that leads nowhere, say.
  void confirm_unrequested(Findings& findings);
  void dismiss_unrequested() { unrequested_.clear(); }
  // No more of a response follows. One that has all of its octets lacks the L.
  void end_response(Findings& findings);

 private:
  static constexpr std::size_t kMost = 65536;  // beyond what 14 bits of ORD can allow: nothing more is remembered

  using Request = PendingRequest;
  using Pending = PendingRequests;
  struct Response {  // one that has begun
    bool judged{};   // matched with its request
    Request read{};
    std::uint64_t octets{};
    std::uint64_t end{};  // stream offset after its last segment
    bool too_long{};
    bool astray{};                       // it has no request, or its STag or TO is not that of the request
    std::optional<Finding> displaced{};  // its first segment, until one begins at the SinkTO
  };
  struct Stream {
    std::optional<std::uint64_t> end{};  // stream offset after what was seen
    bool lost = false;                   // octets after it: and no later message has shown what was in them
  };
  void add(const Ulpdu& ulpdu, const Request& request, const Facts& facts, Findings& findings);
  [[nodiscard]] bool append(const Request& request, std::uint32_t msn);
  [[nodiscard]] bool answers_unseen();
  [[nodiscard]] bool more_sent(const Piece& response) const noexcept;
  void look_for_place();
  [[nodiscard]] bool answered_early(const Ulpdu& ulpdu, const Request& request);
  void count_request(const Ulpdu& ulpdu, const Facts& facts, Findings& findings);
  [[nodiscard]] std::size_t outstanding(std::optional<std::uint64_t> acknowledged) const noexcept;
  [[nodiscard]] Pending::const_iterator oldest(bool atomic) const noexcept;
  [[nodiscard]] Pending::const_iterator answered_by(const Ulpdu& ulpdu) const noexcept;
  [[nodiscard]] static bool judge_arrival(const Ulpdu& ulpdu, const Where& where, const Request& meant,
                                          Findings& findings);
  void judge_order(const Ulpdu& ulpdu, const Where& where, Pending::const_iterator meant, Findings& findings);
  Response begin_response(const Ulpdu& ulpdu, Findings& findings);
  void unrequested(const Ulpdu& ulpdu, Request answered, Finding finding);
  void judge_place(const Ulpdu& ulpdu, Findings& findings);
  void judge_length(const Ulpdu& ulpdu, Findings& findings);

  Pending pending_{};  // in the order in which they were sent
  std::optional<Response> response_{};
  std::vector<std::uint64_t> answered_{};  // stream offsets after responses, until the requester has acknowledged them
  struct Unrequested {
    Finding finding{};
    std::uint64_t begin{};         // stream offset of the response
    std::uint64_t acknowledged{};  // by the response
  };
  std::vector<Unrequested> unrequested_{};
  std::vector<Request> early_{};           // what responses without a request named; `end` is where they begin
  std::optional<Finding> without_last_{};  // the segment that brought the last octets of a response
  // Where a response that ended too short would have gone on: its L may have come too early.
  std::optional<std::pair<ddp::Stag, std::uint64_t>> cut_{};
  std::optional<AnswerPlaces> places_{};  // which request is answered next is being found out
  std::size_t ahead_ = 0;                 // responses to requests that are not seen yet
  Stream requests_{}, responses_{};
  std::uint32_t next_msn_ = 1;  // of the next request
  bool in_sequence_ = true;     // the MSNs of all requests were right
  bool counted_ = true;         // all responses were seen
  bool unknown_ = false;        // which requests are outstanding
  bool told_ = false;           // that there are too many; once until there are fewer
};

}  // namespace weft::conformance::rules
