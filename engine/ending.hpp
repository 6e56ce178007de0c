// SPDX-License-Identifier: Apache-2.0
// How a connection ends: the last octets, the local FIN, the FIN of the peer, and the time limits for them. After a
// rejection, the FIN of the peer precedes the local one.
//
//     open -> last octets -> FIN sent -> over
//       \___________\____________\________^      reset, timeout, nothing to send
#pragma once

#include <algorithm>
#include <optional>

#include "engine/engine.hpp"

namespace weft::engine {

class Ending {
 public:
  [[nodiscard]] bool begun() const noexcept { return step_ != Step::kOpen; }
  [[nodiscard]] bool fin_due() const noexcept { return step_ == Step::kLastOctets; }
  [[nodiscard]] bool fin_sent() const noexcept { return step_ == Step::kFinSent; }
  [[nodiscard]] bool over() const noexcept { return step_ == Step::kOver; }
  [[nodiscard]] bool peer_finished() const noexcept { return peer_fin_ == PeerFin::kTaken; }
  // The FIN of the peer follows a segment that waits for a receive.
  [[nodiscard]] bool peer_fin_waits() const noexcept { return peer_fin_ == PeerFin::kWaits; }
  // One of the directions is ending.
  [[nodiscard]] bool under_way() const noexcept { return begun() || peer_fin_ != PeerFin::kNone; }
  [[nodiscard]] std::optional<Instant> deadline() const noexcept { return deadline_; }
  // How the connection ends when deadline() passes.
  [[nodiscard]] Disposition overdue() const noexcept { return overdue_; }

  // The local FIN follows the last octets. `by`: limit for them, and for the FIN of the peer.
  void begin(std::optional<Instant> by) noexcept {
    if (step_ != Step::kOpen && step_ != Step::kLastOctets) return;
    step_ = Step::kLastOctets;
    if (by) wait_until(*by);
  }
  void send_fin(Instant by) noexcept {
    step_ = Step::kFinSent;
    wait_until(by);
  }
  void peer_fin_is_here() noexcept { peer_fin_ = PeerFin::kWaits; }
  void peer_has_finished() noexcept { peer_fin_ = PeerFin::kTaken; }
  void when_overdue(Disposition how) noexcept { overdue_ = how; }
  void finish(Disposition how) noexcept {
    step_ = Step::kOver;
    how_ = how;
    deadline_.reset();
  }
  [[nodiscard]] Disposition disposition() const noexcept {
    if (over()) return how_;
    return fin_sent() ? Disposition::kShutdownWrite : Disposition::kOpen;
  }

 private:
  // Each step may shorten the limit of the previous one, but never extend it.
  void wait_until(Instant by) noexcept { deadline_ = deadline_ ? std::min(*deadline_, by) : by; }

  enum class Step : std::uint8_t { kOpen, kLastOctets, kFinSent, kOver };
  enum class PeerFin : std::uint8_t { kNone, kWaits, kTaken };

  Step step_ = Step::kOpen;
  PeerFin peer_fin_ = PeerFin::kNone;
  Disposition how_ = Disposition::kOpen;
  Disposition overdue_ = Disposition::kClose;
  std::optional<Instant> deadline_{};
};

}  // namespace weft::engine
