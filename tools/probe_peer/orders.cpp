// SPDX-License-Identifier: Apache-2.0
// What a guest does when it is told.
#include <algorithm>
#include <array>
#include <utility>

#include "tools/probe_peer/guest.hpp"

namespace weft::tools::probe_peer {
namespace {

using probe::Order;
using verbs::SendFlags;
using verbs::SendOpcode;

}  // namespace

// The report as it is now. Inline: the octets are copied.
void Guest::answer() {
  session_->publish();
  auto octets = probe::serialize(session_->report);
  const verbs::Sge what{reinterpret_cast<std::uintptr_t>(octets.data()), static_cast<std::uint32_t>(octets.size()), 0};
  post({.wr_id = kAnswerWork, .opcode = SendOpcode::kSend, .flags = SendFlags::kInline, .segments = {&what, 1}});
}

void Guest::answer_when_done() {
  if (unfinished_ == 0 && std::exchange(answers_, false)) answer();
}

verbs::SendRequest Guest::request_of(const Order& order, const verbs::Sge& work) const {
  verbs::SendRequest out{.wr_id = kOrderWork, .flags = SendFlags::kSignaled, .segments = {&work, 1}};
  out.remote_address = order.offset.value;
  out.rkey = order.stag.value;
  if ((order.flags & Order::kFence) != 0) out.flags = out.flags | SendFlags::kFence;
  const auto solicited = [&] { out.flags = out.flags | SendFlags::kSolicited; };
  switch (order.operation) {
    case Order::kSendSolicited: solicited(); [[fallthrough]];
    case Order::kSend: out.opcode = SendOpcode::kSend; break;
    case Order::kSendSolicitedInvalidate: solicited(); [[fallthrough]];
    case Order::kSendInvalidate:
      out.opcode = SendOpcode::kSendWithInvalidate;
      out.invalidate_rkey = order.stag.value;
      break;
    case Order::kWrite: out.opcode = SendOpcode::kRdmaWrite; break;
    case Order::kRead: out.opcode = SendOpcode::kRdmaRead; break;
    case Order::kFetchAdd:
      out.opcode = SendOpcode::kFetchAndAdd;
      out.swap_or_add = order.first;
      out.masked_add = order.second != 0;
      out.swap_or_add_mask = order.second;
      break;
    case Order::kCmpSwap:
      out.opcode = SendOpcode::kCompareAndSwap;
      out.compare = order.first;
      out.swap_or_add = order.second;
      break;
    case Order::kImmediateSolicited: solicited(); [[fallthrough]];
    case Order::kImmediate:
      out.opcode = SendOpcode::kImmediate;
      out.segments = {};
      Be<0, std::uint64_t>::put(out.immediate, order.first);
      break;
    default: break;
  }
  return out;
}

void Guest::request(const Order& order) {
  const bool atomic = order.operation == Order::kFetchAdd || order.operation == Order::kCmpSwap;
  const verbs::Sge work = session_->work((wish_.flags & probe::Wish::kOtherDomain) != 0, atomic ? 8 : order.length);
  verbs::SendRequest request = request_of(order, work);
  if (order.length == 0 && !atomic) request.segments = {};
  answers_ = answers_ || (order.flags & Order::kAnswer) != 0;
  for (std::uint16_t i = 0; i < std::min(order.count, kMostRequests); ++i) {
    if (post(request))
      ++unfinished_;
    else
      ++session_->report.requests_failed;
  }
  answer_when_done();
}

void Guest::carry_out(const Order& order) {
  switch (order.operation) {
    case Order::kReport: answer(); return;
    case Order::kPostReceives:
      for (std::uint16_t i = 0; i < std::min(order.count, kMostRequests); ++i) post_receive(posted_);
      break;
    case Order::kRevoke: session_->revoke(order.stag.value); break;
    case Order::kFill:
      if (Registered* one = session_->find(order.stag.value))
        std::fill_n(one->octets.get() + one->begin, one->size, static_cast<std::byte>(order.first & 0xFFU));
      break;
    case Order::kDisconnect:
      if (id) static_cast<void>(id->disconnect());
      return;
    default: return request(order);
  }
  if ((order.flags & Order::kAnswer) != 0) answer();
}

}  // namespace weft::tools::probe_peer
