// SPDX-License-Identifier: Apache-2.0
// Rules on Reads and atomics: each request is answered by one response, in order, with what it asked for, and no more
// of them are outstanding than agreed (RFC 5040 sections 4.4, 5.2 and 6.1, RFC 7306 sections 5.2 and 7). Their responses
// share one order.
#pragma once

#include <array>
#include <cstdint>
#include <deque>
#include <optional>
#include <string>
#include <vector>

#include "conformance/facts.hpp"
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
  // False: it goes elsewhere than its request said, or there was none.
  bool on_read_response(const Ulpdu& ulpdu, const Segment& segment, Findings& findings);
  void on_atomic_response(const Ulpdu& ulpdu, Findings& findings);
  // A request or a response may be missing from the capture.
  void forget();
  // A response without a request is certain when the requester's next FPDU shows that the one under way was no request
  // that got lost: by a ULPDU_Length that leads nowhere, say.
  void confirm_unrequested(Findings& findings);
  void dismiss_unrequested() { unrequested_.clear(); }
  // No more of a response follows. One that has all of its octets lacks the L.
  void end_response(Findings& findings);

 private:
  static constexpr std::size_t kMost = 65536;  // beyond what 14 bits of ORD can allow: nothing more is remembered

  struct Request {
    bool atomic{};
    std::uint32_t number{};  // of a Read its MSN, of an atomic its Request Identifier
    std::uint64_t end{};     // stream offset after it
    ddp::Stag sink_stag{};   // of a Read only, and the rest
    std::uint64_t sink_offset{};
    std::uint32_t size{};
  };
  using Pending = std::deque<Request>;
  struct Response {  // one that has begun
    bool judged{};   // matched with its request
    Request read{};
    std::uint64_t octets{};
    bool too_long{};
    bool astray{};  // it has no request, or its STag or TO is not that of the request
  };
  void add(const Ulpdu& ulpdu, const Request& request, const Facts& facts, Findings& findings);
  [[nodiscard]] bool answered_early(const Ulpdu& ulpdu, const Request& request);
  void count_request(const Ulpdu& ulpdu, const Facts& facts, Findings& findings);
  [[nodiscard]] Pending::iterator oldest(bool atomic) noexcept;
  [[nodiscard]] static bool judge_arrival(const Ulpdu& ulpdu, const Where& where, const Request& meant,
                                          Findings& findings);
  void judge_order(const Ulpdu& ulpdu, const Where& where, Pending::iterator meant, Findings& findings);
  Response begin_response(const Ulpdu& ulpdu, Findings& findings);
  void unrequested(const Ulpdu& ulpdu, Request answered, Finding finding);
  void judge_length(const Ulpdu& ulpdu, Findings& findings);

  Pending pending_{};  // in the order in which they were sent
  std::optional<Response> response_{};
  std::vector<std::uint64_t> answered_{};  // stream offsets after responses, until the requester has acknowledged them
  std::vector<Finding> unrequested_{};
  std::vector<Request> early_{};           // what responses without a request named; `end` is where they begin
  std::optional<Finding> without_last_{};  // the segment that brought the last octets of a response
  // Where a response that ended too short would have gone on: its L may have come too early.
  std::optional<std::pair<ddp::Stag, std::uint64_t>> cut_{};
  bool complete_ = true;  // all outstanding requests are known
  bool told_ = false;     // that there are too many; once until there are fewer
};

}  // namespace weft::conformance::rules
