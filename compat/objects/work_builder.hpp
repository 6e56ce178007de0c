// SPDX-License-Identifier: Apache-2.0
// ibv_wr_start ... ibv_wr_complete (ibv_wr_post(3)): work requests built call by call, and posted as one list.
#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

#include "verbs/work_request.hpp"

namespace weft::compat {

struct Qp;

// Between start and complete or abort, whoever started holds the queue pair's send queue.
struct WorkBuilder {
  struct Entry {
    verbs::SendRequest request{};
    std::size_t first_segment{};  // in `segments`
    std::size_t segments{};
    std::vector<std::byte> inline_octets{};  // copied at the setter: the program may reuse its memory at once
  };
  std::vector<Entry> entries{};
  std::vector<verbs::Sge> segments{};
  int error = 0;  // the first errno of a setter: what complete answers
};

// Fills the function pointers of ibv_qp_ex for the operations of `send_ops_flags` (enum ibv_qp_create_send_ops_flags).
// EOPNOTSUPP when there is one that iWARP cannot carry.
int furnish_builder(Qp& qp, std::uint64_t send_ops_flags);

}  // namespace weft::compat
