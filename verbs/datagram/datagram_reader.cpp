// SPDX-License-Identifier: Apache-2.0
#include "verbs/datagram/datagram_reader.hpp"

#include <fcntl.h>
#include <unistd.h>

#include <algorithm>
#include <mutex>
#include <new>
#include <utility>

#include "verbs/datagram/datagram_queue_pair_state.hpp"
#include "verbs/progress/runtime.hpp"
#include "verbs/progress/tuning.hpp"

namespace weft::verbs::detail {

DatagramReader::DatagramReader(DatagramQueuePairState& owner, transport::DatagramSocket socket,
                               std::uint32_t destination)
    : owner_(owner),
      socket_(std::move(socket)),
      capture_(Runtime::capture_datagrams(socket_.local())),
      destination_(destination) {}

void DatagramReader::join(const std::shared_ptr<Driven>& self, const QueueDrivers& drivers) {
  drop_waiting();
  Runtime& runtime = owner_.runtime();
  watch_.emplace(socket_.socket(), number_, runtime.progress_threads().of(number_));
  try {
    watch_->join(self, drivers);
    runtime.add(self);
  } catch (const std::bad_alloc&) {
    leave();
    throw;
  }
}

// What came before RTR, or before a RESET, is lost, as on an adapter.
void DatagramReader::drop_waiting() {
  std::byte first;
  for (int i = 0; i < kMostDropped && socket_.receive({&first, 1}); ++i) {
  }
}

bool DatagramReader::unwatch() {
  if (!watch_) return false;
  watch_->leave(*this);
  watch_->end();
  watch_.reset();
  return true;
}

void DatagramReader::leave() {
  if (unwatch()) owner_.runtime().forget(number_);
}

void DatagramReader::close() {
  leave();
  socket_.socket().close();
}

void DatagramReader::reopen(transport::DatagramSocket socket) {
  socket_ = std::move(socket);
  capture_ = Runtime::capture_datagrams(socket_.local());
}

// --- Datagrams

std::optional<transport::DatagramSocket::Arrived> DatagramReader::receive(MutableBytes into) {
  const auto came = socket_.receive(into);
  if (!came) return came;
  ++received_;
  if (capture_ && came->octets <= into.size()) capture_.received(came->from, Bytes(into).first(came->octets));
  return came;
}

void DatagramReader::send(Bytes datagram, const transport::Endpoint& to, std::uint8_t hop_limit) {
  const bool taken = !socket_.send(datagram, to, hop_limit);
  if (capture_ && taken) capture_.sent(to, datagram);
}

bool DatagramReader::settle(bool stalled) {
  if (!watch_ || watch_->settle({.read = !stalled, .write = false}, stalled)) return true;
  try {
    owner_.runtime().wake_at(number_, now() + tuning::kWatchRetry);
    return true;
  } catch (const std::bad_alloc&) {
    return false;
  }
}

// --- Driven

bool DatagramReader::drive(bool) {
  const std::lock_guard lock(owner_.mutex());
  const bool came = owner_.look(*this, kMostAtOnce);
  owner_.settle();
  return came;
}

bool DatagramReader::drive_if_free(Poller& by) {
  const std::unique_lock lock(owner_.mutex(), std::try_to_lock);
  if (!lock) return false;
  if (!watch_) return true;
  const bool changed = watch_->driven_by(by);
  // Where datagrams come singly, the attempt that finds the socket empty would delay the answer to each.
  const bool came = owner_.look(*this, in_a_row_ < kRow ? 1 : kMostAtOnce);
  in_a_row_ = came ? std::min(in_a_row_ + 1, kRow) : 0;
  if (came || changed) owner_.settle();
  return true;
}

void DatagramReader::waited_for_by(Waiter& waiter) {
  const std::lock_guard lock(owner_.mutex());
  if (watch_ && watch_->waited_for_by(waiter)) owner_.settle();
}

void DatagramReader::is_over(const Driver& owner) {
  const std::lock_guard lock(owner_.mutex());
  if (watch_ && watch_->is_over(owner)) owner_.settle();
}

void DatagramReader::deadline_passed() {
  const std::lock_guard lock(owner_.mutex());
  owner_.settle();
}

void DatagramReader::abandon() {
  const std::lock_guard lock(owner_.mutex());
  unwatch();
}

// The child alone runs, and in this thread alone: no lock is needed, nor could it be had.
void DatagramReader::leave_to_parent(int nowhere) noexcept {
  owner_.is_of_parent();
  if (is_open() && nowhere >= 0) ::dup3(nowhere, socket_.socket().descriptor(), O_CLOEXEC);
}

std::optional<std::uint64_t> DatagramReader::moved_if_unserved() {
  const std::unique_lock lock(owner_.mutex(), std::try_to_lock);
  if (!lock || !watch_ || !owner_.reads_now()) return std::nullopt;
  if (watch_->is_served({.read = true, .write = false}, owner_.runtime().progress_threads().has_proxy()) ||
      !socket_.socket().is_ready(true, false)) {
    return std::nullopt;
  }
  return received_;
}

}  // namespace weft::verbs::detail
