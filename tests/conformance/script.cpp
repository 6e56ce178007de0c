// SPDX-License-Identifier: Apache-2.0
#include "tests/conformance/script.hpp"

#include <algorithm>

namespace weft::conformance::test {
namespace {

std::string who(Direction from) { return from == Direction::kFromInitiator ? "initiator" : "responder"; }

std::string describe(const StreamingSeen& s) { return who(s.from) + " streaming " + std::to_string(s.octets); }
std::string describe(const StartupSeen& s) {
  return who(s.piece.from) + " frame " + std::to_string(s.piece.octets.size()) + (s.frame ? "" : " faulty");
}
std::string describe(const FpduSeen& s) {
  return who(s.piece.from) + " fpdu " + std::to_string(s.ulpdu_length) + " at " +
         std::to_string(s.piece.stream_offset) + (s.crc == CrcVerdict::kBad ? " bad" : "");
}
std::string describe(const LostSeen& s) {
  return who(s.from) + (s.reason == LossReason::kCaptureGap ? " gap at " : " lost at ") +
         std::to_string(s.stream_offset);
}
std::string describe(const ResumedSeen& s) {
  return who(s.from) + " resumed at " + std::to_string(s.stream_offset) + " skipped " + std::to_string(s.skipped);
}
std::string describe(const SegmentSeen&) { return {}; }
std::string describe(const EndSeen& s) { return who(s.from) + " end" + (s.unfinished > 0 ? " inside" : ""); }
std::string describe(const CaptureOver&) { return "over"; }

std::vector<std::string> of_severity(const ConnectionAudit& audit, Severity severity) {
  std::vector<std::string> result;
  for (const Finding& finding : audit.findings().all()) {
    if (finding.rule->severity == severity) result.emplace_back(finding.rule->clause);
  }
  return result;
}

}  // namespace

Script Script::with_handshake(std::uint16_t mss) {
  Script script;
  script.packet_ = 3;
  script.steps_.push_back({TcpOpened{mss, mss, true}, {}});
  return script;
}

Script& Script::send(End from, const Octets& octets) {
  return send(from, octets, next_[static_cast<std::size_t>(opposite(from))]);
}

Script& Script::send(End from, const Octets& octets, std::optional<std::uint64_t> acknowledged) {
  std::uint64_t& next = next_[static_cast<std::size_t>(from)];
  ++packet_;
  steps_.push_back({TcpSegment{from, packet_, next, static_cast<std::uint32_t>(octets.size()), false}, {}});
  steps_.push_back({TcpOctets{from, {}, {packet_, kPayloadAt}, next, acknowledged}, octets});
  next += octets.size();
  return *this;
}

Script& Script::gap(End from, std::uint64_t octets) {
  std::uint64_t& next = next_[static_cast<std::size_t>(from)];
  ++packet_;
  steps_.push_back({TcpGap{from, next, octets, packet_}, {}});
  next += octets;
  return *this;
}

Script& Script::close(End from, Closing how) {
  ++packet_;
  steps_.push_back({TcpClosed{from, how, packet_}, {}});
  return *this;
}

Script Script::chopped(std::size_t size) const {
  Script result;
  for (const Step& step : steps_) {
    const auto* whole = std::get_if<TcpOctets>(&step.event);
    if (whole == nullptr) {
      result.steps_.push_back(step);
      continue;
    }
    for (std::size_t at = 0; at < step.octets.size(); at += size) {
      const auto begin = step.octets.begin() + static_cast<std::ptrdiff_t>(at);
      const std::size_t count = std::min(size, step.octets.size() - at);
      TcpOctets piece = *whole;
      piece.place.octet += static_cast<std::uint32_t>(at);
      piece.stream_offset += at;
      result.steps_.push_back({piece, {begin, begin + static_cast<std::ptrdiff_t>(count)}});
    }
  }
  return result;
}

Script Script::beheaded(std::size_t count) const {
  Script result;
  for (const Step& step : steps_) {
    if (std::holds_alternative<TcpClosed>(step.event)) result.steps_.push_back(step);
    const auto* whole = std::get_if<TcpOctets>(&step.event);
    if (whole == nullptr || whole->stream_offset + step.octets.size() <= count) continue;
    const std::size_t cut = whole->stream_offset < count ? count - static_cast<std::size_t>(whole->stream_offset) : 0;
    TcpOctets piece = *whole;
    piece.place.octet += static_cast<std::uint32_t>(cut);
    piece.stream_offset = whole->stream_offset + cut - count;
    if (piece.acknowledged) *piece.acknowledged -= std::min<std::uint64_t>(*piece.acknowledged, count);
    result.steps_.push_back({piece, {step.octets.begin() + static_cast<std::ptrdiff_t>(cut), step.octets.end()}});
  }
  return result;
}

// The octets of a step are copied into a buffer of their own that goes away after the call: AddressSanitizer finds
// code that keeps a span.
ConnectionAudit Script::audit() const {
  ConnectionAudit audit(0);
  for (const Step& step : steps_) {
    const Octets passing = step.octets;
    TcpEvent event = step.event;
    if (auto* piece = std::get_if<TcpOctets>(&event)) piece->octets = passing;
    audit.on(event);
  }
  audit.finish();
  return audit;
}

std::vector<std::string> Script::walk() const {
  std::vector<std::string> result;
  Walk walk;
  const auto drain = [&] {
    while (const auto seen = walk.next()) {
      const std::string text = std::visit([](const auto& s) { return describe(s); }, *seen);
      if (!text.empty()) result.push_back(text);
    }
  };
  for (const Step& step : steps_) {
    const Octets passing = step.octets;
    TcpEvent event = step.event;
    if (auto* piece = std::get_if<TcpOctets>(&event)) piece->octets = passing;
    walk.feed(event);
    drain();
  }
  walk.finish();
  drain();
  return result;
}

std::vector<std::string> listed(const ConnectionAudit& audit) {
  std::vector<std::string> result;
  for (const Finding& finding : audit.findings().all()) {
    result.push_back(std::string(finding.rule->clause) + " " + (finding.direction ? who(*finding.direction) : "both") +
                     " packet " + std::to_string(finding.place.packet) + " octet " +
                     std::to_string(finding.place.octet) + " offset " + std::to_string(finding.stream_offset) + ": " +
                     finding.message);
  }
  return result;
}

std::vector<std::string> violations(const ConnectionAudit& audit) { return of_severity(audit, Severity::kViolation); }
std::vector<std::string> warnings(const ConnectionAudit& audit) { return of_severity(audit, Severity::kWarning); }

}  // namespace weft::conformance::test
