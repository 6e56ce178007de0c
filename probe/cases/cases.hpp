// SPDX-License-Identifier: Apache-2.0
// The cases. A file is named after the main section of an RFC that its cases are about: rfc5044_4_4_crc.cpp after RFC
// 5044 section 4.4. Each row stands in front of its function. cases.cpp calls these functions from MPA up to RDMAP,
// then those of RFC 7306 and RFC 5042.
#pragma once

#include <functional>
#include <utility>
#include <vector>

#include "probe/case.hpp"

namespace weft::probe {

class Cases {
 public:
  // Adds a row without a function. The function is assigned to the result, before the next row is added.
  [[nodiscard]] std::function<void(Scene&)>& add(Case row) { return all_.emplace_back(std::move(row)).run; }
  [[nodiscard]] std::vector<Case> take() && { return std::move(all_); }

 private:
  std::vector<Case> all_{};
};

void add_request_cases(Cases& cases);
void add_request_flow_cases(Cases& cases);
void add_first_fpdu_cases(Cases& cases);
void add_enhanced_request_cases(Cases& cases);
void add_reply_cases(Cases& cases);
void add_enhanced_reply_cases(Cases& cases);
void add_fpdu_cases(Cases& cases);
void add_crc_cases(Cases& cases);
void add_markers_cases(Cases& cases);
void add_ddp_header_cases(Cases& cases);
void add_ddp_tagged_cases(Cases& cases);
void add_ddp_untagged_cases(Cases& cases);
void add_ddp_offsets_cases(Cases& cases);
void add_ddp_segments_cases(Cases& cases);
void add_rdmap_header_cases(Cases& cases);
void add_sends_cases(Cases& cases);
void add_writes_cases(Cases& cases);
void add_reads_cases(Cases& cases);
void add_read_responses_cases(Cases& cases);
void add_terminates_cases(Cases& cases);
void add_order_cases(Cases& cases);
void add_outstanding_cases(Cases& cases);
void add_closing_cases(Cases& cases);
void add_atomics_cases(Cases& cases);
void add_refused_atomics_cases(Cases& cases);
void add_immediate_data_cases(Cases& cases);
void add_limits_cases(Cases& cases);

}  // namespace weft::probe
