// SPDX-License-Identifier: Apache-2.0
// The tables of cases, one for each group of rules. cases.cpp puts them one behind the other, in the order of the RFCs.
#pragma once

#include <span>

#include "probe/case.hpp"

namespace weft::probe {

[[nodiscard]] std::span<const Case> request_cases();       // MPA Request, RFC 5044 section 7.1: where the peer listens
[[nodiscard]] std::span<const Case> request_flow_cases();  // Requests that are taken, and some that do not come
[[nodiscard]] std::span<const Case> first_fpdu_cases();    // From the Reply to the first FPDU
[[nodiscard]] std::span<const Case>
enhanced_request_cases();  // Enhanced connection establishment, RFC 6581: what a Responder answers
[[nodiscard]] std::span<const Case> reply_cases();  // MPA Reply, RFC 5044 section 7.1: where the peer connects
[[nodiscard]] std::span<const Case>
enhanced_reply_cases();  // Enhanced connection establishment, RFC 6581: what an Initiator makes of a Reply
[[nodiscard]] std::span<const Case> fpdu_cases();  // FPDUs, RFC 5044 sections 3 to 5: length, PAD, cuts across segments
[[nodiscard]] std::span<const Case> crc_cases();   // The CRC of an FPDU, RFC 5044 sections 4.4, 6 and 8
[[nodiscard]] std::span<const Case> markers_cases();       // Markers, RFC 5044 sections 4.2, 4.3 and 8
[[nodiscard]] std::span<const Case> ddp_header_cases();    // The DDP header, RFC 5041 section 4
[[nodiscard]] std::span<const Case> ddp_tagged_cases();    // Tagged buffers, RFC 5041 sections 5 to 8
[[nodiscard]] std::span<const Case> ddp_untagged_cases();  // Untagged queues, RFC 5041 sections 5 to 7
[[nodiscard]] std::span<const Case> ddp_offsets_cases();   // The Message Offset, RFC 5041 sections 5.2 and 7.1
[[nodiscard]] std::span<const Case> ddp_segments_cases();  // Messages in several segments, RFC 5041 sections 4, 5 and 8
[[nodiscard]] std::span<const Case> rdmap_header_cases();  // RDMAP versions and opcodes, RFC 5040 section 4.1
[[nodiscard]] std::span<const Case> sends_cases();         // Sends and invalidation, RFC 5040 section 5.3
[[nodiscard]] std::span<const Case> writes_cases();        // RDMA Write, RFC 5040 section 5.1
[[nodiscard]] std::span<const Case> reads_cases();         // RDMA Read, RFC 5040 section 5.2
[[nodiscard]] std::span<const Case>
answers_cases();  // Responses of ours that are wrong, RFC 5040 5.2.2 and RFC 7306 5.2.2
[[nodiscard]] std::span<const Case> terminates_cases();  // Terminate, RFC 5040 sections 4.8 and 7
[[nodiscard]] std::span<const Case>
order_cases();  // Ordering and completion, RFC 5040 section 5.5 and RFC 7306 section 7
[[nodiscard]] std::span<const Case>
outstanding_cases();                                  // Reads of the peer's that wait, RFC 5040 sections 5.5 and 6.1
[[nodiscard]] std::span<const Case> closing_cases();  // The end of a stream, RFC 5040 section 6
[[nodiscard]] std::span<const Case> atomics_cases();  // Atomic operations, RFC 7306 section 5
[[nodiscard]] std::span<const Case>
atomic_refusals_cases();  // Atomic operations that are refused, RFC 7306 sections 5 and 8
[[nodiscard]] std::span<const Case> immediates_cases();  // Immediate Data, RFC 7306 section 6
[[nodiscard]] std::span<const Case> limits_cases();      // Resources and rights, RFC 5042

}  // namespace weft::probe
