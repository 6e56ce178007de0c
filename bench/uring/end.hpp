// SPDX-License-Identifier: Apache-2.0
// The end of connections that is measured, in the variants that take turns.
#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <span>

#include "bench/uring/ring.hpp"

namespace weft::uring {

inline constexpr std::size_t kRequestOctets = 64;
inline constexpr std::size_t kReadOctets =
    256 * 1024;                      // verbs/detail/buffer_pool.hpp: what weft's recv may take at once
inline constexpr int kMaxReads = 4;  // verbs/detail/stream.hpp: of one connection, before the next

class End {
 public:
  End() = default;
  virtual ~End() = default;
  End(const End&) = delete;
  End& operator=(const End&) = delete;
  // Works until in total so many requests are answered, or octets received or sent.
  virtual void work_until(std::uint64_t total) = 0;
  // The part of the zero-copy sends that the kernel copied after all; negative where that is no question.
  [[nodiscard]] virtual double copied() const { return -1; }
};

// Called by the thread that is measured. The sockets outlive the End.
using MakeEnd = std::function<std::unique_ptr<End>(std::span<const int> sockets)>;

// Each request of 64 octets gets an answer of 64, as the target of a Read gives one.
MakeEnd answer_with_epoll();          // weft's progress thread: epoll_wait, recv, sendmsg
MakeEnd answer_with_blocking_recv();  // of one connection: the least that a thread can do that sleeps
MakeEnd answer_with_spinning_recv();  // of one connection: weft's polling application
MakeEnd answer_with(RingOptions options);

MakeEnd receive_with_epoll();
MakeEnd receive_with(RingOptions options);

MakeEnd send_copies(std::size_t octets);
MakeEnd send_copies_with(RingOptions options, std::size_t octets);
MakeEnd send_zero_copy(std::size_t octets);                            // MSG_ZEROCOPY
MakeEnd send_zero_copy_with(RingOptions options, std::size_t octets);  // IORING_OP_SEND_ZC
MakeEnd copy_only(std::size_t octets);                                 // memcpy, nothing sent

}  // namespace weft::uring
