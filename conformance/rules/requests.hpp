// SPDX-License-Identifier: Apache-2.0
// Rules on Reads and atomics: each request is answered by one response, in order, with what it asked for, and no more
// of them are outstanding than agreed (RFC 5040 sections 4.4, 5.2 and 6.1, RFC 7306 section 5.2).
#pragma once

#include <array>
#include <cstdint>
#include <deque>
#include <optional>
#include <vector>

#include "conformance/facts.hpp"
#include "conformance/rules/ulpdu.hpp"

namespace weft::conformance::rules {

// The requests of one direction and the responses of the other.
class Requests {
 public:
  void on_read_request(const Ulpdu& ulpdu, const Facts& facts, Findings& findings);
  void on_atomic_request(const Ulpdu& ulpdu, const Facts& facts, Findings& findings);
  // False: it goes elsewhere than its request said, or there was none. `jumped`: its segments have a hole or overlap,
  // which was told.
  bool on_read_response(const Ulpdu& ulpdu, bool jumped, Findings& findings);
  void on_atomic_response(const Ulpdu& ulpdu, Findings& findings);
  // A request or a response may be missing from the capture.
  void forget();
  // A response without a request is certain when the requester's next FPDU shows that the one under way was no request
  // that got lost: by a ULPDU_Length that leads nowhere, say.
  void confirm_unrequested(Findings& findings);
  void dismiss_unrequested() { unrequested_.clear(); }

 private:
  static constexpr std::size_t kMost = 65536;  // beyond what 14 bits of ORD can allow: nothing more is remembered

  struct Read {
    ddp::Stag sink_stag{};
    std::uint64_t sink_offset{};
    std::uint32_t size{};
    std::uint32_t msn{};
  };
  struct Response {  // one that has begun
    bool judged{};   // matched with its request
    Read read{};
    std::uint64_t octets{};
    bool too_long{};
    bool tentative{};  // it may be another's: requests are missing
    bool astray{};     // it has no request, or its STag or TO is not that of the request
  };
  void count_request(const Ulpdu& ulpdu, const Facts& facts, Findings& findings);
  Response begin_response(const Ulpdu& ulpdu, Findings& findings);
  void resume();
  void doubt(Finding finding);
  void judge_length(const Ulpdu& ulpdu, Findings& findings);

  std::deque<Read> reads_{};
  std::deque<std::uint32_t> atomics_{};  // Request Identifiers
  std::optional<Response> response_{};
  std::vector<Finding> unrequested_{};
  // Where a response that ended too short would have gone on: its L may have come too early.
  std::optional<std::pair<ddp::Stag, std::uint64_t>> cut_{};
  bool complete_ = true;  // all outstanding requests are known
  bool told_ = false;     // that there are too many; once until there are fewer
};

}  // namespace weft::conformance::rules
