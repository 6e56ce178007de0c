// SPDX-License-Identifier: Apache-2.0
// The other direction: decides at each message boundary what goes out next - the Terminate, a response that we owe, or
// our own work - and cuts it into FPDUs, segment by segment, as far as a batch has room. What is not cut yet takes no
// memory, however long the message is.
#pragma once

#include <cstdint>
#include <expected>
#include <memory>
#include <optional>

#include "engine/fpdu_cutter.hpp"
#include "engine/inbound.hpp"
#include "engine/outgoing.hpp"
#include "engine/payload_reader.hpp"
#include "engine/send_queue.hpp"
#include "rdmap/response_queue.hpp"
#include "rdmap/send_order.hpp"

namespace weft::engine {

// Something could not be sent. The stream goes down; the message is not continued.
struct OutboundFault {
  Fault fault{};
  std::optional<std::uint64_t> ticket{};  // the work request whose own buffers failed
};

class Outbound {
 public:
  struct Parts {  // what it works on; all outlive it
    SendQueue& queue;
    rdmap::ResponseQueue& responses;
    Inbound& inbound;  // is told which responses to expect
    rdmap::Memory& memory;
  };

  Outbound(const FpduCutter& cutter, std::uint32_t ord, const Parts& parts)
      : cutter_(cutter), ord_(ord), parts_(parts), reader_(parts.memory, parts.queue) {}

  // Appends FPDUs; `position` counts the octets of our stream and moves on with them. True: the batch is full.
  std::expected<bool, OutboundFault> fill(TransmitBatch& batch, std::uint64_t& position);
  [[nodiscard]] bool has_output() const noexcept;
  // The head of the queue waits for answers to requests before it.
  [[nodiscard]] bool awaits_answers() const noexcept;
  // Before we may send: local operations put nothing on the wire, so those that no other work precedes need not wait.
  // Always false: no room is asked for.
  std::expected<bool, OutboundFault> perform_local();
  [[nodiscard]] bool local_ready() const noexcept;

  void set_emss(std::uint32_t emss) noexcept { cutter_.set_emss(emss); }
  void hold(bool on) noexcept { held_ = on; }  // start no work request
  void count_atomics_from(std::uint32_t id) noexcept { atomic_id_ = id; }
  // Ends this direction: the message under way is finished, then comes the Terminate, then nothing (RDMAP-5.4-10). The
  // Terminate does not go between two segments of that message: messages are sent in order (DDP-5.3-01), and a peer may
  // not deliver one before the messages ahead of it are complete (DDP-5.4-03).
  void terminate(const rdmap::Terminate& message) noexcept;
  void stop() noexcept;  // ends this direction where it is

  [[nodiscard]] bool at_rest() const noexcept { return !current_ && parts_.responses.empty() && !terminate_; }
  [[nodiscard]] bool over() const noexcept { return ended_ && !current_ && !terminate_; }

 private:
  inline std::expected<bool, OutboundFault> choose();  // false: nothing to send
  [[nodiscard]] inline bool work_ready() const noexcept;
  [[nodiscard]] inline std::optional<rdmap::Start> head_may_start() const noexcept;  // nothing: there is none
  // These answer whether there is a message to cut now.
  inline std::expected<bool, OutboundFault> start_work();
  std::expected<bool, OutboundFault> start_local(std::uint64_t ticket);
  std::expected<bool, OutboundFault> start_response();
  inline void start_message(std::uint64_t ticket, SendEntry& entry);
  void start_request(std::uint64_t ticket, SendEntry& entry);
  void start_terminate();
  inline void finish_message(std::uint64_t position);
  inline void finish_work(std::uint64_t position);
  OutboundFault payload_fault(const PayloadFault& fault, std::uint32_t sent);
  inline void start_send(std::uint64_t ticket, SendEntry& entry);
  void start_own(std::uint64_t ticket, SendEntry& entry);

  FpduCutter cutter_;
  std::uint32_t ord_;
  Parts parts_;
  PayloadReader reader_;
  rdmap::Turns turns_{};
  ddp::MsnSource sends_{}, requests_{}, terminates_{}, atomic_responses_{};
  std::uint32_t atomic_id_ = 0;
  std::optional<OutgoingMessage> current_{};
  // The Write under way is this work request's, and its Immediate Data is next.
  std::optional<std::uint64_t> follow_up_{};
  rdmap::OutstandingRequest asking_{};             // what `current_` asks, if it is a request
  std::unique_ptr<rdmap::Terminate> terminate_{};  // apart: once in a life, if at all
  bool held_ = false;
  bool ended_ = false;
};

}  // namespace weft::engine
