// SPDX-License-Identifier: Apache-2.0
// A peer made by hand: sends an engine whatever octets a test likes and reads what the engine answers.
#pragma once

#include "ddp/header.hpp"
#include "mpa/fpdu_receiver.hpp"
#include "mpa/fpdu_sender.hpp"
#include "mpa/startup_frame.hpp"
#include "rdmap/atomic_messages.hpp"
#include "rdmap/control.hpp"
#include "rdmap/terminate.hpp"
#include "tests/engine/builders.hpp"

namespace weft::engine::test {

using Octets = std::vector<std::byte>;

struct Heard {  // one FPDU of the engine
  ddp::Header header{};
  rdmap::Opcode opcode{};
  Octets payload{};
};

class Rogue {
 public:
  // The engine under test is the responder, unless told otherwise.
  explicit Rogue(Config config = responder(), mpa::Framing framing = {})
      : end(config), out_(framing), in_(framing), initiates_(config.role == mpa::Role::kResponder) {}

  End end;
  Instant now{};

  // --- Startup
  void send_frame(const mpa::StartupFrame& frame) {
    Octets octets(frame.size());
    mpa::serialize(frame, octets);
    send(octets);
  }
  // Both ends agree and the engine's fence is down: a zero-length RDMA Write went first.
  void establish(mpa::StartupFrame frame = {.crc = true, .revision = 1}) {
    frame.kind = initiates_ ? mpa::FrameKind::kRequest : mpa::FrameKind::kReply;
    if (!initiates_) {
      require(end.engine.connect({}).has_value(), "the engine takes the call");
      flush();
    }
    send_frame(frame);
    if (initiates_) {
      require(end.engine.accept({}, {}).has_value(), "the engine takes the call");
    }
    require(end.count<Established>() == 0, "established");
    end.poll();
    require(end.count<Established>() == 1, "established");
    flush();
    skip_ = end.sent.size();
    if (initiates_) return tagged(rdmap::Opcode::kWrite, {}, {}, {});
    require(end.engine.post({.operation = Operation::kWrite}).has_value(), "the engine takes the call");
    flush();
    end.poll();
    end.events.clear();
    heard();
  }

  // --- To the engine
  void send(Octets octets) {
    end.unread.insert(end.unread.end(), octets.begin(), octets.end());
    offer();
  }
  void offer() {
    end.last = end.engine.receive(end.unread, now);
    end.unread.erase(end.unread.begin(), end.unread.begin() + static_cast<std::ptrdiff_t>(end.last.consumed));
    end.poll();
  }
  [[nodiscard]] Octets fpdu(const Octets& ulpdu) {
    Octets room(out_.fpdu_size(ulpdu.size()));
    std::ranges::copy(ulpdu, room.begin() + static_cast<std::ptrdiff_t>(out_.prefix_size()));
    out_.seal(room, ulpdu.size());
    return room;
  }
  static Octets ulpdu(const ddp::Header& header, const Octets& payload) {
    Octets octets(ddp::header_size(header));
    ddp::serialize(header, octets);
    octets.insert(octets.end(), payload.begin(), payload.end());
    return octets;
  }
  void segment(const ddp::Header& header, const Octets& payload = {}) { send(fpdu(ulpdu(header, payload))); }
  void tagged(rdmap::Opcode opcode, std::uint32_t stag, std::uint64_t offset, const Octets& payload = {},
              bool last = true) {
    segment(ddp::TaggedHeader{last, rdmap::control_octet(opcode), {stag}, {offset}}, payload);
  }
  void untagged(rdmap::Opcode opcode, std::uint32_t msn, const Octets& payload = {}, std::uint32_t offset = 0,
                bool last = true, std::uint32_t word = 0) {
    const auto queue = std::to_underlying(*rdmap::row(opcode).queue);
    segment(ddp::UntaggedHeader{last, rdmap::control_octet(opcode), word, queue, {msn}, {offset}}, payload);
  }
  void read_request(std::uint32_t msn, const rdmap::ReadRequest& request) {
    Octets payload(rdmap::ReadRequestLayout::kSize);
    rdmap::serialize(request, payload);
    untagged(rdmap::Opcode::kReadRequest, msn, payload);
  }
  void atomic_request(std::uint32_t msn, const rdmap::AtomicRequest& request) {
    Octets payload(rdmap::AtomicRequestLayout::kSize);
    rdmap::serialize(request, payload);
    untagged(rdmap::Opcode::kAtomicRequest, msn, payload);
  }
  void fin() {
    end.engine.end_of_stream(now);
    end.poll();
  }
  void wait(Duration by) {
    now = now + by;
    while (const auto next = end.engine.next_deadline()) {
      if (*next > now) break;
      end.engine.deadline_passed(now);
    }
    end.poll();
  }

  // --- From the engine
  void flush() {
    do {
      end.engine.fill(end.batch, now);
      for (const Bytes piece : end.batch.pieces()) end.sent.insert(end.sent.end(), piece.begin(), piece.end());
      const std::size_t size = end.batch.size();
      end.batch.consume(size);
      end.engine.written(size, now);
    } while (end.engine.has_output());
    end.poll();
  }
  // The FPDUs sent since the last call.
  std::vector<Heard> heard() {
    flush();
    Octets fresh(end.sent.begin() + static_cast<std::ptrdiff_t>(skip_), end.sent.end());
    skip_ = end.sent.size();
    std::vector<Heard> all;
    for (std::size_t at = 0; at < fresh.size();) {
      const auto fpdu = in_.next(MutableBytes(fresh).subspan(at));
      require(fpdu && *fpdu, "what the engine sends are FPDUs");
      at += (*fpdu)->consumed;
      const auto header = ddp::parse((*fpdu)->ulpdu);
      const auto payload = (*fpdu)->ulpdu.subspan(ddp::header_size(*header));
      const auto control = std::visit([](const auto& h) { return h.rsvd_ulp; }, *header);
      all.push_back(
          {*header, static_cast<rdmap::Opcode>(rdmap::opcode_bits(control)), {payload.begin(), payload.end()}});
    }
    return all;
  }
  // The one Terminate, which is all and the last that is heard; nothing when something else is.
  std::optional<rdmap::Terminate> terminate() {
    const auto all = heard();
    if (all.size() != 1 || all.front().opcode != rdmap::Opcode::kTerminate) return std::nullopt;
    const auto report = rdmap::parse_terminate(all.front().payload);
    return report ? std::optional(report->as_rfc) : std::nullopt;
  }
  [[nodiscard]] std::size_t heard_octets() const { return end.sent.size() - skip_; }

 private:
  mpa::FpduSender out_;
  mpa::FpduReceiver in_;
  bool initiates_;
  std::size_t skip_ = 0;
};

}  // namespace weft::engine::test
