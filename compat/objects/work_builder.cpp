// SPDX-License-Identifier: Apache-2.0
// The program calls these through pointers in the queue pair, so what it sees here is C. Builders and setters answer
// nothing: their first error is kept, and ibv_wr_complete tells it.
#include "compat/objects/work_builder.hpp"

#include <span>
#include <utility>

#include "compat/objects/datagrams.hpp"
#include "compat/objects/report.hpp"
#include "compat/objects/work_checks.hpp"
#include "compat/objects/work_translation.hpp"

namespace weft::compat {

namespace {

using verbs::Errc;
using verbs::SendFlags;
using verbs::SendOpcode;
using verbs::SendRequest;

constexpr unsigned kKnownFlags = IBV_SEND_FENCE | IBV_SEND_SIGNALED | IBV_SEND_SOLICITED | IBV_SEND_INLINE;
constexpr std::uint64_t kSupported = IBV_QP_EX_WITH_RDMA_WRITE | IBV_QP_EX_WITH_RDMA_WRITE_WITH_IMM |
                                     IBV_QP_EX_WITH_SEND | IBV_QP_EX_WITH_SEND_WITH_IMM | IBV_QP_EX_WITH_RDMA_READ |
                                     IBV_QP_EX_WITH_ATOMIC_CMP_AND_SWP | IBV_QP_EX_WITH_ATOMIC_FETCH_AND_ADD |
                                     IBV_QP_EX_WITH_LOCAL_INV | IBV_QP_EX_WITH_BIND_MW | IBV_QP_EX_WITH_SEND_WITH_INV;

bool is_local(SendOpcode opcode) { return opcode == SendOpcode::kLocalInvalidate || opcode == SendOpcode::kBindWindow; }

// `step` answers with a verbs::Result<void>.
template <typename Step>
void attempt(ibv_qp_ex* qp, Step&& step) noexcept {
  WorkBuilder& builder = *of(qp).builder;
  if (builder.error) return;
  try {
    if (const auto done = std::forward<Step>(step)(builder); !done) builder.error = done.error();
  } catch (...) {
    builder.error = verbs::Error{Errc::kNoResources, "work requests", "no memory to build more"};
  }
}

// --- Builders

// IBV_SEND_INLINE is for the setters to say.
void begin(ibv_qp_ex* qp, SendRequest request) noexcept {
  attempt(qp, [&](WorkBuilder& builder) -> verbs::Result<void> {
    if ((qp->wr_flags & ~kKnownFlags) != 0) {
      return verbs::fail(Errc::kInvalidArgument, "wr_flags", "contains an undefined bit");
    }
    request.wr_id = qp->wr_id;
    request.flags = SendFlags{qp->wr_flags & ~unsigned{IBV_SEND_INLINE}};
    builder.requests.push_back(request);
    builder.data.emplace_back();
    if (of(qp).datagrams) builder.to.emplace_back();
    return {};
  });
}

void wr_send(ibv_qp_ex* qp) noexcept { begin(qp, {.opcode = SendOpcode::kSend}); }
void wr_send_imm(ibv_qp_ex* qp, __be32 data) noexcept {
  begin(qp, {.opcode = SendOpcode::kSendWithImmediate, .immediate = to_immediate(data)});
}
void wr_send_inv(ibv_qp_ex* qp, std::uint32_t rkey) noexcept {
  begin(qp, {.opcode = SendOpcode::kSendWithInvalidate, .invalidate_rkey = rkey});
}
void wr_rdma_write(ibv_qp_ex* qp, std::uint32_t rkey, std::uint64_t remote) noexcept {
  begin(qp, {.opcode = SendOpcode::kRdmaWrite, .remote_address = remote, .rkey = rkey});
}
void wr_rdma_write_imm(ibv_qp_ex* qp, std::uint32_t rkey, std::uint64_t remote, __be32 data) noexcept {
  begin(qp, {.opcode = SendOpcode::kRdmaWriteWithImmediate,
             .remote_address = remote,
             .rkey = rkey,
             .immediate = to_immediate(data)});
}
void wr_rdma_read(ibv_qp_ex* qp, std::uint32_t rkey, std::uint64_t remote) noexcept {
  begin(qp, {.opcode = SendOpcode::kRdmaRead, .remote_address = remote, .rkey = rkey});
}
void wr_atomic_cmp_swp(ibv_qp_ex* qp, std::uint32_t rkey, std::uint64_t remote, std::uint64_t compare,
                       std::uint64_t swap) noexcept {
  begin(qp, {.opcode = SendOpcode::kCompareAndSwap,
             .remote_address = remote,
             .rkey = rkey,
             .compare = compare,
             .swap_or_add = swap});
}
void wr_atomic_fetch_add(ibv_qp_ex* qp, std::uint32_t rkey, std::uint64_t remote, std::uint64_t add) noexcept {
  begin(qp, {.opcode = SendOpcode::kFetchAndAdd, .remote_address = remote, .rkey = rkey, .swap_or_add = add});
}
void wr_local_inv(ibv_qp_ex* qp, std::uint32_t rkey) noexcept {
  begin(qp, {.opcode = SendOpcode::kLocalInvalidate, .invalidate_rkey = rkey});
}
void wr_bind_mw(ibv_qp_ex* qp, ibv_mw* mw, std::uint32_t rkey, const ibv_mw_bind_info* info) noexcept {
  begin(qp, {.opcode = SendOpcode::kBindWindow, .bind = to_bind(mw, rkey, *info)});
}

// --- Setters

// Enters what the request built last moves: from here to the end of `segments`.
verbs::Result<void> give_data(WorkBuilder& builder, std::size_t first, bool is_inline) {
  if (builder.requests.empty()) return verbs::fail(Errc::kInvalidState, "data", "set before any work request is begun");
  if (builder.data.back().set) return verbs::fail(Errc::kInvalidArgument, "data", "set twice for one work request");
  if (is_local(builder.requests.back().opcode)) {
    return verbs::fail(Errc::kInvalidArgument, "data", "set for an operation that moves none");
  }
  builder.data.back() = {.first = first, .count = builder.segments.size() - first, .set = true, .is_inline = is_inline};
  if (is_inline) builder.requests.back().flags = builder.requests.back().flags | SendFlags::kInline;
  return {};
}

void wr_set_sge_list(ibv_qp_ex* qp, std::size_t count, const ibv_sge* list) noexcept {
  attempt(qp, [&](WorkBuilder& builder) -> verbs::Result<void> {
    if (count > kMaxSegments) return verbs::fail(Errc::kTooManySegments, "num_sge", "more than the device takes");
    const std::size_t first = builder.segments.size();
    for (const ibv_sge& sge : std::span(list, count)) assign(builder.segments.emplace_back(), sge);
    return give_data(builder, first, false);
  });
}
void wr_set_sge(ibv_qp_ex* qp, std::uint32_t lkey, std::uint64_t address, std::uint32_t length) noexcept {
  const ibv_sge sge{.addr = address, .length = length, .lkey = lkey};
  wr_set_sge_list(qp, 1, &sge);
}

void wr_set_inline_data_list(ibv_qp_ex* qp, std::size_t count, const ibv_data_buf* list) noexcept {
  attempt(qp, [&](WorkBuilder& builder) -> verbs::Result<void> {
    auto& octets = builder.inline_octets;
    const std::size_t begin = octets.size();
    for (const ibv_data_buf& part : std::span(list, count)) {
      if (part.length > verbs::Device::limits().max_inline - (octets.size() - begin)) {
        return verbs::fail(Errc::kInlineTooLong, "data", "more octets than the device takes inline");
      }
      const auto* from = static_cast<const std::byte*>(part.addr);
      octets.insert(octets.end(), from, from + part.length);
    }
    const auto length = static_cast<std::uint32_t>(octets.size() - begin);
    builder.segments.push_back({.address = begin, .length = length});
    return give_data(builder, builder.segments.size() - 1, true);
  });
}
void wr_set_inline_data(ibv_qp_ex* qp, void* address, std::size_t length) noexcept {
  const ibv_data_buf whole{.addr = address, .length = length};
  wr_set_inline_data_list(qp, 1, &whole);
}

void wr_set_ud_addr(ibv_qp_ex* qp, ibv_ah* ah, std::uint32_t number, std::uint32_t qkey) noexcept {
  attempt(qp, [&](WorkBuilder& builder) -> verbs::Result<void> {
    if (builder.to.empty()) return verbs::fail(Errc::kInvalidState, "ah", "set before any work request is begun");
    if (ah == nullptr) return verbs::fail(Errc::kInvalidArgument, "ah", "null");
    builder.to.back() = of(ah).of_queue_pair(number, qkey);
    return {};
  });
}

// --- The list

// Storage stays where it is from now on.
void link(WorkBuilder& builder) {
  const auto base = reinterpret_cast<std::uintptr_t>(builder.inline_octets.data());
  for (std::size_t i = 0; i < builder.requests.size(); ++i) {
    const WorkBuilder::Data& data = builder.data[i];
    if (data.is_inline) builder.segments[data.first].address += base;
    builder.requests[i].segments = std::span(builder.segments).subspan(data.first, data.count);
  }
}

int post_datagrams(Qp& qp) {
  const WorkBuilder& builder = *qp.builder;
  std::vector<verbs::DatagramRequest> requests;
  requests.reserve(builder.requests.size());
  for (std::size_t i = 0; i < builder.requests.size(); ++i) {
    if (builder.to[i].number == 0) return refused("ibv_wr_complete", EINVAL, "ah: not set for a work request");
    requests.push_back({.send = builder.requests[i], .to = builder.to[i]});
  }
  const auto posted = qp.datagrams->post_send(requests);
  return posted ? 0 : refused("ibv_wr_complete", posted.error().error);
}

// What is left that may cut a list short: ibv_post_send of a thread that came in between checking and posting would
// take the room, but that one waits for our lock. A stream that ends now refuses the whole list, or flushes it.
int post(Qp& qp) {
  WorkBuilder& builder = *qp.builder;
  if (builder.error) return refused("ibv_wr_complete", *builder.error);
  link(builder);
  if (qp.datagrams) return post_datagrams(qp);
  if (const auto fine = check_list(builder.requests, qp.engine); !fine) return refused("ibv_wr_complete", fine.error());
  if (builder.requests.empty()) return 0;
  const auto posted = qp.direct_state ? post_direct(qp, builder.requests) : qp.engine.post_send(builder.requests);
  return posted ? 0 : refused("ibv_wr_complete", posted.error().error);
}

void clear(WorkBuilder& builder) noexcept {
  builder.requests.clear();
  builder.data.clear();
  builder.to.clear();
  builder.segments.clear();
  builder.inline_octets.clear();
  builder.error.reset();
}

void wr_start(ibv_qp_ex* qp) noexcept { of(qp).builder->mutex.lock(); }
void wr_abort(ibv_qp_ex* qp) noexcept {
  clear(*of(qp).builder);
  of(qp).builder->mutex.unlock();
}
int wr_complete(ibv_qp_ex* qp) noexcept {
  const int error = quickly_errno([qp] { return post(of(qp)); });
  wr_abort(qp);  // nothing is left to discard but our copies
  return error;
}

void furnish_always(Qp& qp) {
  qp.wr_start = wr_start;
  qp.wr_complete = wr_complete;
  qp.wr_abort = wr_abort;
  qp.wr_set_sge = wr_set_sge;
  qp.wr_set_sge_list = wr_set_sge_list;
  qp.wr_set_inline_data = wr_set_inline_data;
  qp.wr_set_inline_data_list = wr_set_inline_data_list;
  if (qp.datagrams) qp.wr_set_ud_addr = wr_set_ud_addr;
}

}  // namespace

int furnish_builder(Qp& qp, std::uint64_t send_ops_flags) {
  constexpr std::uint64_t kOfDatagrams = IBV_QP_EX_WITH_SEND | IBV_QP_EX_WITH_SEND_WITH_IMM;
  constexpr std::uint64_t kNotOfUc =
      IBV_QP_EX_WITH_RDMA_READ | IBV_QP_EX_WITH_ATOMIC_CMP_AND_SWP | IBV_QP_EX_WITH_ATOMIC_FETCH_AND_ADD;
  const std::uint64_t of_type = qp.qp_base.qp_type == IBV_QPT_UC ? kSupported & ~kNotOfUc : kSupported;
  if ((send_ops_flags & ~(qp.datagrams ? kOfDatagrams : of_type)) != 0) {
    return refused("ibv_create_qp_ex", EOPNOTSUPP, "send_ops_flags: the queue pair has no such operation");
  }
  const auto asked = [send_ops_flags](std::uint64_t flag) { return (send_ops_flags & flag) != 0; };
  if (asked(IBV_QP_EX_WITH_SEND)) qp.wr_send = wr_send;
  if (asked(IBV_QP_EX_WITH_SEND_WITH_IMM)) qp.wr_send_imm = wr_send_imm;
  if (asked(IBV_QP_EX_WITH_SEND_WITH_INV)) qp.wr_send_inv = wr_send_inv;
  if (asked(IBV_QP_EX_WITH_RDMA_WRITE)) qp.wr_rdma_write = wr_rdma_write;
  if (asked(IBV_QP_EX_WITH_RDMA_WRITE_WITH_IMM)) qp.wr_rdma_write_imm = wr_rdma_write_imm;
  if (asked(IBV_QP_EX_WITH_RDMA_READ)) qp.wr_rdma_read = wr_rdma_read;
  if (asked(IBV_QP_EX_WITH_ATOMIC_CMP_AND_SWP)) qp.wr_atomic_cmp_swp = wr_atomic_cmp_swp;
  if (asked(IBV_QP_EX_WITH_ATOMIC_FETCH_AND_ADD)) qp.wr_atomic_fetch_add = wr_atomic_fetch_add;
  if (asked(IBV_QP_EX_WITH_LOCAL_INV)) qp.wr_local_inv = wr_local_inv;
  if (asked(IBV_QP_EX_WITH_BIND_MW)) qp.wr_bind_mw = wr_bind_mw;
  furnish_always(qp);
  qp.builder.emplace();
  return 0;
}

}  // namespace weft::compat
