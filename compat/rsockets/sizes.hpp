// SPDX-License-Identifier: Apache-2.0
// How big an rsocket's queues and buffers are to be: rdma-core's defaults, what the administrator says in the files
// below /etc/rdma/rsocket (rsocket(7)), and what the program sets with rsetsockopt.
#pragma once

#include <cstdint>
#include <string>

namespace weft::compat::rsockets {

inline constexpr std::uint32_t kMinQueue = 16;
inline constexpr std::uint32_t kMaxQueue = 8192;  // a queue pair of ours takes 16384, and control messages need some
inline constexpr std::uint32_t kMinBuffer = 4096;
inline constexpr std::uint32_t kMaxBuffer = 1U << 28;

struct Sizes {
  std::uint32_t send_buffer = 1U << 17;
  std::uint32_t receive_buffer = 1U << 17;
  std::uint32_t send_queue = 384;
  std::uint32_t receive_queue = 384;
  std::uint32_t inline_octets = 64;
  std::uint32_t iomap_entries = 0;  // mappings that the peer may make known to us

  // Within the limits above, and the device's.
  [[nodiscard]] Sizes within_limits() const;
};

// Reads the files mem_default, wmem_default, sqsize_default, rqsize_default, inline_default and iomap_size of a folder,
// which contain one number each. If a file is missing or invalid, its default remains.
[[nodiscard]] Sizes read_sizes(const std::string& folder);
// Returns the sizes of /etc/rdma/rsocket, read once per process.
[[nodiscard]] const Sizes& default_sizes();

}  // namespace weft::compat::rsockets
