// SPDX-License-Identifier: Apache-2.0
#include "compat/objects/work_translation.hpp"

#include <cerrno>
#include <cstring>
#include <span>

#include "compat/objects/datagrams.hpp"
#include "compat/objects/enums.hpp"
#include "compat/objects/memory.hpp"

namespace weft::compat {

namespace {

using verbs::SendFlags;
using verbs::SendOpcode;

constexpr bool same(SendOpcode ours, ibv_wr_opcode theirs) {
  return static_cast<int>(ours) == static_cast<int>(theirs);
}
constexpr bool same(SendFlags ours, ibv_send_flags theirs) {
  return static_cast<int>(ours) == static_cast<int>(theirs);
}

static_assert(same(SendOpcode::kRdmaWrite, IBV_WR_RDMA_WRITE) &&
              same(SendOpcode::kRdmaWriteWithImmediate, IBV_WR_RDMA_WRITE_WITH_IMM) &&
              same(SendOpcode::kSend, IBV_WR_SEND) && same(SendOpcode::kSendWithImmediate, IBV_WR_SEND_WITH_IMM) &&
              same(SendOpcode::kRdmaRead, IBV_WR_RDMA_READ) &&
              same(SendOpcode::kCompareAndSwap, IBV_WR_ATOMIC_CMP_AND_SWP) &&
              same(SendOpcode::kFetchAndAdd, IBV_WR_ATOMIC_FETCH_AND_ADD) &&
              same(SendOpcode::kLocalInvalidate, IBV_WR_LOCAL_INV) && same(SendOpcode::kBindWindow, IBV_WR_BIND_MW) &&
              same(SendOpcode::kSendWithInvalidate, IBV_WR_SEND_WITH_INV));
static_assert(same(SendFlags::kFence, IBV_SEND_FENCE) && same(SendFlags::kSignaled, IBV_SEND_SIGNALED) &&
              same(SendFlags::kSolicited, IBV_SEND_SOLICITED) && same(SendFlags::kInline, IBV_SEND_INLINE));

// A negative count is a huge one.
template <typename Wr, typename Request>
int translate_segments(const Wr& request, verbs::Sge* segments, Request& out) noexcept {
  const auto count = static_cast<unsigned>(request.num_sge);
  if (count > kMaxSegments || (count != 0 && request.sg_list == nullptr)) return EINVAL;
  for (unsigned i = 0; i < count; ++i) assign(*std::construct_at(segments + i), request.sg_list[i]);
  out.segments = {segments, count};
  return 0;
}

int translate_remote(const ibv_send_wr& request, verbs::SendRequest& out) noexcept {
  out.remote_address = request.wr.rdma.remote_addr;
  out.rkey = request.wr.rdma.rkey;
  return 0;
}

int translate_atomic(const ibv_send_wr& request, verbs::SendRequest& out) noexcept {
  const bool swaps = request.opcode == IBV_WR_ATOMIC_CMP_AND_SWP;
  out.remote_address = request.wr.atomic.remote_addr;
  out.rkey = request.wr.atomic.rkey;
  out.compare = swaps ? request.wr.atomic.compare_add : 0;
  out.swap_or_add = swaps ? request.wr.atomic.swap : request.wr.atomic.compare_add;
  return 0;
}

// What only this opcode needs.
int translate_operands(const ibv_send_wr& request, verbs::SendRequest& out) noexcept {
  switch (request.opcode) {
    case IBV_WR_SEND: return 0;
    // Only direct connections have it, between two weft ends: the engine says so of the others.
    case IBV_WR_SEND_WITH_IMM: return out.immediate = to_immediate(request.imm_data), 0;
    case IBV_WR_RDMA_WRITE_WITH_IMM: out.immediate = to_immediate(request.imm_data); [[fallthrough]];
    case IBV_WR_RDMA_WRITE:
    case IBV_WR_RDMA_READ: return translate_remote(request, out);
    case IBV_WR_ATOMIC_CMP_AND_SWP:
    case IBV_WR_ATOMIC_FETCH_AND_ADD: return translate_atomic(request, out);
    case IBV_WR_LOCAL_INV:
    case IBV_WR_SEND_WITH_INV: return out.invalidate_rkey = request.invalidate_rkey, 0;
    case IBV_WR_BIND_MW:
      return out.bind = to_bind(request.bind_mw.mw, request.bind_mw.rkey, request.bind_mw.bind_info), 0;
    case IBV_WR_TSO:
    case IBV_WR_DRIVER1:
    case IBV_WR_ATOMIC_WRITE: return EOPNOTSUPP;
  }
  return EINVAL;
}

// Programs leave the scatter/gather list of these as it happens to be.
bool has_segments(ibv_wr_opcode opcode) noexcept { return opcode != IBV_WR_LOCAL_INV && opcode != IBV_WR_BIND_MW; }

}  // namespace

verbs::ImmediateData to_immediate(__be32 data) noexcept {
  verbs::ImmediateData immediate{};
  std::memcpy(immediate.data(), &data, sizeof data);
  return immediate;
}

verbs::WindowBind to_bind(ibv_mw* window, std::uint32_t rkey, const ibv_mw_bind_info& info) noexcept {
  return {.window = window != nullptr ? &of(window).engine : nullptr,
          .region = info.mr != nullptr ? &of(info.mr).engine : nullptr,
          .rkey = rkey,
          .address = info.addr,
          .length = info.length,
          .access = verbs::Access{info.mw_access_flags & ~unsigned{IBV_ACCESS_OPTIONAL_RANGE}}};
}

// Flags go as they are: the engine knows the same ones, and refuses others (IBV_SEND_IP_CSUM).
int translate(const ibv_send_wr& request, verbs::Sge* segments, verbs::SendRequest& out) noexcept {
  if (number(request.opcode) < 0 || number(request.opcode) > IBV_WR_ATOMIC_WRITE) return EINVAL;
  if (const int error = translate_operands(request, out); error != 0) return error;
  if (has_segments(request.opcode)) {
    if (const int error = translate_segments(request, segments, out); error != 0) return error;
  }
  out.wr_id = request.wr_id;
  out.opcode = static_cast<SendOpcode>(request.opcode);
  out.flags = SendFlags{request.send_flags};
  return 0;
}

int translate(const ibv_send_wr& request, verbs::Sge* segments, verbs::DatagramRequest& out) noexcept {
  if (request.wr.ud.ah == nullptr) return EINVAL;
  out.to = of(request.wr.ud.ah).of_queue_pair(request.wr.ud.remote_qpn, request.wr.ud.remote_qkey);
  return translate(request, segments, out.send);
}

int translate(const ibv_recv_wr& request, verbs::Sge* segments, verbs::ReceiveRequest& out) noexcept {
  out.wr_id = request.wr_id;
  return translate_segments(request, segments, out);
}

std::string_view why_not(int error) noexcept {
  if (error == EOPNOTSUPP)
    return "opcode: iWARP has no such operation (nor, with the connection manager, immediate data in a Send)";
  return "opcode or num_sge: no such operation, or more segments than the device takes";
}

}  // namespace weft::compat
