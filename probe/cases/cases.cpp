// SPDX-License-Identifier: Apache-2.0
#include "probe/cases/cases.hpp"

namespace weft::probe {

std::span<const Case> all_cases() {
  static const std::vector<Case> all = [] {
    std::vector<Case> out;
    for (const auto table :
         {request_cases,        request_flow_cases, first_fpdu_cases,  enhanced_request_cases, reply_cases,
          enhanced_reply_cases, fpdu_cases,         crc_cases,         markers_cases,          ddp_header_cases,
          ddp_tagged_cases,     ddp_untagged_cases, ddp_offsets_cases, ddp_segments_cases,     rdmap_header_cases,
          sends_cases,          writes_cases,       reads_cases,       answers_cases,          terminates_cases,
          order_cases,          outstanding_cases,  closing_cases,     atomics_cases,          atomic_refusals_cases,
          immediates_cases,     limits_cases}) {
      const auto cases = table();
      out.insert(out.end(), cases.begin(), cases.end());
    }
    return out;
  }();
  return all;
}

}  // namespace weft::probe
