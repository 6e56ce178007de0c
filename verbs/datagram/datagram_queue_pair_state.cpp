// SPDX-License-Identifier: Apache-2.0
#include "verbs/datagram/datagram_queue_pair_state.hpp"

#include <algorithm>
#include <mutex>
#include <new>
#include <utility>

#include "verbs/objects/argument_checks.hpp"
#include "verbs/progress/runtime.hpp"
#include "verbs/stream/send_checks.hpp"
#include "verbs/stream/served_queue_pair.hpp"

namespace weft::verbs::detail {

DatagramQueuePairState::DatagramQueuePairState(Parts parts, const QueuePairAttributes& wanted,
                                               transport::DatagramSocket socket, Quota::Share share)
    : attributes(wanted),
      parts_(std::move(parts)),
      drivers_(drivers_of(*parts_.send_cq, *parts_.receive_cq)),
      qp_number_(DatagramQueuePair::number_at(socket.local().port)),
      own_(*this, std::move(socket), qp_number_),
      memory_(parts_.runtime.stags()),
      share_(std::move(share)),
      shared_places_(wanted.srq != nullptr ? &parts_.receives->places_in(parts_.receive_cq) : nullptr),
      receive_places_(wanted.max_receive_wr),
      send_places_(wanted.max_send_wr) {}

DatagramQueuePairState::~DatagramQueuePairState() = default;

// --- States

Result<void> DatagramQueuePairState::modify(QpState to) {
  const std::lock_guard lock(mutex_);
  const QpState from = state_;
  if (to == QpState::kError) return fail(), Result<void>{};
  if (to == QpState::kReset) {
    end();
    discard();
    state_ = QpState::kReset;
    return {};
  }
  const bool next = (from == QpState::kReset && to == QpState::kInit) ||
                    (from == QpState::kInit && to == QpState::kRtr) ||
                    ((from == QpState::kRtr || from == QpState::kSqe) && to == QpState::kRts);
  if (from != to && !next)
    return verbs::fail(Errc::kInvalidState, "state", "no such transition of a datagram queue pair");
  if (to == QpState::kRtr && from != to) begin();
  state_ = to;
  look();  // what came since the port was opened
  settle();
  return {};
}

void DatagramQueuePairState::set_qkey(std::uint32_t qkey) {
  const std::lock_guard lock(mutex_);
  qkey_ = qkey;
}

// The queue pair lives as long as a driver has the reader.
void DatagramQueuePairState::begin(DatagramReader& reader) {
  if (reader.is_open()) reader.join(std::shared_ptr<Driven>(shared_from_this(), &reader), drivers_);
}

void DatagramQueuePairState::begin() {
  memory_.attach({.domain = parts_.domain->number}, parts_.receives, weak_from_this());
  try {
    for_each_reader([this](DatagramReader& reader) { begin(reader); });
  } catch (const std::bad_alloc&) {
    end();
    throw;
  }
}

void DatagramQueuePairState::end() {
  for_each_reader([](DatagramReader& reader) { reader.leave(); });
  memory_.detach();
  waiting_.reset();
}

// ERROR: all work is flushed, now and what is posted later.
void DatagramQueuePairState::fail() {
  const bool first = state_.exchange(QpState::kError) != QpState::kError;
  end();
  flush_receives();
  if (first && shares_receives()) {
    parts_.domain->device->raise(
        {.type = AsyncEventType::kLastWqeReached, .number = qp_number_, .context = attributes.context});
  }
}

void DatagramQueuePairState::discard() {
  while (const auto receive = shares_receives() ? std::nullopt : parts_.receives->take({})) {
    parts_.receives->drop(receive->buffer.cookie);
  }
  discard_completions();
  parts_.send_cq->release_all(send_places_);
  if (!shares_receives()) parts_.receives->released(parts_.receive_cq->release_all(receive_places_));
}

void DatagramQueuePairState::discard_completions() {
  parts_.send_cq->discard(qp_number_);
  if (parts_.receive_cq != parts_.send_cq) parts_.receive_cq->discard(qp_number_);
}

void DatagramQueuePairState::destroy() {
  const std::lock_guard lock(mutex_);
  end();
  state_ = QpState::kError;
  discard_completions();
  for_each_reader([](DatagramReader& reader) { reader.close(); });
  share_.drop();
}

QueuePairQuery DatagramQueuePairState::query() const {
  return {.state = state_,
          .max_send_wr = attributes.max_send_wr,
          .max_receive_wr = attributes.max_receive_wr,
          .max_send_sge = attributes.max_send_sge,
          .max_receive_sge = attributes.max_receive_sge,
          .max_inline = attributes.max_inline,
          .signal_all = attributes.signal_all};
}

// --- Multicast groups

DatagramReader* DatagramQueuePairState::reader_of(const transport::Address& group) noexcept {
  const auto found =
      std::ranges::find_if(groups_, [&](const auto& one) { return one && one->is_open() && one->address() == group; });
  return found == groups_.end() ? nullptr : found->get();
}

Result<DatagramReader*> DatagramQueuePairState::open_reader(transport::DatagramSocket socket) {
  const auto place = std::ranges::find_if(groups_, [](const auto& one) { return !one || !one->is_open(); });
  if (place == groups_.end()) return verbs::fail(Errc::kLimitExceeded, "group", "too many groups");
  if (*place) {
    (*place)->reopen(std::move(socket));
  } else {
    *place = std::make_unique<DatagramReader>(*this, std::move(socket), DatagramQueuePair::kMulticastNumber);
  }
  return place->get();
}

Result<void> DatagramQueuePairState::join(const transport::Address& group) {
  const transport::Address& local = own_.address();
  if (!group.is_multicast()) return verbs::fail(Errc::kInvalidArgument, "group", "not a multicast address");
  if (group.family != local.family)
    return verbs::fail(Errc::kInvalidArgument, "group", "not of the device's IP version");
  const std::lock_guard lock(mutex_);
  if (reader_of(group) != nullptr) return {};
  auto socket = transport::DatagramSocket::join(
      {.address = group, .port = DatagramQueuePair::port_of(DatagramQueuePair::kMulticastNumber)}, local);
  if (!socket) return verbs::fail(Errc::kSystem, "group", "cannot be joined", socket.error().value());
  const auto reader = open_reader(std::move(*socket));
  if (!reader) return std::unexpected(reader.error());
  if (!receives_now()) return {};
  try {
    begin(**reader);
  } catch (const std::bad_alloc&) {
    (*reader)->close();
    throw;
  }
  settle();
  return {};
}

Result<void> DatagramQueuePairState::leave(const transport::Address& group) {
  const std::lock_guard lock(mutex_);
  DatagramReader* const reader = reader_of(group);
  if (reader == nullptr) return verbs::fail(Errc::kInvalidArgument, "group", "the queue pair has not joined it");
  reader->close();
  if (waiting_ && waiting_->to == group) {
    waiting_.reset();
    look();
    settle();
  }
  return {};
}

// --- Readers

void DatagramQueuePairState::settle() {
  const bool stalled = waiting_.has_value();
  bool settled = true;
  for_each_reader([&](DatagramReader& reader) { settled = reader.settle(stalled) && settled; });
  if (!settled) fail();
}

void DatagramQueuePairState::receives_available() {
  const std::lock_guard lock(mutex_);
  if (!receives_now()) return;
  if (waiting_) deliver();
  look();
  settle();
}

}  // namespace weft::verbs::detail
