// SPDX-License-Identifier: Apache-2.0
#include "engine/send_queue.hpp"

#include <algorithm>
#include <limits>

namespace weft::engine {

namespace {

using Stage = SendEntry::Stage;

std::uint64_t total(rdmap::LocalSegments segments) noexcept {
  std::uint64_t sum = 0;
  for (const rdmap::LocalSegment& segment : segments) sum += segment.length;
  return sum;
}

constexpr auto kListed =
    operations_that([](const OperationRow& kind) { return kind.carrier.has_value() || kind.awaits_response; });
constexpr auto kListOfOneSize = operations_that([](const OperationRow& kind) { return kind.list_octets != 0; });

std::uint64_t message_length(const WorkRequest& request) noexcept {
  if (!is_among(kListed, request.operation)) {
    const OwnMessage* const own = row(request.operation).own;
    return own != nullptr ? own->octets : 0;
  }
  return request.inline_data.empty() ? total(request.local) : request.inline_data.size();
}

// An alternative of a room, made anew only when the other one is there: to make one is to clear all its octets.
template <std::size_t Segments>
auto& list_in(SourceRoom<Segments>& room) {
  auto* list = std::get_if<0>(&room.held);
  return list != nullptr ? *list : room.held.template emplace<0>();
}
template <std::size_t Segments>
auto& octets_in(SourceRoom<Segments>& room) {
  auto* octets = std::get_if<1>(&room.held);
  return octets != nullptr ? *octets : room.held.template emplace<1>();
}

}  // namespace

rdmap::LocalSegments SendEntry::local() const noexcept {
  if (inlined) return {};
  if (apart) return rdmap::LocalSegments(*std::get_if<0>(&apart->held)).first(segments);
  return rdmap::LocalSegments(*std::get_if<0>(&near.held)).first(segments);
}

Bytes SendEntry::inline_octets() const noexcept {
  if (!inlined) return {};
  const auto size = static_cast<std::size_t>(length);
  if (apart) return Bytes(*std::get_if<1>(&apart->held)).first(size);
  return Bytes(*std::get_if<1>(&near.held)).first(size);
}

std::expected<void, PostError> check(const WorkRequest& request) noexcept {
  if (request.local.size() > kMaxSegments) return std::unexpected(PostError::kTooManySegments);
  if (request.inline_data.size() > kMaxInline) return std::unexpected(PostError::kInlineTooLong);
  if (!request.inline_data.empty() && !row(request.operation).carrier) return std::unexpected(PostError::kBadOperands);
  if (request.invalidate && request.operation != Operation::kSend) return std::unexpected(PostError::kBadOperands);
  const std::uint64_t length = message_length(request);
  // DDP-5.2-03: a message is shorter than 2^32 octets.
  if (length > std::numeric_limits<std::uint32_t>::max()) return std::unexpected(PostError::kMessageTooLong);
  if (is_among(kListOfOneSize, request.operation) && length != row(request.operation).list_octets)
    return std::unexpected(PostError::kBadOperands);
  return {};
}

void SendEntry::begin(const WorkRequest& wanted, bool of_engine) noexcept {
  stage = Stage::kWaiting;
  status = WorkStatus::kSuccess;
  request = {.cookie = wanted.cookie,
             .operation = wanted.operation,
             .fence = wanted.fence,
             .solicited = wanted.solicited,
             .remote_stag = wanted.remote_stag,
             .sink_stag = wanted.sink_stag,
             .invalidate = wanted.invalidate,
             .remote_offset = wanted.remote_offset,
             .sink_offset = wanted.sink_offset,
             .immediate = wanted.immediate,
             .atomic = wanted.atomic};
  length = message_length(wanted);
  end = 0;
  msn.reset();
  internal = of_engine;
  inlined = !wanted.inline_data.empty();
  segments = static_cast<std::uint32_t>(wanted.local.size());
  if (inlined) return keep(wanted.inline_data);
  keep(wanted.local);
}

void SendEntry::keep(rdmap::LocalSegments list) noexcept {
  std::ranges::copy(list, apart ? list_in(*apart).begin() : list_in(near).begin());
}

void SendEntry::keep(Bytes octets) noexcept {
  std::ranges::copy(octets, apart ? octets_in(*apart).begin() : octets_in(near).begin());
}

SendEntry::Apart SendQueue::take_room() {
  if (rooms_.empty()) return std::make_unique<SourceRoom<kMaxSegments>>();
  auto room = std::move(rooms_.back());
  rooms_.pop_back();
  return room;
}

void SendQueue::push(const WorkRequest& request, bool internal) {
  SendEntry::Apart apart = SendEntry::is_long(request) ? take_room() : nullptr;  // before the queue has one more
  SendEntry& entry = entries_.extend();
  if (apart) entry.apart = std::move(apart);
  entry.begin(request, internal);
  if (!internal) ++users_;
}

void SendQueue::transferred(std::uint64_t position) noexcept {
  for (; settled_ < started_; ++settled_) {
    SendEntry& entry = entries_[settled_];
    if (entry.stage == Stage::kStarted || entry.end > position) return;
    if (entry.stage == Stage::kCut) entry.stage = Stage::kDone;
  }
}

void SendQueue::finish(std::uint64_t ticket, WorkStatus status) noexcept {
  SendEntry& entry = at(ticket);
  entry.stage = Stage::kDone;
  entry.status = status;
}

SendEntry* SendQueue::find_untagged(ddp::Msn msn, bool request_queue) noexcept {
  for (std::size_t i = 0; i < started_; ++i) {
    SendEntry& entry = entries_[i];
    if (entry.stage != Stage::kDone && entry.msn == msn && awaits_response(entry.request.operation) == request_queue)
      return &entry;
  }
  return nullptr;
}

SendEntry* SendQueue::find_write(ddp::Stag stag, ddp::TaggedOffset offset) noexcept {
  for (std::size_t i = 0; i < started_; ++i) {
    SendEntry& entry = entries_[i];
    const SendEntry::Order& request = entry.request;
    const bool write = row(request.operation).carrier == rdmap::Opcode::kWrite;
    if (entry.stage == Stage::kDone || !write || request.remote_stag != stag) continue;
    if (offset.value - request.remote_offset.value < std::max<std::uint64_t>(entry.length, 1)) return &entry;
  }
  return nullptr;
}

SendEntry* SendQueue::find_read(const rdmap::ReadRequest& quoted) noexcept {
  for (std::size_t i = 0; i < started_; ++i) {
    SendEntry& entry = entries_[i];
    const SendEntry::Order& request = entry.request;
    const bool read = entry.stage != Stage::kDone && request.operation == Operation::kRead;
    if (!read || request.sink_stag != quoted.sink_stag) continue;
    // Sinks may be used again, sources too: both ends and what is left must fit.
    const std::uint64_t answered = quoted.sink_offset.value - request.sink_offset.value;
    if (answered <= entry.length && quoted.size == entry.length - answered) return &entry;
  }
  return nullptr;
}

void SendQueue::flush() noexcept {
  for (std::size_t i = 0; i < entries_.size(); ++i) {
    SendEntry& entry = entries_[i];
    if (entry.stage == Stage::kDone) continue;
    entry.stage = Stage::kDone;
    entry.status = WorkStatus::kFlushed;
  }
  started_ = entries_.size();
  settled_ = started_;
}

}  // namespace weft::engine
