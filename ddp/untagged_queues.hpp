// SPDX-License-Identifier: Apache-2.0
// The four untagged queues of one stream. DDP leaves their number and meaning to the ULP; RDMAP's are in RFC 5040
// section 3.1 and RFC 7306 section 4.
#pragma once

#include <cstdint>
#include <expected>

#include "ddp/errors.hpp"
#include "ddp/message_queue.hpp"
#include "ddp/receive_queue.hpp"

namespace weft::ddp {

enum class QueueNumber : std::uint32_t { kSend = 0, kRequest = 1, kTerminate = 2, kAtomicResponse = 3 };

// The first check of a segment (DDP-7.1-01).
[[nodiscard]] constexpr std::expected<QueueNumber, UntaggedError> queue_number(std::uint32_t queue) noexcept {
  if (queue > static_cast<std::uint32_t>(QueueNumber::kAtomicResponse)) {
    return std::unexpected(UntaggedError::kInvalidQueue);
  }
  return static_cast<QueueNumber>(queue);
}

struct UntaggedQueues {
  static constexpr std::size_t kLongestRequest = 52;         // Atomic Request, RFC 7306 section 5.2.1
  static constexpr std::size_t kLongestTerminate = 52;       // RFC 5040 section 4.8: 4 + 2 + 18 + 28
  static constexpr std::size_t kLongestAtomicResponse = 12;  // RFC 7306 section 5.2.2

  // `ird`: Read and Atomic Requests that may be in our hands at a time. Post a buffer to `requests` when one is
  // answered.
  explicit UntaggedQueues(std::uint32_t ird) noexcept : requests(ird) {}

  ReceiveQueue sends{};
  MessageQueue<kLongestRequest> requests;
  MessageQueue<kLongestTerminate> terminate{1};              // RDMAP-5.4-04: room for exactly one, always
  MessageQueue<kLongestAtomicResponse> atomic_responses{0};  // post a buffer with each Atomic Request that is sent
};

}  // namespace weft::ddp
