// SPDX-License-Identifier: Apache-2.0
// The phases of an MPA startup (MPA-1.2-01) as one table, RFC 5044 sections 7.1.2 and 7.2: the machines step through
// it, diagram() prints it.
#pragma once

#include <array>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

namespace weft::mpa {

enum class Phase : std::uint8_t {
  kIdle,             // initiator: start() has not been called
  kAwaitingReply,    // initiator: sends nothing more, whatever arrives must be the Reply
  kMustSendFirst,    // initiator: full operation, but the peer may not send before our first FPDU
  kAwaitingRequest,  // responder
  kDeciding,         // responder: the ULP looks at the Request; no octet may arrive
  kFenced,           // responder: receives FPDUs, sends none before the first has arrived (MPA-7.1.2-17, MPA-7.1.3-03)
  kOpen,             // full operation in both directions
  kRejected,         // MPA is left; TCP is open and belongs to the ULP
  kFailed,           // TCP is to be closed
};

enum class Trigger : std::uint8_t {
  kStart,
  kReplyAccepts,
  kReplyRejects,
  kFirstFpduSent,
  kRequest,
  kAccept,
  kReject,
  kFirstFpduReceived,
  kFault,
};

struct Transition {
  Phase from{};
  Trigger trigger{};
  Phase to{};
};

inline constexpr std::array kTransitions{
    Transition{Phase::kIdle, Trigger::kStart, Phase::kAwaitingReply},
    Transition{Phase::kAwaitingReply, Trigger::kReplyAccepts, Phase::kMustSendFirst},
    Transition{Phase::kAwaitingReply, Trigger::kReplyRejects, Phase::kRejected},
    Transition{Phase::kAwaitingReply, Trigger::kFault, Phase::kFailed},
    Transition{Phase::kMustSendFirst, Trigger::kFirstFpduSent, Phase::kOpen},
    Transition{Phase::kMustSendFirst, Trigger::kFault, Phase::kFailed},
    Transition{Phase::kAwaitingRequest, Trigger::kRequest, Phase::kDeciding},
    Transition{Phase::kAwaitingRequest, Trigger::kFault, Phase::kFailed},
    Transition{Phase::kDeciding, Trigger::kAccept, Phase::kFenced},
    Transition{Phase::kDeciding, Trigger::kReject, Phase::kRejected},
    Transition{Phase::kDeciding, Trigger::kFault, Phase::kFailed},
    Transition{Phase::kFenced, Trigger::kFirstFpduReceived, Phase::kOpen},
    Transition{Phase::kFenced, Trigger::kFault, Phase::kFailed},
};

// Returns the next phase; nothing if the trigger is invalid in this phase.
[[nodiscard]] constexpr std::optional<Phase> step(Phase from, Trigger trigger) noexcept {
  for (const Transition& t : kTransitions) {
    if (t.from == from && t.trigger == trigger) return t.to;
  }
  return std::nullopt;
}

// FPDUs may go out: the responder's fence is down (MPA2-3-03, MPA2-4.3-02), the initiator has its Reply (MPA-7.1.2-24).
[[nodiscard]] constexpr bool may_send_fpdus(Phase phase) noexcept {
  return phase == Phase::kMustSendFirst || phase == Phase::kOpen;
}

[[nodiscard]] std::string_view name(Phase phase) noexcept;
[[nodiscard]] std::string_view name(Trigger trigger) noexcept;

// The table as a Mermaid state diagram.
[[nodiscard]] std::string diagram();

}  // namespace weft::mpa
