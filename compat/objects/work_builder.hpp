// SPDX-License-Identifier: Apache-2.0
// ibv_wr_start ... ibv_wr_complete (ibv_wr_post(3)): work requests built call by call, and posted as one list.
#pragma once

#include <cstddef>
#include <cstdint>
#include <mutex>
#include <optional>
#include <vector>

#include "verbs/datagram.hpp"

namespace weft::compat {

struct Qp;

// Cleared and never shrunk: building takes no memory from the heap once it has been used.
struct WorkBuilder {
  // What a request moves: `count` of `segments` from `first`. The one segment of inline data counts its address from
  // the beginning of `inline_octets`, where the setter copied it: the program may reuse its memory at once.
  struct Data {
    std::size_t first{};
    std::size_t count{};
    bool set{};
    bool is_inline{};
  };

  std::mutex mutex{};  // from start to complete or abort: meanwhile the send queue is the thread's that called start
  std::vector<verbs::SendRequest> requests{};
  std::vector<Data> data{};                  // one for each request
  std::vector<verbs::DatagramAddress> to{};  // of a queue pair for datagrams: one for each request
  std::vector<verbs::Sge> segments{};
  std::vector<std::byte> inline_octets{};
  std::optional<verbs::Error> error{};  // the first of a builder or setter: what complete answers
};

// Fills the function pointers of ibv_qp_ex for the operations of `send_ops_flags` (enum ibv_qp_create_send_ops_flags).
// EOPNOTSUPP when there is one that iWARP cannot carry.
int furnish_builder(Qp& qp, std::uint64_t send_ops_flags);

}  // namespace weft::compat
