// SPDX-License-Identifier: Apache-2.0
// An io_uring by its system calls: the two rings, registered files, and a ring of provided buffers. Used by one thread.
#pragma once

#include <linux/io_uring.h>

#include <cstddef>
#include <cstdint>
#include <span>

#include "bench/uring/source.hpp"

namespace weft::uring {

// What a contestant uses of io_uring.
struct RingOptions {
  unsigned setup = 0;        // IORING_SETUP_*
  bool multishot = false;    // one recv for all that comes, into provided buffers
  bool fixed_files = false;  // sockets, and the ring itself, are registered
  bool spin = false;         // looks at the completion ring and does not sleep
  [[nodiscard]] bool polled_by_kernel() const { return (setup & IORING_SETUP_SQPOLL) != 0; }
};

// 0, or why this kernel refuses such a ring (errno).
int refusal(const RingOptions& options);

class Ring {
 public:
  static constexpr unsigned kEntries = 1024;

  // Gives up when the kernel refuses: ask refusal() first. With IORING_SETUP_SINGLE_ISSUER for the calling thread only.
  explicit Ring(const RingOptions& options);
  ~Ring();
  Ring(const Ring&) = delete;
  Ring& operator=(const Ring&) = delete;

  void register_files(std::span<const int> files);
  // Makes buffer group 0: so many (a power of two) of so many octets.
  void provide_buffers(unsigned count, std::size_t octets);
  [[nodiscard]] char* buffer(unsigned id) { return buffers_.data() + id * buffer_octets_; }
  void give_back(unsigned id);

  // A cleared entry, to be filled in. There is room for kEntries between two calls of submit.
  io_uring_sqe& next();
  // Submits what next() gave out and waits for so many completions.
  void submit(unsigned wait_for);
  // Submits, and returns when there is a completion: asleep, or spinning if the options say so.
  void submit_and_wait();
  [[nodiscard]] bool has_completion() const;
  // Calls back for each completion that is there now. Valid during the call.
  template <typename Each>
  void completions(Each each) {
    for (; has_completion(); advance()) each(front());
  }

 private:
  int enter(unsigned submit, unsigned wait_for, unsigned flags);
  void map(const io_uring_params& parameters);
  void show_tail();
  [[nodiscard]] const io_uring_cqe& front() const { return completions_[*completion_head_ & completion_mask_]; }
  void advance();

  RingOptions options_;
  int descriptor_ = -1;  // or, when registered, its index
  bool registered_ = false;
  int file_ = -1;
  std::span<std::byte> rings_{};
  std::span<std::byte> entry_memory_{};
  io_uring_sqe* entries_ = nullptr;
  unsigned* submission_tail_ = nullptr;
  unsigned* submission_flags_ = nullptr;
  unsigned* completion_head_ = nullptr;
  unsigned* completion_tail_ = nullptr;
  io_uring_cqe* completions_ = nullptr;
  unsigned submission_mask_ = 0;
  unsigned completion_mask_ = 0;
  unsigned tail_ = 0;     // of what next() gave out
  unsigned pending_ = 0;  // of it, not submitted
  std::span<std::byte> buffer_ring_{};
  Memory buffers_{0};
  std::size_t buffer_octets_ = 0;
  unsigned buffer_mask_ = 0;
  std::uint16_t buffer_tail_ = 0;
};

}  // namespace weft::uring
