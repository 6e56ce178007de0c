// SPDX-License-Identifier: Apache-2.0
#include "conformance/words.hpp"

#include "common/text.hpp"

namespace weft::conformance {

Words words_of(const StreamingSeen& streaming) { return {octets_text(streaming.octets) + " before MPA"}; }

Words words_of(const LostSeen& lost) {
  return {lost.reason == LossReason::kCaptureGap ? "octets are missing from the capture" : "what follows is no FPDU"};
}

Words words_of(const ResumedSeen& resumed) { return {"FPDUs again, " + octets_text(resumed.skipped) + " later"}; }

Words words_of(const EndSeen& end) {
  Words words{end.how == Closing::kFin ? "FIN" : "RST"};
  if (end.unfinished != 0) words.push_back(octets_text(end.unfinished) + " of an unfinished FPDU before it");
  return words;
}

Words words_of_stray(const FpduSeen& fpdu) {
  const bool bad = fpdu.crc == CrcVerdict::kBad;
  return {"FPDU " + std::to_string(fpdu.number) + (bad ? " with a wrong CRC" : " without a readable DDP header"),
          "ULPDU of " + octets_text(fpdu.ulpdu_length)};
}

}  // namespace weft::conformance
