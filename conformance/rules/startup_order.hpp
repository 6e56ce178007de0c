// SPDX-License-Identifier: Apache-2.0
// Who may send what when, until both directions are in full operation (RFC 5044 section 7.1.2). Judged by
// acknowledgment numbers (sent_without): what had not arrived cannot have been waited for.
#pragma once

#include <array>
#include <optional>
#include <utility>
#include <vector>

#include "conformance/facts.hpp"
#include "conformance/finding.hpp"
#include "conformance/seen.hpp"

namespace weft::conformance {

// Broken by what was sent in the wrong order, or by what was never sent (startup_missing.cpp).
inline constexpr Rule kReplyEarlyRule{"MPA-7.1.2-12", Severity::kViolation, Layer::kConnection, "RFC 5044 7.1.2",
                                      "The Reply is sent only after the Request has been received."};
inline constexpr Rule kFpduBeforeReplyRule{"MPA-7.1.2-13", Severity::kViolation, Layer::kConnection, "RFC 5044 7.1.2",
                                           "The Initiator sends no FPDU before it has received the Reply."};

class StartupOrderRules {
 public:
  void on(const SegmentSeen& seen, const Facts& facts, Findings& findings);
  void on(const StartupSeen& seen, const Facts& facts, Findings& findings);
  // Returns false if the connection was rejected, so nothing else is to be said of this FPDU. A Terminate that may go
  // with the rejection is judged as any other.
  bool on(const FpduSeen& fpdu, const Facts& facts, Findings& findings);
  // Returns true if it is explained here, and no other rule's to judge.
  bool on(const LostSeen& lost, const Facts& facts, Findings& findings);
  // Returns true if what the direction ended in is explained here.
  bool on(const EndSeen& end, const Facts& facts, Findings& findings);
  // Whether FPDUs of the direction were taken for private data, as has just been told.
  [[nodiscard]] bool swallowed(Direction from) noexcept { return std::exchange(half(from).swallowed, false); }
  void forget(Direction from);
  void finish(const Facts& facts, Findings& findings);

 private:
  struct Half {
    bool frame_seen = false;
    Place frame_first{}, frame_last{};
    std::uint64_t frame_begin = 0, frame_end = 0;       // stream offsets
    std::optional<std::uint64_t> frame_acknowledged{};  // by its first octet
    bool frame_and_more = false;                        // one segment carried its end and more after it
    Piece frame{};                                      // and its octets, for an excerpt later on
    std::vector<std::byte> frame_octets{};
    std::vector<TcpSegment> segments{};  // before the frame was complete
    bool fpdu_seen = false;
    bool swallowed = false;
    bool unknown = false;  // octets were lost before the first FPDU
    Place first_fpdu_complete{};
    std::uint64_t first_fpdu_end = 0;  // stream offset
  };
  // The Responder's first FPDU, until the Initiator's is seen.
  struct Early {
    Piece piece{};
    std::vector<std::byte> octets{};
  };
  [[nodiscard]] Half& half(Direction from) noexcept { return halves_[static_cast<std::size_t>(from)]; }
  void note_roles(const StartupSeen& seen);
  bool explain(const LostSeen& lost, const Facts& facts, Findings& findings);
  void judge_reply_time(const Facts& facts, Findings& findings);
  void judge_fpdu_time(const Facts& facts, Findings& findings);
  [[nodiscard]] bool swallows_fpdus(Direction from, std::optional<std::uint64_t> received, const Facts& facts);
  [[nodiscard]] bool surplus(Direction from, std::optional<std::uint64_t> acknowledged) noexcept;
  void tell_length(Direction from, std::string message, Findings& findings);
  bool judge_first(const FpduSeen& fpdu, const Facts& facts, Findings& findings);
  bool judge_fence(Findings& findings);
  void judge_rejected(const FpduSeen& fpdu, Findings& findings);

  std::array<Half, 2> halves_{};
  std::optional<Early> early_{};
  bool reply_early_ = false;             // it came before the Request was complete, unless PD_Length is wrong
  std::optional<Finding> fpdu_early_{};  // before the Reply was complete, unless PD_Length is wrong
  std::optional<std::uint64_t> fpdu_early_acknowledged_{};
  bool rejected_told_ = false;  // an FPDU of a connection that was rejected
};

}  // namespace weft::conformance
