// SPDX-License-Identifier: Apache-2.0
// Work requests from libibverbs' structures to the engine's.
#pragma once

#include <infiniband/verbs.h>

#include <array>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <string_view>

#include "verbs/device.hpp"

namespace weft::compat {

inline constexpr std::size_t kMaxSegments = verbs::DeviceLimits{}.max_sge;

// An array on the stack that costs nothing until its elements are made: lists are mostly one request long, and one
// segment each.
template <typename T, std::size_t N>
class RawArray {
 public:
  T& make(std::size_t index) noexcept { return *std::construct_at(data() + index); }
  [[nodiscard]] T* data() noexcept { return reinterpret_cast<T*>(octets_.data()); }

 private:
  static_assert(std::is_trivially_destructible_v<T>);
  alignas(T) std::array<std::byte, sizeof(T) * N> octets_;
};
using SgeArray = RawArray<verbs::Sge, kMaxSegments>;

// Returns 0; EINVAL for what no work request can say, and for more than kMaxSegments; EOPNOTSUPP for what iWARP cannot
// carry. The rest is the engine's to check. `segments`: room for kMaxSegments, in which nothing is made yet. `out` is
// as default-constructed before, and points into `segments` after.
int translate(const ibv_send_wr& request, verbs::Sge* segments, verbs::SendRequest& out) noexcept;
// A datagram.
int translate(const ibv_send_wr& request, verbs::Sge* segments, verbs::DatagramRequest& out) noexcept;
int translate(const ibv_recv_wr& request, verbs::Sge* segments, verbs::ReceiveRequest& out) noexcept;
// For the log: what such an errno of translate() means.
[[nodiscard]] std::string_view why_not(int error) noexcept;

// --- Parts
inline void assign(verbs::Sge& to, const ibv_sge& from) noexcept { to = {from.addr, from.length, from.lkey}; }
// The four octets of libibverbs become the first four of RFC 7306's eight, as they are; the others are zero.
[[nodiscard]] verbs::ImmediateData to_immediate(__be32 data) noexcept;
// Neither object need be there: the engine refuses a bind without.
[[nodiscard]] verbs::WindowBind to_bind(ibv_mw* window, std::uint32_t rkey, const ibv_mw_bind_info& info) noexcept;

}  // namespace weft::compat
