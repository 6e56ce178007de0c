// SPDX-License-Identifier: Apache-2.0
// The fields of a completion in libibverbs' words, one by one: for ibv_wc and for the ibv_wc_read_* family.
#pragma once

#include <infiniband/verbs.h>

#include <cstdint>
#include <cstring>

#include "verbs/completion.hpp"

namespace weft::compat {

constexpr ibv_wc_status wc_status(const verbs::WorkCompletion& completion) noexcept {
  return static_cast<ibv_wc_status>(completion.status);  // the values are libibverbs'
}

// The engine completes an RDMA Write with immediate data as an RDMA Write. What libibverbs has no opcode to post is a
// message like a Send: Immediate Data alone.
constexpr ibv_wc_opcode wc_opcode(const verbs::WorkCompletion& completion) noexcept {
  if (is_weft_only(completion.opcode)) return IBV_WC_SEND;
  return static_cast<ibv_wc_opcode>(completion.opcode);
}

constexpr unsigned wc_flags(const verbs::WorkCompletion& completion) noexcept {
  return (completion.with_route_header ? unsigned{IBV_WC_GRH} : 0U) |
         (completion.with_immediate ? unsigned{IBV_WC_WITH_IMM} : 0U) |
         (completion.with_invalidate ? unsigned{IBV_WC_WITH_INV} : 0U);
}

// RFC 7306's Immediate Data has eight octets, libibverbs' four: the first four, in network byte order as they came.
inline __be32 wc_immediate(const verbs::WorkCompletion& completion) noexcept {
  __be32 data{};
  static_assert(sizeof data <= sizeof completion.immediate);
  std::memcpy(&data, completion.immediate.data(), sizeof data);
  return data;
}

// The two share a place in ibv_wc, and ibv_wc_read_invalidated_rkey() reads the immediate data.
inline std::uint32_t wc_immediate_or_rkey(const verbs::WorkCompletion& completion) noexcept {
  return completion.with_invalidate ? completion.invalidated_rkey : wc_immediate(completion);
}

}  // namespace weft::compat
