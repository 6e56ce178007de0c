// SPDX-License-Identifier: Apache-2.0
#include "explain/laboratory/words.hpp"

#include "common/text.hpp"
#include "ddp/text.hpp"
#include "engine/work.hpp"
#include "rdmap/text.hpp"

namespace weft::explain::laboratory {
namespace {

using std::to_string;

std::string depth(std::string_view name, const std::optional<std::uint16_t>& value) {
  return std::string(name) + (value ? " " + to_string(*value) : " not negotiated");
}

std::string sentence(const engine::ErrorReport& report) {
  return rdmap::text(report.error()) + ": " + std::string(report.sentence);
}

std::string_view name(engine::WorkStatus status) noexcept {
  switch (status) {
    case engine::WorkStatus::kSuccess: return "done";
    case engine::WorkStatus::kLocalProtection: return "failed: memory of this end may not be used";
    case engine::WorkStatus::kRemoteAccess: return "failed: the peer refused the access";
    case engine::WorkStatus::kRemoteOperation: return "failed: the peer refused the operation";
    case engine::WorkStatus::kBadResponse: return "failed: the peer's response did not answer it";
    case engine::WorkStatus::kFlushed: return "flushed: the stream ended first";
  }
  return {};
}

// One for each event.
struct Teller {
  Told operator()(const engine::ConnectionRequested& event) const {
    return {"connection requested", "MPA revision " + to_string(event.revision) + ", " + depth("IRD", event.peer_ird) +
                                        ", " + depth("ORD", event.peer_ord) +
                                        (event.peer_to_peer ? ", peer to peer" : "") + ", " +
                                        octets_text(event.private_data.size()) + " of private data"};
  }
  Told operator()(const engine::Established& event) const {
    return {"established",
            std::string(event.crc ? "CRC in use" : "no CRC") + (event.markers_in ? ", Markers in what arrives" : "") +
                (event.markers_out ? ", Markers in what is sent" : "") + ", IRD " + to_string(event.ird) + ", ORD " +
                to_string(event.ord) + ", ready-to-receive: " + std::string(mpa::name(event.rtr))};
  }
  Told operator()(const engine::Rejected& event) const {
    return {"rejected", "the peer's user said no, with " + octets_text(event.private_data.size()) + " of private data"};
  }
  Told operator()(const engine::SendCompleted& event) const {
    return {"work completed", std::string(engine::row(event.operation).name) + " " + std::string(name(event.status)) +
                                  ", " + octets_text(event.length)};
  }
  Told operator()(const engine::Received& event) const {
    std::string words = "receive " + to_string(event.cookie) + " ";
    if (event.status != engine::WorkStatus::kSuccess) {
      words += name(event.status);
    } else {
      words += "has " + octets_text(event.length);
    }
    if (event.solicited) words += ", with a Solicited Event";
    if (event.invalidated) words += ", and " + ddp::text(*event.invalidated) + " is invalidated";
    if (event.immediate) words += ": Immediate Data " + hex(*event.immediate);
    return {"message delivered", words};
  }
  Told operator()(const engine::ReceiveStalled&) const {
    return {"receive stalled", "a Send has arrived and no receive is posted"};
  }
  Told operator()(const engine::ProtocolError& event) const {
    return {"protocol error",
            sentence(event.report) + (event.terminate_sent ? "" : " (told by closing the connection alone)")};
  }
  Told operator()(const engine::TerminateReceived& event) const {
    return {"Terminate received", sentence(event.report)};
  }
  Told operator()(const engine::StartupFailed& event) const { return {"startup failed", sentence(event.report)}; }
  Told operator()(const engine::TimedOut&) const { return {"timed out", "the peer kept this end waiting"}; }
  Told operator()(const engine::PeerClosed&) const { return {"peer closed", "the peer will send nothing more"}; }
  Told operator()(const engine::SendQueueDrained&) const { return {"drained", "no work request is in progress"}; }
  Told operator()(const engine::Closed& event) const {
    return {"closed", event.graceful ? "gracefully" : "not gracefully"};
  }
  Told operator()(const engine::Remark& event) const { return {"remark", std::string(event.sentence)}; }
};

std::string more_octets(std::size_t missing, std::string_view of) {
  if (missing == 0) return "the peer's next " + std::string(of);
  return to_string(missing) + " more octets of the peer's " + std::string(of) + ", at least";
}

}  // namespace

Told told(const engine::Event& event) { return std::visit(Teller{}, event); }

std::string waiting(const Situation& now) {
  using Want = engine::ReceiveResult::Want;
  switch (now.state) {
    case State::kClosed: return "nothing: the connection is over";
    case State::kTerminating: return now.fin_sent ? "the peer's FIN" : "the end of what it still has to send";
    case State::kStartup:
      if (now.fin_sent) return "the peer's FIN";
      return more_octets(now.last.missing, now.role == mpa::Role::kInitiator ? "MPA Reply" : "MPA Request");
    case State::kRdmaMode: break;
  }
  if (now.last.want == Want::kReceive)
    return "a receive for the Send that has arrived; in the end it sends a Terminate";
  if (now.peer_finished || now.fin_sent) return now.peer_finished ? "the end of its own work" : "the peer's FIN";
  return more_octets(now.last.missing, "FPDU");
}

}  // namespace weft::explain::laboratory
