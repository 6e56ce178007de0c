// SPDX-License-Identifier: Apache-2.0
// Judges one TCP connection: what TCP carried goes in, what was broken comes out. The entry for those who have TCP
// octets of their own:
//
//   ConnectionAudit audit(0);
//   audit.on(TcpOctets{.from = End::kFirst, .octets = octets, .place = {packet, octet}, .stream_offset = offset});
//   audit.finish();
//   for (const Finding& finding : audit.findings().all()) ...   (examples/judge_startup.cpp)
//
// Events come in the order of the capture. TcpOpened and TcpSegment may be left out; then what only they tell is
// unknown, and so is a rule that needs it.
#pragma once

#include <array>
#include <cstdint>
#include <memory>
#include <optional>

#include "conformance/facts.hpp"
#include "conformance/finding.hpp"
#include "conformance/tally.hpp"
#include "conformance/walk.hpp"
#include "mpa/agreement.hpp"

namespace weft::conformance {

// The auditor of one connection. Not safe for threads. Its memory is bounded: what the walk keeps, and Findings::kMost
// of each rule and direction.
class ConnectionAudit {
 public:
  // `number` is that of the connection in the capture; findings carry it.
  explicit ConnectionAudit(std::size_t number);
  ~ConnectionAudit();                                      // findings and facts go with it
  ConnectionAudit(ConnectionAudit&&) noexcept;             // the other one is not used any more
  ConnectionAudit& operator=(ConnectionAudit&&) noexcept;  // what this was is forgotten

  void on(const TcpEvent& event);  // judges what came; spans in it are not needed afterwards
  void finish();                   // the capture is over: what waits is judged

  // What was broken up to now.
  [[nodiscard]] const Findings& findings() const noexcept { return findings_; }
  // What the startup frames say, and the SYNs.
  [[nodiscard]] const Facts& facts() const noexcept { return facts_; }
  // What this end sent up to now.
  [[nodiscard]] const Tally& tally(Direction from) const noexcept { return tallies_[static_cast<std::size_t>(from)]; }
  // A startup frame was found, or FPDUs.
  [[nodiscard]] bool iwarp() const noexcept { return walk_.iwarp(); }
  // False when no startup frame told who the Initiator is; then End::kFirst is taken for it.
  [[nodiscard]] bool roles_known() const noexcept { return walk_.roles_known(); }
  // The end that is the Initiator, once iwarp() is true.
  [[nodiscard]] std::optional<End> initiator() const noexcept { return walk_.initiator(); }
  // The ready-to-receive indication of a peer-to-peer connection.
  [[nodiscard]] std::optional<mpa::Rtr> rtr() const noexcept;

 private:
  struct Rules;

  void drain();
  void judge(const StreamingSeen& seen);
  void judge(const StartupSeen& seen);
  void judge(const FpduSeen& fpdu);
  void judge(const LostSeen& lost);
  void judge(const ResumedSeen& resumed);
  void judge(const SegmentSeen& segment);
  void judge(const EndSeen& end);
  void judge(const CaptureOver& over);
  void forget(Direction from);
  void note_frame(const StartupSeen& seen);
  void note_absence(Direction from, NoFrame& frame);
  [[nodiscard]] Tally& tally_of(Direction from) noexcept { return tallies_[static_cast<std::size_t>(from)]; }

  Walk walk_{};
  Facts facts_{};
  Findings findings_;
  std::array<Tally, 2> tallies_{};
  std::optional<TcpOpened> opened_{};
  std::unique_ptr<Rules> rules_;
};

}  // namespace weft::conformance
