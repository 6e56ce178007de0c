// SPDX-License-Identifier: Apache-2.0
// The MPA startup, RFC 5044 section 7.1 and RFC 6581: two small machines, one for each role. They neither send nor
// wait: octets go in and come out. The role is the caller's choice, whichever end opened the TCP connection (MPA-2-03).
// Which end may send when is in mpa/startup_phase.hpp.
//
//   Initiator                                        Responder
//   start() --------- MPA Request -----------------> receive() -> RequestReceived
//   receive() -> Agreement <-------- MPA Reply ----- accept() -> Agreement   (or reject())
//   first_fpdu_sent() ==== first FPDU or RTR ======> first_fpdu_received(): from here on the responder may send
#pragma once

#include <array>
#include <expected>
#include <optional>
#include <variant>
#include <vector>

#include "common/wire.hpp"
#include "mpa/agreement.hpp"
#include "mpa/startup_frame.hpp"
#include "mpa/startup_phase.hpp"

namespace weft::mpa {

// The local user asked for what cannot be done.
enum class Misuse : std::uint8_t {
  kWrongPhase,          // for instance accept() before a Request arrived
  kRevision,            // Policy::revision is neither 1 nor 2
  kPrivateDataTooLong,  // more than 512 octets, or 508 with enhanced data
  kDepthOutOfRange,     // IRD or ORD above 0x3FFF
  kPeerToPeerNeedsEnhanced,
  kNoRtrType,  // peer-to-peer, and Policy::rtr is empty (MPA2-9.2-04, MPA2-9.2-05)
};

struct NeedMore {
  std::size_t missing{};  // octets that the peer's frame still needs at least
};

template <typename... Outcomes>
struct StartupStep {
  // Octets of the peer's frame; 0 while it is incomplete: present them again with more after them.
  std::size_t consumed{};
  std::variant<NeedMore, Outcomes..., StartupFailure> outcome{};
};

// A startup frame on its way out. It takes as much memory as it has octets, and none once it is sent: an established
// connection keeps its machine, and there may be thousands.
class FrameBuffer {
 public:
  Bytes write(const StartupFrame& frame) {
    std::array<std::byte, kMaxStartupFrameSize> largest;
    const Bytes octets = Bytes(largest).first(serialize(frame, largest));
    octets_.assign(octets.begin(), octets.end());
    return octets_;
  }
  void clear() noexcept { octets_ = std::vector<std::byte>(); }  // = {} would keep the room

 private:
  std::vector<std::byte> octets_{};
};

class Initiator {
 public:
  using Step = StartupStep<Agreement, Rejection>;

  explicit Initiator(const Policy& policy) noexcept : policy_(policy) {}

  // The Request to send, with or without private data (MPA-7.1.2-02). The octets stay valid until frame_sent().
  std::expected<Bytes, Misuse> start(Bytes private_data);
  void frame_sent() noexcept { request_.clear(); }

  // Octets from the peer, until an outcome. Between the Agreement and first_fpdu_sent() any octet is a fault, since the
  // responder has to wait for our first FPDU: call this then, too (an empty span is harmless).
  Step receive(Bytes octets) noexcept;

  // Our first FPDU (the RTR with peer-to-peer) is on its way: from now on what arrives are FPDUs.
  void first_fpdu_sent() noexcept;

  // The peer closed or reset TCP before an outcome.
  StartupFailure closed() noexcept;
  // The driver's timer for the startup has run out.
  StartupFailure timed_out() noexcept;

  [[nodiscard]] Phase phase() const noexcept { return phase_; }

 private:
  void advance(Trigger trigger) noexcept;
  Step judge(const StartupFrame& reply, bool surplus) noexcept;
  Step fail(Fault fault, const std::optional<Agreement>& terminate_in = {}, bool retry = false) noexcept;
  [[nodiscard]] bool asked_enhanced() const noexcept { return policy_.revision >= 2 && policy_.enhanced; }

  Policy policy_;
  Phase phase_ = Phase::kIdle;
  bool heard_ = false;  // at least one octet of the Reply has arrived
  FrameBuffer request_{};
};

// What accept() and reject() may say other than the Policy does.
struct Depths {
  ReadDepth ird{};
  ReadDepth ord{};
};

class Responder {
 public:
  using Step = StartupStep<RequestReceived>;

  struct Reply {
    Bytes octets{};         // to send; valid until frame_sent()
    Agreement agreement{};  // in force once they are sent; private_data is empty (it came with RequestReceived)
  };

  explicit Responder(const Policy& policy) noexcept : policy_(policy) {}

  // Octets from the peer, until an outcome, and also between RequestReceived and accept() or reject(): any octet is a
  // fault then.
  Step receive(Bytes octets) noexcept;

  // Enable the FPDU receiver before sending the Reply: the first FPDU may be on its heels (MPA-7.1.2-11).
  std::expected<Reply, Misuse> accept(Bytes private_data, const Depths& depths = {});
  // MPA is left then, and the TCP connection is the ULP's (MPA-7.1.2-07). With an enhanced Request, `depths.ord` may
  // name the ORD that would have been needed (MPA2-9.1-11).
  std::expected<Bytes, Misuse> reject(Bytes private_data, const Depths& depths = {});
  void frame_sent() noexcept { reply_.clear(); }

  // A valid FPDU arrived: the fence is lifted, we may send (MPA-7.1.2-17, MPA2-3-04).
  void first_fpdu_received() noexcept;

  // The peer closed or reset TCP before an outcome.
  StartupFailure closed() noexcept;
  // The driver's timer for the startup has run out (MPA-7.1.2-26).
  StartupFailure timed_out() noexcept;

  [[nodiscard]] Phase phase() const noexcept { return phase_; }

 private:
  struct Limits {  // our own IRD and ORD, as on the wire
    std::uint16_t ird{};
    std::uint16_t ord{};
  };

  void advance(Trigger trigger) noexcept;
  Step fail(Fault fault) noexcept;
  [[nodiscard]] Limits limits(const Depths& depths) const noexcept;
  [[nodiscard]] std::optional<Misuse> misuse(Bytes private_data, const Limits& own) const noexcept;
  [[nodiscard]] Agreement agree(const Limits& own) const noexcept;
  [[nodiscard]] EnhancedData reply_data(ReadDepth ird, ReadDepth ord, const Limits& own) const noexcept;
  [[nodiscard]] StartupFrame reply_frame(Bytes private_data) const noexcept;

  Policy policy_;
  Phase phase_ = Phase::kAwaitingRequest;
  bool heard_ = false;
  RequestReceived request_{};  // without its private data
  FrameBuffer reply_{};
};

}  // namespace weft::mpa
