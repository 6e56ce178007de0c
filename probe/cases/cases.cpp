// SPDX-License-Identifier: Apache-2.0
#include "probe/cases/cases.hpp"

namespace weft::probe {

std::span<const Case> all_cases() {
  static const std::vector<Case> all = [] {
    Cases cases;
    for (const auto add :
         {add_request_cases,         add_request_flow_cases,   add_first_fpdu_cases,     add_enhanced_request_cases,
          add_reply_cases,           add_enhanced_reply_cases, add_fpdu_cases,           add_crc_cases,
          add_markers_cases,         add_ddp_header_cases,     add_ddp_tagged_cases,     add_ddp_untagged_cases,
          add_ddp_offsets_cases,     add_ddp_segments_cases,   add_rdmap_header_cases,   add_sends_cases,
          add_writes_cases,          add_reads_cases,          add_read_responses_cases, add_terminates_cases,
          add_order_cases,           add_outstanding_cases,    add_closing_cases,        add_atomics_cases,
          add_refused_atomics_cases, add_immediate_data_cases, add_limits_cases}) {
      add(cases);
    }
    return std::move(cases).take();
  }();
  return all;
}

}  // namespace weft::probe
