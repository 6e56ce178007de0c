// SPDX-License-Identifier: Apache-2.0
// Work from the application to the engine, in the caller's thread.
#include <array>
#include <cerrno>
#include <new>
#include <utility>

#include "verbs/base/send_opcodes.hpp"
#include "verbs/stream/link.hpp"
#include "verbs/stream/send_checks.hpp"

namespace weft::verbs::detail {

namespace {

using engine::Operation;

rdmap::AtomicOperation to_atomic(const SendRequest& request) noexcept {
  const bool add = request.opcode == SendOpcode::kFetchAndAdd;
  return {.kind = add ? rdmap::AtomicOperation::Kind::kFetchAdd : rdmap::AtomicOperation::Kind::kCmpSwap,
          .add_or_swap = request.swap_or_add,
          // RFC 7306 section 5.1.1: a mask of 0 is one addition over all 64 bits.
          .add_or_swap_mask = add && !request.masked_add ? 0 : request.swap_or_add_mask,
          .compare = request.compare,
          .compare_mask = request.compare_mask};
}

Error to_error(engine::PostError error) {
  switch (error) {
    case engine::PostError::kQueueFull: return full_send_queue();
    case engine::PostError::kNotConnected: return {Errc::kDisconnected, "queue pair", "the connection is closing"};
    case engine::PostError::kTooManySegments: return {Errc::kTooManySegments, "segments", "more than the device takes"};
    case engine::PostError::kInlineTooLong: return {Errc::kInlineTooLong, "segments", "too many octets for inline"};
    case engine::PostError::kMessageTooLong: return {Errc::kMessageTooLong, "segments", "2^32 octets or more together"};
    case engine::PostError::kNoReadDepth:
      return {Errc::kInvalidState, "opcode", "ORD is 0: reads and atomics were negotiated away"};
    case engine::PostError::kNotAgreed:
      return {Errc::kNotSupported, "opcode", "iWARP has no immediate data in a Send, unless both ends have agreed"};
    case engine::PostError::kBadOperands: return {Errc::kInvalidArgument, "segments", "do not fit the operation"};
  }
  return {Errc::kInvalidArgument, "request", "refused"};
}

// The application names both ends of tagged work, whole buffers or parts (DDP-5.2-09, RDMAP-3.2-07, RDMAP-5.2.1-10).
engine::WorkRequest to_work(const SendRequest& request, std::uint64_t cookie) {
  engine::WorkRequest work{.cookie = cookie,
                           .operation = row(request.opcode).operation,
                           .fence = has(request.flags, SendFlags::kFence),
                           .solicited = has(request.flags, SendFlags::kSolicited),
                           .local = request.segments,
                           .remote_stag = {request.rkey},
                           .remote_offset = {request.remote_address},
                           .atomic = to_atomic(request),
                           .immediate = request.immediate};
  if (request.opcode == SendOpcode::kSendWithInvalidate) work.invalidate = ddp::Stag{request.invalidate_rkey};
  if (work.operation == Operation::kLocal) work.local = {};
  if (work.operation == Operation::kRead && !request.segments.empty()) {
    work.sink_stag = {request.segments[0].lkey};
    work.sink_offset = {request.segments[0].address};
  }
  return work;
}

}  // namespace

PostResult Link::post(std::span<const SendRequest> requests) {
  PostResult result;
  for (std::size_t i = 0; i < requests.size() && result; ++i) {
    try {
      if (const auto posted = post_one(requests[i]); !posted) result = std::unexpected(PostFailure{posted.error(), i});
    } catch (const std::bad_alloc&) {
      if (i == 0) throw;
      result = std::unexpected(PostFailure{{Errc::kSystem, "memory", "there is none for this request", ENOMEM}, i});
    }
  }
  sends_.ask_for_confirmation(engine_);
  return result;
}

// All memory is taken before the engine accepts the work: each work request of the engine has its slot.

Result<void> Link::post_one(const SendRequest& request, LocalWork* prepared) {
  if (life_.fails() || life_.closes()) return post_late(request);
  if (const auto sound = check(request, qp_->attributes); !sound) return sound;
  if (!qp_->has_send_room(sends_unfinished())) return std::unexpected(full_send_queue());
  engine::WorkRequest work = to_work(request, sends_.next_cookie());
  std::array<std::byte, engine::kMaxInline> copied;
  if (has(request.flags, SendFlags::kInline)) {
    const auto octets = copy_inline(request, qp_->attributes.max_inline, copied);
    if (!octets) return std::unexpected(octets.error());
    work.inline_data = *octets;
    work.local = {};
  }
  sends_.reserve();
  const auto posted = work.operation == Operation::kLocal ? post_local(request, work, prepared) : post_work(work);
  if (!posted) return posted;
  const bool signaled = qp_->attributes.signal_all || has(request.flags, SendFlags::kSignaled);
  sends_.add(request, signaled);
  return {};
}

Result<void> Link::post_work(const engine::WorkRequest& work) {
  if (const auto posted = engine_.post(work); !posted) return std::unexpected(to_error(posted.error()));
  return {};
}

// It is performed at its turn, not before fill().
Result<void> Link::post_local(const SendRequest& request, const engine::WorkRequest& work, LocalWork* prepared) {
  auto local = prepared != nullptr ? std::move(*prepared) : local_work(request);
  if (!local) return std::unexpected(local.error());
  local->cookie = work.cookie;
  memory_.reserve_local();
  if (const auto posted = post_work(work); !posted) return posted;
  memory_.post_local(std::move(*local));
  return {};
}

// One that cannot be posted ends the connection, and the others are flushed after it.
void Link::post_early(EarlySends early, Instant now) {
  for (; !early.empty(); early.pop()) {
    const SendRequest& request = early.front();
    try {
      if (post_one(request, early.front_local())) continue;
    } catch (const std::bad_alloc&) {  // as one that does not fit
    }
    if (life_.fails()) {  // no memory to wait for its turn
      qp_->fail_send(request, WcStatus::kFlushed);
      continue;
    }
    qp_->fail_send(request, WcStatus::kLocalQpOperationError);
    life_.reach(Stage::kFailing);
    engine_.abort(now);
  }
  sends_.ask_for_confirmation(engine_);
}

// Flushed, as an adapter does while the queue pair is on its way to ERROR, but not before what was posted earlier
// (RDMAP-5.5-19): that may have to wait until octets on loan are written, or for the peer.
Result<void> Link::post_late(const SendRequest& request) {
  if (!qp_->has_send_room(sends_unfinished())) return std::unexpected(full_send_queue());
  if (sends_.empty()) return qp_->fail_send(request, WcStatus::kFlushed), Result<void>{};
  sends_.add_late(request);
  return {};
}

}  // namespace weft::verbs::detail
