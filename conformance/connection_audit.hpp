// SPDX-License-Identifier: Apache-2.0
/// @file
/// The auditor of one TCP connection. Programs that have TCP octets of their own use it directly:
///
///     ConnectionAudit audit(0);
///     audit.on(TcpOctets{.from = End::kFirst, .octets = octets, .place = {packet, octet}, .stream_offset = offset});
///     audit.finish();
///     for (const Finding& finding : audit.findings().all()) ...   (examples/judge_startup.cpp)
///
/// Pass events in an order in which the ends can have sent: octets after those that they acknowledge. TcpOpened,
/// TcpSegment and TcpOctets::acknowledged may be omitted. What only they show is then unknown, and rules that need it
/// are not checked: without acknowledged, those on who had to wait for whom.
#pragma once

#include <array>
#include <cstdint>
#include <memory>
#include <optional>
#include <vector>

#include "conformance/facts.hpp"
#include "conformance/finding.hpp"
#include "conformance/tally.hpp"
#include "conformance/walk.hpp"
#include "mpa/agreement.hpp"

namespace weft::conformance {

/// Checks one connection against the rules. Not thread-safe.
/// Memory is bounded by that of the walk, and by Findings::kMost findings per rule and direction.
class ConnectionAudit {
 public:
  /// Creates an auditor. `number` is the number of the connection in the capture, which findings contain.
  explicit ConnectionAudit(std::size_t number);
  /// Destroys the auditor with its findings and facts.
  ~ConnectionAudit();
  /// Takes over the state of another auditor, which must not be used afterwards.
  ConnectionAudit(ConnectionAudit&&) noexcept;
  /// Replaces the state by that of another auditor, which must not be used afterwards.
  ConnectionAudit& operator=(ConnectionAudit&&) noexcept;

  /// Checks an event. Its spans are not used after the call.
  void on(const TcpEvent& event);
  /// Ends the capture, and checks what waited for more octets.
  void finish();

  /// Returns the findings so far.
  [[nodiscard]] const Findings& findings() const noexcept { return findings_; }
  /// Returns the content of the startup frames and the SYNs.
  [[nodiscard]] const Facts& facts() const noexcept { return facts_; }
  /// Returns the statistics of a direction so far.
  [[nodiscard]] const Tally& tally(Direction from) const noexcept { return tallies_[static_cast<std::size_t>(from)]; }
  /// Returns whether a startup frame or FPDUs were found.
  [[nodiscard]] bool iwarp() const noexcept { return walk_.iwarp(); }
  /// Returns whether a startup frame determined the Initiator. If not, End::kFirst counts as the Initiator.
  [[nodiscard]] bool roles_known() const noexcept { return walk_.roles_known(); }
  /// Returns the Initiator, once iwarp() is true.
  [[nodiscard]] std::optional<End> initiator() const noexcept { return walk_.initiator(); }
  /// Returns how many octets of the connection wait for others.
  [[nodiscard]] std::size_t held() const noexcept { return walk_.held(); }
  /// Returns the ready-to-receive indication of a peer-to-peer connection.
  [[nodiscard]] std::optional<mpa::Rtr> rtr() const noexcept;

 private:
  struct Rules;

  void drain();
  void note_roles();
  void begin_rules();
  void judge(const StreamingSeen& seen);
  void judge(const StartupSeen& seen);
  void judge(const FpduSeen& fpdu);
  void judge(const LostSeen& lost);
  void judge(const ResumedSeen& resumed);
  void judge(const SegmentSeen& segment);
  void judge(const EndSeen& end);
  void judge(const CaptureOver& over);
  void lose(Direction from);
  void forget(Direction from);
  void note_frame(const StartupSeen& seen);
  void note_absence(Direction from, NoFrame& frame);
  void note_unread(Direction from);
  [[nodiscard]] Tally& tally_of(Direction from) noexcept { return tallies_[static_cast<std::size_t>(from)]; }

  Walk walk_{};
  Facts facts_{};
  Findings findings_;
  std::array<Tally, 2> tallies_{};
  std::optional<TcpOpened> opened_{};
  std::optional<End> initiator_{};    // as of the last piece
  std::unique_ptr<Rules> rules_;      // made for the first startup frame or FPDU: most connections have none
  std::vector<EndSeen> ends_seen_{};  // before that
};

}  // namespace weft::conformance
