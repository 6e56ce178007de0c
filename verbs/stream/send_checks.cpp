// SPDX-License-Identifier: Apache-2.0
#include "verbs/stream/send_checks.hpp"

#include <bit>
#include <cstring>

#include "verbs/base/send_opcodes.hpp"
#include "verbs/device.hpp"

namespace weft::verbs::detail {

Result<void> check(const SendRequest& request, const QueuePairAttributes& limits) {
  const engine::Operation operation = row(request.opcode).operation;
  if (request.segments.size() > limits.max_send_sge) {
    return fail(Errc::kTooManySegments, "segments", "more than the queue pair was created for");
  }
  if (operation == engine::Operation::kRead && request.segments.size() > Device::limits().max_sge_rd) {
    return fail(Errc::kTooManySegments, "segments", "an RDMA Read has one sink");
  }
  if (has(request.flags, SendFlags::kInline) && !engine::row(operation).carrier) {
    return fail(Errc::kInvalidArgument, "flags", "only Sends and RDMA Writes can be inline");
  }
  return {};
}

Result<Bytes> copy_inline(const SendRequest& request, std::uint32_t limit, MutableBytes out) {
  std::size_t used = 0;
  for (const Sge& sge : request.segments) {
    if (sge.length > limit - used) return fail(Errc::kInlineTooLong, "segments", "more octets than max_inline");
    if (sge.length != 0) std::memcpy(out.data() + used, std::bit_cast<const void*>(sge.address), sge.length);
    used += sge.length;
  }
  return out.first(used);
}

Result<LocalWork> local_work(const SendRequest& request) {
  if (request.opcode == SendOpcode::kLocalInvalidate)
    return LocalWork{.work = LocalInvalidate{request.invalidate_rkey}};
  const WindowBind& bind = request.bind;
  BindWindow out{.stag = bind.rkey, .address = bind.address, .length = bind.length, .access = bind.access};
  if (bind.window != nullptr) out.window = bind.window->self_.state;
  if (bind.region != nullptr) out.region = bind.region->self_.state;
  const bool unbinds = out.window && out.window->type == WindowType::kType1 && bind.length == 0;
  if (!out.window || (!out.region && !unbinds))
    return fail(Errc::kInvalidArgument, "bind", "needs a window and a region");
  if (bind.length == 0 && !unbinds) return fail(Errc::kInvalidArgument, "bind.length", "zero: invalidate instead");
  return LocalWork{.work = std::move(out)};
}

}  // namespace weft::verbs::detail
