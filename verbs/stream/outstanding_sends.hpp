// SPDX-License-Identifier: Apache-2.0
// What the application has posted to the send queue and has no completion for, in its order. Where RDMA Writes complete
// once they are placed (see QueuePair::confirm_writes()), a confirmation stands among them: an RDMA Read of no octets,
// which the peer answers once the RDMA Writes before it are placed (RFC 5040 section 5.5).
#pragma once

#include <cstdint>
#include <limits>
#include <optional>

#include "common/bounded_ring.hpp"
#include "engine/engine.hpp"
#include "verbs/device.hpp"
#include "verbs/work_request.hpp"

namespace weft::verbs::detail {

struct OutstandingSend {
  enum class Kind : std::uint8_t {
    kPosted,
    kLate,          // posted when the stream was failing or closing: flushed in its turn, never carried out
    kConfirmation,  // the application knows nothing of it
  };
  std::uint64_t wr_id{};
  std::uint32_t length{};  // this and the status once the engine has completed it
  SendOpcode opcode{};
  bool signaled{};
  Kind kind{};
  engine::WorkStatus status{};
};

class OutstandingSends {
 public:
  [[nodiscard]] bool empty() const noexcept { return sends_.empty(); }
  // Returns the number of the application's sends.
  [[nodiscard]] std::size_t count() const noexcept { return sends_.size() - (asked_ ? 1 : 0); }
  // Returns the cookie of the work request that is posted to the engine next.
  [[nodiscard]] std::uint64_t next_cookie() const noexcept { return next_cookie_; }
  void confirm_writes(bool on) noexcept { wanted_ = on; }

  // Takes the memory for one more, so that each work request of the engine has its place here. There is room for it.
  void reserve() { sends_.reserve(); }
  // The engine has accepted it as work request next_cookie().
  void add(const SendRequest& request, bool signaled);
  void add_late(const SendRequest& request);
  // Posts a confirmation if RDMA Writes need one and none is under way. Where there can be none (ORD is 0, the
  // connection is closing, no memory), RDMA Writes complete as they do over iWARP from now on.
  void ask_for_confirmation(engine::Engine& engine);

  // The oldest one that the engine has not completed, which the next complete() is about.
  [[nodiscard]] const OutstandingSend& in_work() const noexcept { return sends_[done_]; }
  // Returns false if it waits for its confirmation, or for others before it.
  bool complete(const engine::SendCompleted& event, bool stream_fails, engine::Engine& engine);
  // After complete(): the next one to report to the application.
  [[nodiscard]] std::optional<OutstandingSend> take();

 private:
  using Kind = OutstandingSend::Kind;
  static_assert(DeviceLimits{}.max_qp_wr < std::numeric_limits<std::uint16_t>::max());

  [[nodiscard]] bool needs_confirmation(const OutstandingSend& send) const noexcept {
    return wanted_ && send.signaled &&
           (send.opcode == SendOpcode::kRdmaWrite || send.opcode == SendOpcode::kRdmaWriteWithImmediate);
  }
  void confirm(engine::WorkStatus status);

  std::uint16_t done_ = 0;  // of the oldest ones: completed by the engine
  bool wanted_ = false;     // confirmations
  bool owed_ = false;       // an RDMA Write needs one
  bool asked_ = false;      // one is under way
  BoundedRing<OutstandingSend> sends_{Device::limits().max_qp_wr + 1};
  std::uint64_t next_cookie_ = 1;
};

}  // namespace weft::verbs::detail
