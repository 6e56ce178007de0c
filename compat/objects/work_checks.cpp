// SPDX-License-Identifier: Apache-2.0
#include "compat/objects/work_checks.hpp"

#include <cstdint>
#include <limits>

#include "verbs/device.hpp"

namespace weft::compat {

namespace {

using verbs::Errc;
using verbs::SendFlags;
using verbs::SendOpcode;
using verbs::SendRequest;

constexpr auto kKnownAccess = static_cast<std::uint32_t>(verbs::kAllAccess | verbs::Access::kZeroBased);

bool is_atomic(SendOpcode opcode) {
  return opcode == SendOpcode::kCompareAndSwap || opcode == SendOpcode::kFetchAndAdd;
}

verbs::Result<void> check_inline(const SendRequest& request, std::uint64_t octets, std::uint32_t most) {
  if (awaits_answer(request.opcode)) {
    return verbs::fail(Errc::kInvalidArgument, "data", "only Sends and RDMA Writes can be inline");
  }
  if (octets > most) return verbs::fail(Errc::kInlineTooLong, "data", "more octets than max_inline_data");
  return {};
}

verbs::Result<void> check_data(const SendRequest& request, const verbs::QueuePairQuery& limits) {
  std::uint64_t octets = 0;
  for (const verbs::Sge& sge : request.segments) octets += sge.length;
  const bool reads = request.opcode == SendOpcode::kRdmaRead;
  if (request.segments.size() > (reads ? verbs::Device::limits().max_sge_rd : limits.max_send_sge)) {
    return verbs::fail(Errc::kTooManySegments, "segments", "more than the queue pair takes");
  }
  if (octets > std::numeric_limits<std::uint32_t>::max()) {
    return verbs::fail(Errc::kMessageTooLong, "segments", "2^32 octets or more together");
  }
  if (is_atomic(request.opcode) && octets != sizeof(std::uint64_t)) {
    return verbs::fail(Errc::kInvalidArgument, "segments", "an atomic operation has 8 octets");
  }
  if (awaits_answer(request.opcode) && limits.negotiated && limits.negotiated->ord == 0) {
    return verbs::fail(Errc::kInvalidState, "opcode", "ORD is 0: reads and atomics were negotiated away");
  }
  return has(request.flags, SendFlags::kInline) ? check_inline(request, octets, limits.max_inline)
                                                : verbs::Result<void>{};
}

verbs::Result<void> check_bind(const verbs::WindowBind& bind) {
  if (bind.window == nullptr || bind.region == nullptr) {
    return verbs::fail(Errc::kInvalidArgument, "bind", "needs a window and a region");
  }
  if (bind.length == 0) return verbs::fail(Errc::kInvalidArgument, "bind.length", "zero: invalidate instead");
  if ((static_cast<std::uint32_t>(bind.access) & ~kKnownAccess) != 0) {
    return verbs::fail(Errc::kInvalidArgument, "bind.access", "contains an undefined bit");
  }
  return {};
}

}  // namespace

bool awaits_answer(SendOpcode opcode) noexcept { return opcode == SendOpcode::kRdmaRead || is_atomic(opcode); }

verbs::Result<void> check_list(std::span<const SendRequest> requests, const verbs::QueuePair& engine) {
  const auto limits = engine.query();
  for (const SendRequest& request : requests) {
    const auto fine =
        request.opcode == SendOpcode::kBindWindow ? check_bind(request.bind) : check_data(request, limits);
    if (!fine) return fine;
  }
  if (requests.size() > engine.send_room()) {
    return verbs::fail(Errc::kQueueFull, "send queue", "has no room for the whole list");
  }
  return {};
}

}  // namespace weft::compat
