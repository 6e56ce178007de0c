// SPDX-License-Identifier: Apache-2.0
#include "verbs/stream/narrator.hpp"

#include <spdlog/fmt/fmt.h>

#include <utility>
#include <variant>

#include "ddp/text.hpp"
#include "mpa/text.hpp"
#include "rdmap/text.hpp"
#include "verbs/log/log.hpp"

namespace weft::verbs::detail {

namespace {

std::string describe(const engine::ErrorReport& report) {
  return fmt::format("{}: {}", rdmap::text(report.error()), report.sentence);
}

}  // namespace

std::unique_ptr<Narrator> Narrator::make(std::uint64_t connection, const transport::Socket& socket, mpa::Role role) {
  if (!log_shows(LogLevel::kInfo)) return nullptr;
  auto narrator = std::make_unique<Narrator>(connection, role, log_shows(LogLevel::kDebug));
  const auto local = socket.local(), peer = socket.peer();
  narrator->say(fmt::format("TCP from {} to {}, {} of the MPA startup", local ? local->to_string() : "an unknown end",
                            peer ? peer->to_string() : "an unknown end",
                            role == mpa::Role::kInitiator ? "initiator" : "responder"));
  return narrator;
}

Narrator::Narrator(std::uint64_t connection, mpa::Role role, bool each_fpdu)
    : connection_(connection),
      outbound_(role == mpa::Role::kInitiator ? engine::Direction::kFromInitiator : engine::Direction::kFromResponder),
      each_fpdu_(each_fpdu) {}

// --- Octets

void Narrator::sent(std::span<const Bytes> pieces) {
  for (const Bytes piece : pieces) {
    feed(outbound_, piece);
  }
  look();
}

void Narrator::received(Bytes octets) {
  feed(engine::opposite(outbound_), octets);
  look();
}

void Narrator::feed(engine::Direction from, Bytes octets) {
  Side& here = side(from);
  here.octets += octets.size();
  if (here.read) observer_.feed(from, octets);
}

void Narrator::look() {
  if (!sent_.read && !received_.read) return;
  while (const auto seen = observer_.next()) std::visit([this](const auto& what) { tell(what); }, *seen);
}

void Narrator::tell(const engine::StartupSeen& seen) {
  ++frames_;
  const bool accepts = seen.frame.kind == mpa::FrameKind::kReply && !seen.frame.reject;
  say(fmt::format("{} {}: {}{}", mpa::name(seen.frame.kind), ours(seen.from) ? "sent" : "received",
                  accepts ? "accepted, " : "", mpa::text(seen.frame)));
  if (seen.frame.reject || (frames_ == 2 && !each_fpdu_)) sent_.read = received_.read = false;
}

void Narrator::tell(const engine::SegmentSeen& seen) {
  ++side(seen.from).fpdus;
  const engine::InboundSegment& segment = seen.segment;
  const bool last = std::visit([](const auto& header) { return header.last; }, segment.header);
  log_connection(
      LogLevel::kDebug, connection_,
      fmt::format("FPDU {}, {} octets at {}: {}, {}{}, {} octets of payload", ours(seen.from) ? "sent" : "received",
                  seen.fpdu_size, seen.stream_offset, rdmap::row(segment.opcode).name, ddp::text(segment.header),
                  last ? ", last" : "", segment.payload().size()));
}

// The engine judges what it receives, and says so; this only ends the reading.
void Narrator::tell(const engine::FaultSeen& seen) {
  side(seen.from).read = false;
  log_connection(LogLevel::kDebug, connection_,
                 fmt::format("what is {} cannot be read any further: {}", ours(seen.from) ? "sent" : "received",
                             describe(engine::report_of(seen.fault))));
}

// --- Events

namespace {

// A certificate may have thousands of names, and long ones: the line has the first.
std::string words_of(const transport::PeerIdentity& peer) {
  constexpr std::size_t kMostOctets = 512;
  std::string words = "is " + peer.subject.substr(0, kMostOctets) + (peer.subject.size() > kMostOctets ? "..." : "");
  std::size_t shown = 0;
  for (; shown < peer.names.size(); ++shown) {
    if (words.size() + peer.names[shown].size() > 2 * kMostOctets) break;
    words += ", " + peer.names[shown];
  }
  return shown == peer.names.size() ? words : words + fmt::format(", and {} more names", peer.names.size() - shown);
}

}  // namespace

void Narrator::on(const transport::PeerIdentity& peer) const {
  say(fmt::format("TLS 1.3 with {}{}; the peer {}", peer.cipher, peer.resumed ? ", by a ticket" : "",
                  peer.fingerprint.empty() ? "has shown no certificate" : words_of(peer)));
}

void Narrator::on(const engine::Established& event) const {
  say(fmt::format("established: MPA revision {}, {}, Markers {}, IRD {}, ORD {}, ready-to-receive by {}",
                  event.revision, event.crc ? "CRC" : "no CRC",
                  event.markers_in ? (event.markers_out ? "both ways" : "in what arrives")
                                   : (event.markers_out ? "in what leaves" : "off"),
                  event.ird, event.ord, mpa::name(event.rtr)));
}

void Narrator::on(const engine::ProtocolError& event) const {
  say((event.terminate_sent ? "Terminate sent, " : "closing without a Terminate, ") + describe(event.report));
}

void Narrator::on(const engine::TerminateReceived& event) const {
  say("Terminate received, " + describe(event.report));
}

void Narrator::on(const engine::StartupFailed& event) const { say("startup failed, " + describe(event.report)); }

void Narrator::lost(std::string_view how) {
  if (!std::exchange(lost_, true)) say(fmt::format("TCP connection lost: {}", how));
}

void Narrator::closed(std::string_view how) const {
  const auto counts = [this](const Side& moved) {
    return each_fpdu_ ? fmt::format("{} octets, {} FPDUs", moved.octets, moved.fpdus)
                      : fmt::format("{} octets", moved.octets);
  };
  say(fmt::format("closed {}; sent {}; received {}", how, counts(sent_), counts(received_)));
}

void Narrator::say(std::string_view what) const { log_connection(LogLevel::kInfo, connection_, what); }

}  // namespace weft::verbs::detail
