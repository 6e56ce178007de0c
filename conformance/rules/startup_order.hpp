// SPDX-License-Identifier: Apache-2.0
// Who may send what when, until both directions are in full operation (RFC 5044 section 7.1.2). Judged by packet
// numbers: wherever on the path the capture was made, what answers is captured behind what it answers.
#pragma once

#include <array>
#include <optional>
#include <vector>

#include "conformance/facts.hpp"
#include "conformance/finding.hpp"
#include "conformance/seen.hpp"

namespace weft::conformance {

class StartupOrderRules {
 public:
  void on(const SegmentSeen& seen, const Facts& facts, Findings& findings);
  void on(const StartupSeen& seen, const Facts& facts, Findings& findings);
  // False: the connection was rejected, so nothing else is to be said of this FPDU.
  bool on(const FpduSeen& fpdu, const Facts& facts, Findings& findings);
  // True: it is explained here, and no other rule's to judge.
  bool on(const LostSeen& lost, const Facts& facts, Findings& findings);
  void on(const EndSeen& end, const Facts& facts, Findings& findings);
  void forget(Direction from);
  void finish(const Facts& facts, Findings& findings);

 private:
  struct Half {
    bool frame_seen = false;
    Place frame_first{}, frame_last{};
    std::uint64_t frame_end = 0;         // stream offset
    bool frame_and_more = false;         // one segment carried its end and more behind it
    std::vector<TcpSegment> segments{};  // before the frame was complete
    bool fpdu_seen = false;
    bool unknown = false;  // octets were lost before the first FPDU
    Place first_fpdu_complete{};
  };
  // The Responder's first FPDU, until the Initiator's is seen.
  struct Early {
    Piece piece{};
    std::vector<std::byte> octets{};
  };
  [[nodiscard]] Half& half(Direction from) noexcept { return halves_[static_cast<std::size_t>(from)]; }
  void judge_reply_time(Findings& findings);
  bool judge_first(const FpduSeen& fpdu, const Facts& facts, Findings& findings);
  bool judge_fence(Findings& findings);

  std::array<Half, 2> halves_{};
  std::optional<Early> early_{};
  bool reply_early_ = false;  // it came before the Request was complete, unless PD_Length is wrong
  Early request_{};
  bool after_reject_told_ = false;
};

}  // namespace weft::conformance
