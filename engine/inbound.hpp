// SPDX-License-Identifier: Apache-2.0
// The inbound direction of a connection: FPDU -> DDP segment -> RDMA Message. Each layer checks before the next one
// processes anything, and all checks precede the placement of an octet. Needs no socket, clock or registered memory:
// the live engine, the log of FPDUs, the replay of captures and the fuzzers use this class. The auditor does not,
// because it continues after a fault (docs/decisions/0021-auditor-walk.md).
#pragma once

#include <cstdint>
#include <expected>
#include <memory>
#include <optional>
#include <variant>

#include "ddp/tagged.hpp"
#include "ddp/untagged_queues.hpp"
#include "engine/event.hpp"
#include "engine/fault.hpp"
#include "mpa/fpdu_receiver.hpp"
#include "rdmap/atomic_messages.hpp"
#include "rdmap/immediate.hpp"
#include "rdmap/opcodes.hpp"
#include "rdmap/request_window.hpp"

namespace weft::engine {

// --- What a segment led to. Spans are valid until the next call.

struct Placed {};  // the message continues, or it was an RDMA Write, which is not reported to the user (RDMAP-5.1-02)
struct SendDelivered : Delivered {
  ddp::ReceiveBuffer buffer{};
  std::optional<ddp::Stag> invalidate{};  // to be invalidated now: at delivery (RDMAP-5.3-16)
};
struct ReadRequested {
  rdmap::ReadRequest request{};
};
struct AtomicRequested {
  rdmap::AtomicRequest request{};
};
struct ReadAnswered {  // one segment of a Read Response, to be put into the sink of our own Read
  rdmap::ResponsePiece piece{};
  Bytes payload{};
};
struct AtomicAnswered {
  std::uint64_t cookie{};
  std::uint64_t original{};
};
struct TerminateDelivered {
  const rdmap::TerminateReport* report{};  // apart, for it is longer than all the others together, and comes once
};

using Delivery = std::variant<Placed, SendDelivered, ReadRequested, AtomicRequested, ReadAnswered, AtomicAnswered,
                              TerminateDelivered>;

// One segment that passed all checks.
struct InboundSegment {
  std::size_t consumed{};
  std::uint64_t stream_offset{};
  bool pad_nonzero{};
  ddp::Header header{};
  rdmap::Opcode opcode{};
  Bytes ulpdu{};  // header and payload
  Delivery delivery{};
  [[nodiscard]] Bytes payload() const noexcept { return ulpdu.subspan(ddp::header_size(header)); }
};

// What next() found at the front of the stream.
enum class InboundStep : std::uint8_t {
  kNeedMore,     // not all of an FPDU is there: missing()
  kNeedReceive,  // a Send has no receive. The octets are not consumed: present the very same again, as next() left
                 // them, when there is one
  kSegment,      // segment()
};

// --- Where a payload belongs of which a part has not come yet.

struct SinkPlace {  // of our own Read
  std::uint64_t ticket{};
  std::uint64_t offset{};
};
struct ReceivePlace {
  ddp::ReceiveBuffer buffer{};
  std::uint64_t offset{};
};

struct PayloadPlace {
  std::variant<std::monostate, SinkPlace, ReceivePlace> where{};  // monostate: nowhere before it is verified
  std::size_t size{};                                             // octets of the payload
  std::size_t here{};                                             // of these, octets that have come
  std::size_t behind{};                                           // octets of the FPDU after it
};

class Inbound {
 public:
  // `ird`: requests of the peer that we hold at a time; `ord`: our own that may be unanswered.
  Inbound(const mpa::Framing& framing, std::uint32_t ird, std::uint32_t ord, ddp::Placement& placement)
      : fpdus_(framing), queues_(ird), window_(ord), placement_(placement) {}

  // Takes the FPDU at the front of `stream`. After a Fault the direction is over: do not call again (MPA-8-13,
  // DDP-7.1-20).
  std::expected<InboundStep, Fault> next(MutableBytes stream, const mpa::Landed& landed = {});
  // Returns where the payload of the first FPDU of `stream`, as next() left it, may be placed before it is verified
  // (see engine::Landing), if `least` octets or more of it are still to come. The only change of state: a message that
  // begins takes its receive.
  std::optional<PayloadPlace> landing(Bytes stream, std::size_t least);
  // After kNeedMore: octets that the FPDU still needs at least.
  [[nodiscard]] std::size_t missing() const noexcept { return fpdus_.missing(); }
  // After kSegment, until the next call of next().
  [[nodiscard]] const InboundSegment& segment() const noexcept { return segment_; }

  // See Engine::combine_immediate().
  void combine_immediate() noexcept { combines_ = true; }

  // --- What the other direction does
  // We send a request: its response may arrive. False when ORD are outstanding.
  bool expect(const rdmap::OutstandingRequest& request);
  // We answered a request of the peer: it may send one more.
  void answered() noexcept { queues_.requests.post_buffers(1); }
  [[nodiscard]] const rdmap::RequestWindow& window() const noexcept { return window_; }

  // The fault of a Send for which no receive came in time (DDP-7.1-06). Only after NeedReceive.
  [[nodiscard]] Fault no_receive() const;
  [[nodiscard]] bool holds_segment() const noexcept { return held_ != nullptr; }
  // A message has begun whose last segment (L) has not come: a peer that ends here has not sent all of it.
  [[nodiscard]] bool inside_message() const noexcept { return open_ != 0; }
  // Our own oldest unanswered request, when the stream has ended.
  std::optional<rdmap::OutstandingRequest> take_unanswered() noexcept { return window_.take_unfinished(); }
  // A receive that was taken and whose message did not end.
  std::optional<ddp::ReceiveBuffer> take_unfinished_receive() noexcept { return queues_.sends.take_unfinished(); }

  [[nodiscard]] std::uint64_t position() const noexcept { return fpdus_.position(); }
  [[nodiscard]] bool checks_crc() const noexcept { return fpdus_.framing().crc; }
  [[nodiscard]] bool verified_any() const noexcept { return fpdus_.position() > 0; }

 private:
  // A verified FPDU that waits for a receive; where it lies, from the front of the stream.
  struct Held {
    mpa::Fpdu fpdu{};
    std::size_t ulpdu_at{};
    rdmap::SegmentInError segment{};  // for the Terminate, should no receive come in time
  };
  struct Refusal {
    rdmap::ErrorCode error{};
    bool ours = false;
    bool wrong_answer = false;
    bool in_terminate = false;
  };
  enum class Verdict : std::uint8_t { kGood, kNoReceive, kRefused };  // kRefused: `refusal_` has the reason

  // The steps of one segment are taken for every FPDU: they are one function once compiled.
  inline Verdict examine(const mpa::Fpdu& fpdu);
  // Each leaves in segment_.delivery what its message led to, if that was the end of it.
  inline Verdict dispatch(rdmap::Opcode opcode, const ddp::Header& header, Bytes payload);
  inline Verdict write(const ddp::TaggedHeader& header, Bytes payload);
  inline Verdict read_response(const ddp::TaggedHeader& header, Bytes payload);
  inline Verdict send(rdmap::Opcode opcode, const ddp::UntaggedHeader& header, Bytes payload);
  Verdict request(const ddp::UntaggedHeader& header, Bytes payload);
  Verdict terminate(const ddp::UntaggedHeader& header, Bytes payload);
  Verdict atomic_response(const ddp::UntaggedHeader& header, Bytes payload);
  inline Verdict deliver(const ddp::ReceiveFilled& filled);
  [[nodiscard]] bool belongs_to_send(const ddp::UntaggedHeader& header, Bytes payload) const noexcept;
  Verdict keep_for_send(const ddp::UntaggedHeader& header, Bytes payload);
  template <typename Kind, typename... Fields>
  Verdict delivered(const Fields&... fields) {
    segment_.delivery.emplace<Kind>(fields...);
    return Verdict::kGood;
  }
  Verdict refuse(const Refusal& refusal) noexcept {
    refusal_ = refusal;
    return Verdict::kRefused;
  }
  template <typename Error>
  Verdict refuse(Error error) noexcept {
    return refuse(Refusal{.error = rdmap::error_code(error)});
  }
  bool find_landing(rdmap::Opcode opcode, const ddp::Header& header, PayloadPlace& place);
  [[nodiscard]] mpa::Fpdu take_held(MutableBytes stream) noexcept;
  void hold(const mpa::Fpdu& fpdu, MutableBytes stream);
  inline void follow(const ddp::Header& header) noexcept;
  [[nodiscard]] Fault fault(const mpa::Fpdu& fpdu) const;

  mpa::FpduReceiver fpdus_;
  ddp::UntaggedQueues queues_;
  rdmap::RequestWindow window_;
  ddp::Placement& placement_;
  InboundSegment segment_{};  // of the last FPDU; made where it stays and never copied
  Refusal refusal_{};
  std::unique_ptr<Held> held_{};                               // apart: few streams ever wait, and none for long
  std::unique_ptr<const rdmap::TerminateReport> terminate_{};  // the peer's
  std::uint64_t written_ = 0;  // octets of the last RDMA Write since the last Send, also of one under way
  std::uint8_t open_ = 0;      // one bit for each kind of message that is under way: the four queues, and tagged
  bool combines_ = false;
  std::optional<std::array<std::byte, kImmediateSize - kSendFollows.size()>>
      for_send_{};  // the Send that has to follow
};

}  // namespace weft::engine
