// SPDX-License-Identifier: Apache-2.0
// Watches a connection from outside: the octets of both directions go in, what they mean comes out. It runs
// the receiving halves of two engines and answers nothing, so it needs neither a socket nor a clock nor memory.
//
//   Observer observer;
//   observer.feed(Direction::kFromInitiator, octets);   // in the order of the capture, chopped in any way
//   while (auto seen = observer.next()) std::visit(..., *seen);
#pragma once

#include <array>
#include <cstdint>
#include <optional>
#include <variant>
#include <vector>

#include "engine/direction.hpp"
#include "engine/inbound.hpp"
#include "mpa/startup_frame.hpp"

namespace weft::engine {

// Takes every octet and keeps none: all STags are valid, a receive is always posted.
class AcceptEverything final : public ddp::Placement {
 public:
  std::expected<void, ddp::AccessError> place_tagged(ddp::Stag stag, ddp::TaggedOffset offset, Bytes payload) override;
  std::optional<ddp::ReceiveBuffer> take_receive() override;
  std::expected<void, ddp::LocalFault> place_untagged(const ddp::ReceiveBuffer& buffer, std::uint64_t offset,
                                                      Bytes payload) override;

 private:
  std::uint64_t receives_ = 0;
};

// --- What was seen. Spans are valid until the next call of the observer.

struct StartupSeen {
  Direction from{};
  mpa::StartupFrame frame{};
};
struct SegmentSeen {  // one FPDU, good at every layer
  Direction from{};
  std::uint64_t stream_offset{};  // of the FPDU, from the first octet after the startup frame
  std::size_t fpdu_size{};        // in the stream, Markers included
  InboundSegment segment{};       // header, payload and what it led to
};
struct FaultSeen {  // nothing more comes from this direction
  Direction from{};
  Fault fault{};
};
struct EndSeen {  // FIN at an FPDU boundary
  Direction from{};
};

using Observation = std::variant<StartupSeen, SegmentSeen, FaultSeen, EndSeen>;

class Observer {
 public:
  // `at_responder` records what the initiator sends, `at_initiator` what the responder sends; both outlive the
  // observer.
  Observer(ddp::Placement& at_responder, ddp::Placement& at_initiator);

  void feed(Direction from, Bytes octets);
  void end(Direction from);
  // The next observation, or nothing until more is fed.
  std::optional<Observation> next();

  // Octets fed and not understood yet: a frame is not complete, or the other direction's startup frame is missing.
  [[nodiscard]] std::size_t waiting(Direction from) const noexcept {
    return half(from).octets.size() - half(from).used;
  }

 private:
  // One direction.
  struct Half {
    ddp::Placement* placement{};
    std::vector<std::byte> octets{};
    std::size_t used = 0;
    std::optional<Inbound> inbound{};
    bool frame_seen = false;
    bool wants_crc = false, wants_markers = false;  // of its startup frame
    bool over = false;                              // a fault, a rejection or the end
    bool ended = false;                             // end() was called
  };

  [[nodiscard]] Half& half(Direction from) noexcept { return halves_[static_cast<std::size_t>(from)]; }
  [[nodiscard]] const Half& half(Direction from) const noexcept { return halves_[static_cast<std::size_t>(from)]; }
  std::optional<Observation> advance(Direction from);
  std::optional<Observation> advance_startup(Direction from);
  std::optional<Observation> advance_fpdus(Direction from);
  std::optional<Observation> finish(Direction from);
  Observation fault(Direction from, const Fault& fault);
  void begin_fpdus();

  std::array<Half, 2> halves_{};
};

}  // namespace weft::engine
