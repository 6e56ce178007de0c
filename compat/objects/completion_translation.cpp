// SPDX-License-Identifier: Apache-2.0
#include "compat/objects/completion_translation.hpp"

#include "compat/objects/completion.hpp"

namespace weft::compat {

namespace {

using verbs::WcOpcode;
using verbs::WcStatus;

constexpr bool same(WcStatus ours, ibv_wc_status theirs) { return wc_status({.status = ours}) == theirs; }
constexpr bool same(WcOpcode ours, ibv_wc_opcode theirs) { return wc_opcode({.opcode = ours}) == theirs; }

static_assert(same(WcStatus::kSuccess, IBV_WC_SUCCESS) && same(WcStatus::kLocalLengthError, IBV_WC_LOC_LEN_ERR) &&
              same(WcStatus::kLocalQpOperationError, IBV_WC_LOC_QP_OP_ERR) &&
              same(WcStatus::kLocalProtectionError, IBV_WC_LOC_PROT_ERR) &&
              same(WcStatus::kFlushed, IBV_WC_WR_FLUSH_ERR) && same(WcStatus::kWindowBindError, IBV_WC_MW_BIND_ERR) &&
              same(WcStatus::kBadResponse, IBV_WC_BAD_RESP_ERR) &&
              same(WcStatus::kLocalAccessError, IBV_WC_LOC_ACCESS_ERR) &&
              same(WcStatus::kRemoteInvalidRequest, IBV_WC_REM_INV_REQ_ERR) &&
              same(WcStatus::kRemoteAccessError, IBV_WC_REM_ACCESS_ERR) &&
              same(WcStatus::kRemoteOperationError, IBV_WC_REM_OP_ERR) &&
              same(WcStatus::kFatalError, IBV_WC_FATAL_ERR) && same(WcStatus::kGeneralError, IBV_WC_GENERAL_ERR));
static_assert(same(WcOpcode::kSend, IBV_WC_SEND) && same(WcOpcode::kRdmaWrite, IBV_WC_RDMA_WRITE) &&
              same(WcOpcode::kRdmaRead, IBV_WC_RDMA_READ) && same(WcOpcode::kCompareAndSwap, IBV_WC_COMP_SWAP) &&
              same(WcOpcode::kFetchAndAdd, IBV_WC_FETCH_ADD) && same(WcOpcode::kBindWindow, IBV_WC_BIND_MW) &&
              same(WcOpcode::kLocalInvalidate, IBV_WC_LOCAL_INV) && same(WcOpcode::kReceive, IBV_WC_RECV) &&
              same(WcOpcode::kReceiveImmediate, IBV_WC_RECV_RDMA_WITH_IMM));

}  // namespace

// The rest (partition key, local identifiers, service level) belongs to InfiniBand, and is zero.
ibv_wc translate(const verbs::WorkCompletion& completion) noexcept {
  ibv_wc out{};
  out.wr_id = completion.wr_id;
  out.status = wc_status(completion);
  out.opcode = wc_opcode(completion);
  out.vendor_err = completion.vendor_error;
  out.byte_len = completion.byte_len;
  out.imm_data = wc_immediate_or_rkey(completion);
  out.qp_num = completion.qp_num;
  out.src_qp = completion.source_qp;
  out.wc_flags = wc_flags(completion);
  return out;
}

}  // namespace weft::compat
