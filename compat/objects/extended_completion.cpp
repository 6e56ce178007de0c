// SPDX-License-Identifier: Apache-2.0
// ibv_start_poll, ibv_next_poll, ibv_end_poll and the fields of the current completion (ibv_create_cq_ex(3)). The
// program calls them through pointers in the queue, so what it sees here is C.
#include <algorithm>

#include "compat/objects/completion.hpp"
#include "compat/objects/completion_translation.hpp"
#include "compat/objects/report.hpp"

namespace weft::compat {

namespace {

constexpr std::size_t kBatch = 32;

void lock(Cq& cq) {
  if (!cq.single_threaded) cq.polling.lock();
}
void unlock(Cq& cq) {
  if (!cq.single_threaded) cq.polling.unlock();
}

const verbs::WorkCompletion& current(ibv_cq_ex* cq) noexcept { return of(cq).batch[of(cq).at - 1]; }

// A poll that finds nothing leaves `batch` alone: the current completion can still be read.
int refill(Cq& cq) {
  const auto count = cq.engine.poll(cq.batch);
  if (!count) return refused("ibv_start_poll", count.error());
  if (*count == 0) return ENOENT;
  cq.taken = *count;
  cq.at = 0;
  return 0;
}

int next_poll(ibv_cq_ex* queue) noexcept {
  Cq& cq = of(queue);
  if (cq.at == cq.taken) {
    if (const int error = quickly_errno([&] { return refill(cq); }); error != 0) return error;
  }
  const verbs::WorkCompletion& next = cq.batch[cq.at++];
  queue->status = wc_status(next);
  queue->wr_id = next.wr_id;
  return 0;
}

int start_poll(ibv_cq_ex* queue, ibv_poll_cq_attr* attributes) noexcept {
  if (attributes != nullptr && attributes->comp_mask != 0) {
    return refused("ibv_start_poll", EINVAL, "attr.comp_mask: contains an undefined bit");
  }
  lock(of(queue));
  const int error = next_poll(queue);
  if (error != 0) unlock(of(queue));  // the program does not call ibv_end_poll then
  return error;
}

// What was taken and not read stays for the next start, or for ibv_poll_cq.
void end_poll(ibv_cq_ex* queue) noexcept { unlock(of(queue)); }

// --- Fields

ibv_wc_opcode read_opcode(ibv_cq_ex* cq) noexcept { return wc_opcode(current(cq)); }
std::uint32_t read_vendor_err(ibv_cq_ex* cq) noexcept { return current(cq).vendor_error; }
unsigned read_wc_flags(ibv_cq_ex* cq) noexcept { return wc_flags(current(cq)); }
std::uint32_t read_byte_len(ibv_cq_ex* cq) noexcept { return current(cq).byte_len; }
__be32 read_imm_data(ibv_cq_ex* cq) noexcept { return wc_immediate_or_rkey(current(cq)); }
std::uint32_t read_qp_num(ibv_cq_ex* cq) noexcept { return current(cq).qp_num; }
std::uint32_t read_src_qp(ibv_cq_ex* cq) noexcept { return current(cq).source_qp; }
// Return fields of InfiniBand's addresses: always zero.
std::uint32_t read_zero_32(ibv_cq_ex*) noexcept { return 0; }
std::uint8_t read_zero_8(ibv_cq_ex*) noexcept { return 0; }

void furnish_fields(Cq& cq, std::uint64_t wanted) {
  const auto asked = [wanted](std::uint64_t flag) { return (wanted & flag) != 0; };
  if (asked(IBV_WC_EX_WITH_BYTE_LEN)) cq.read_byte_len = read_byte_len;
  if (asked(IBV_WC_EX_WITH_IMM)) cq.read_imm_data = read_imm_data;
  if (asked(IBV_WC_EX_WITH_QP_NUM)) cq.read_qp_num = read_qp_num;
  if (asked(IBV_WC_EX_WITH_SRC_QP)) cq.read_src_qp = read_src_qp;
  if (asked(IBV_WC_EX_WITH_SLID)) cq.read_slid = read_zero_32;
  if (asked(IBV_WC_EX_WITH_SL)) cq.read_sl = read_zero_8;
  if (asked(IBV_WC_EX_WITH_DLID_PATH_BITS)) cq.read_dlid_path_bits = read_zero_8;
}

// Holds the queue as a thread between start and end does. A plain queue has no batch, and pays nothing.
class Polling {
 public:
  explicit Polling(Cq& cq) : cq_(cq) { lock(cq_); }
  ~Polling() { unlock(cq_); }
  Polling(const Polling&) = delete;
  Polling& operator=(const Polling&) = delete;

 private:
  Cq& cq_;
};

}  // namespace

void furnish_extended_polling(Cq& cq, std::uint64_t wanted) {
  cq.batch.resize(kBatch);
  cq.start_poll = start_poll;
  cq.next_poll = next_poll;
  cq.end_poll = end_poll;
  cq.read_opcode = read_opcode;
  cq.read_vendor_err = read_vendor_err;
  cq.read_wc_flags = read_wc_flags;
  furnish_fields(cq, wanted);
}

std::size_t take_left_over(Cq& cq, std::span<verbs::WorkCompletion> out) noexcept {
  if (cq.batch.empty()) return 0;
  const Polling polling(cq);
  const std::size_t count = std::min(out.size(), cq.taken - cq.at);
  std::ranges::copy(std::span(cq.batch).subspan(cq.at, count), out.begin());
  cq.at += count;
  return count;
}

void discard_left_over(Cq& cq, std::uint32_t qp_number) noexcept {
  if (cq.batch.empty()) return;
  const Polling polling(cq);
  const auto unread = std::span(cq.batch).subspan(cq.at, cq.taken - cq.at);
  const auto gone = std::ranges::remove(unread, qp_number, &verbs::WorkCompletion::qp_num);
  cq.taken -= gone.size();
}

}  // namespace weft::compat
