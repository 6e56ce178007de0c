// SPDX-License-Identifier: Apache-2.0
// What may go to DDP next. Messages leave in the order of posting (RDMAP-5.5-17), so only the head of the send queue is
// ever asked about: when it waits, all after it wait.
#pragma once

#include <cstdint>

namespace weft::rdmap {

struct WorkNeeds {
  bool is_request{};  // RDMA Read or atomic: takes one of ORD places until its response is here
  bool fence{};       // not before all earlier Reads and atomics are complete (RDMAP-5.5-16)
};

enum class Start : std::uint8_t { kNow, kAwaitsCredit, kAwaitsFence };

[[nodiscard]] constexpr Start may_start(const WorkNeeds& head, std::uint32_t outstanding, std::uint32_t ord) noexcept {
  if (head.fence && outstanding > 0) return Start::kAwaitsFence;
  if (head.is_request && outstanding >= ord) return Start::kAwaitsCredit;  // RDMAP-6.1-08
  return Start::kNow;
}

// Shares the wire between our own work and the responses that we owe, message by message. Messages are never mixed: a
// receiver cannot tell the segments of two tagged messages apart (DDP-5.2-06).
class Turns {
 public:
  enum class Turn : std::uint8_t { kNobody, kWork, kResponse };

  // To be asked at message boundaries only.
  constexpr Turn next(bool work_ready, bool response_ready) noexcept {
    if (!work_ready && !response_ready) return Turn::kNobody;
    const bool response = response_ready && (!work_ready || !response_was_last_);
    response_was_last_ = response;
    return response ? Turn::kResponse : Turn::kWork;
  }

 private:
  bool response_was_last_ = false;
};

}  // namespace weft::rdmap
