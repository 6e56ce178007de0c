// SPDX-License-Identifier: Apache-2.0
#include "bench/uring/ring.hpp"

#include <sys/mman.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <algorithm>
#include <atomic>
#include <numeric>

#include "bench/uring/support.hpp"

namespace weft::uring {
namespace {

// The kernel is the other thread.
template <typename Number>
Number acquire(Number* at) {
  return std::atomic_ref(*at).load(std::memory_order_acquire);
}
template <typename Number>
void release(Number* at, Number value) {
  std::atomic_ref(*at).store(value, std::memory_order_release);
}

int setup(io_uring_params& parameters, unsigned entries, unsigned flags) {
  parameters.flags = flags;
  parameters.sq_thread_idle = 100;  // milliseconds
  return static_cast<int>(syscall(SYS_io_uring_setup, entries, &parameters));
}

int register_with(int ring, unsigned operation, const void* what, unsigned count) {
  return static_cast<int>(syscall(SYS_io_uring_register, ring, operation, what, count));
}

std::span<std::byte> map_shared(std::size_t octets, int descriptor, std::uint64_t offset) {
  const int flags = descriptor < 0 ? MAP_PRIVATE | MAP_ANONYMOUS : MAP_SHARED | MAP_POPULATE;
  void* at = mmap(nullptr, octets, PROT_READ | PROT_WRITE, flags, descriptor, static_cast<off_t>(offset));
  need(at != MAP_FAILED, "mmap of a ring");
  return {static_cast<std::byte*>(at), octets};
}

int register_buffer_ring(int ring, std::byte* memory, unsigned count) {
  io_uring_buf_reg registration{};
  registration.ring_addr = reinterpret_cast<std::uint64_t>(memory);
  registration.ring_entries = count;
  return register_with(ring, IORING_REGISTER_PBUF_RING, &registration, 1);
}

}  // namespace

// Multishot recv came with Linux 6.0, later than rings of provided buffers (5.19) and before DEFER_TASKRUN (6.1); only
// trying it tells, and then the first recv gives up with EINVAL.
int refusal(const RingOptions& options) {
  io_uring_params parameters{};
  const int ring = setup(parameters, 8, options.setup);
  if (ring < 0) return errno;
  int error = (parameters.features & IORING_FEAT_SINGLE_MMAP) == 0 || (parameters.features & IORING_FEAT_CQE_SKIP) == 0
                  ? ENOSYS
                  : 0;
  if (error == 0 && options.multishot) {
    const auto memory = map_shared(4096, -1, 0);
    if (register_buffer_ring(ring, memory.data(), 1) != 0) error = errno;
    close(ring);
    munmap(memory.data(), memory.size());
    return error;
  }
  close(ring);
  return error;
}

Ring::Ring(const RingOptions& options) : options_(options) {
  io_uring_params parameters{};
  file_ = setup(parameters, kEntries, options.setup);
  need(file_ >= 0, "io_uring_setup");
  descriptor_ = file_;
  map(parameters);
  if (!options.fixed_files) return;
  io_uring_rsrc_update update{.offset = ~0U, .resv = 0, .data = static_cast<std::uint64_t>(file_)};
  need(register_with(file_, IORING_REGISTER_RING_FDS, &update, 1) == 1, "IORING_REGISTER_RING_FDS");
  descriptor_ = static_cast<int>(update.offset);
  registered_ = true;
}

void Ring::map(const io_uring_params& parameters) {
  const auto& sq = parameters.sq_off;
  const auto& cq = parameters.cq_off;
  const std::size_t submission = sq.array + parameters.sq_entries * sizeof(unsigned);
  const std::size_t completion = cq.cqes + parameters.cq_entries * sizeof(io_uring_cqe);
  rings_ = map_shared(std::max(submission, completion), file_, IORING_OFF_SQ_RING);
  entry_memory_ = map_shared(parameters.sq_entries * sizeof(io_uring_sqe), file_, IORING_OFF_SQES);
  entries_ = reinterpret_cast<io_uring_sqe*>(entry_memory_.data());
  const auto at = [this](std::uint32_t offset) { return reinterpret_cast<unsigned*>(rings_.data() + offset); };
  submission_tail_ = at(sq.tail);
  submission_flags_ = at(sq.flags);
  submission_mask_ = *at(sq.ring_mask);
  completion_head_ = at(cq.head);
  completion_tail_ = at(cq.tail);
  completion_mask_ = *at(cq.ring_mask);
  completions_ = reinterpret_cast<io_uring_cqe*>(rings_.data() + cq.cqes);
  std::iota(at(sq.array), at(sq.array) + parameters.sq_entries, 0U);  // entry i is always in place i
}

Ring::~Ring() {
  close(file_);
  if (registered_) {
    io_uring_rsrc_update update{.offset = static_cast<unsigned>(descriptor_), .resv = 0, .data = 0};
    register_with(file_, IORING_UNREGISTER_RING_FDS, &update, 1);
  }
  munmap(rings_.data(), rings_.size());
  munmap(entry_memory_.data(), entry_memory_.size());
  if (!buffer_ring_.empty()) munmap(buffer_ring_.data(), buffer_ring_.size());
}

void Ring::register_files(std::span<const int> files) {
  const int result = register_with(file_, IORING_REGISTER_FILES, files.data(), static_cast<unsigned>(files.size()));
  need(result == 0, "IORING_REGISTER_FILES");
}

void Ring::provide_buffers(unsigned count, std::size_t octets) {
  buffer_ring_ = map_shared(count * sizeof(io_uring_buf), -1, 0);
  need(register_buffer_ring(file_, buffer_ring_.data(), count) == 0, "IORING_REGISTER_PBUF_RING");
  buffers_ = Memory(count * octets);
  buffer_octets_ = octets;
  buffer_mask_ = count - 1;
  for (unsigned id = 0; id < count; ++id) give_back(id);
}

void Ring::give_back(unsigned id) {
  auto* const ring = reinterpret_cast<io_uring_buf*>(buffer_ring_.data());
  io_uring_buf& slot = ring[buffer_tail_ & buffer_mask_];
  slot.addr = reinterpret_cast<std::uint64_t>(buffer(id));
  slot.len = static_cast<std::uint32_t>(buffer_octets_);
  slot.bid = static_cast<std::uint16_t>(id);
  release(&ring[0].resv, static_cast<std::uint16_t>(++buffer_tail_));  // the ring's tail lies there
}

io_uring_sqe& Ring::next() {
  io_uring_sqe& entry = entries_[tail_ & submission_mask_];
  std::memset(&entry, 0, sizeof entry);
  ++tail_;
  ++pending_;
  return entry;
}

int Ring::enter(unsigned submit, unsigned wait_for, unsigned flags) {
  if (registered_) flags |= IORING_ENTER_REGISTERED_RING;
  const long result = counted(syscall(SYS_io_uring_enter, descriptor_, submit, wait_for, flags, nullptr, 0));
  if (result < 0 && errno != EINTR) need(false, "io_uring_enter");
  return static_cast<int>(result);
}

void Ring::show_tail() { release(submission_tail_, tail_); }

void Ring::submit(unsigned wait_for) {
  show_tail();
  const unsigned flags = wait_for != 0 ? IORING_ENTER_GETEVENTS : 0U;
  if (options_.polled_by_kernel()) {
    pending_ = 0;
    std::atomic_thread_fence(std::memory_order_seq_cst);
    const bool asleep = (acquire(submission_flags_) & IORING_SQ_NEED_WAKEUP) != 0;
    if (asleep || wait_for != 0) enter(0, wait_for, flags | (asleep ? IORING_ENTER_SQ_WAKEUP : 0U));
    return;
  }
  const int taken = enter(pending_, wait_for, flags);
  if (taken > 0) pending_ -= static_cast<unsigned>(taken);
}

void Ring::submit_and_wait() {
  if (!options_.spin) return submit(1);
  if (pending_ != 0) submit(0);
  while (!has_completion()) {
    const bool deferred = (options_.setup & IORING_SETUP_DEFER_TASKRUN) != 0;
    if (deferred || (acquire(submission_flags_) & IORING_SQ_TASKRUN) != 0) enter(0, 0, IORING_ENTER_GETEVENTS);
  }
}

bool Ring::has_completion() const { return *completion_head_ != acquire(completion_tail_); }

void Ring::advance() { release(completion_head_, *completion_head_ + 1); }

}  // namespace weft::uring
