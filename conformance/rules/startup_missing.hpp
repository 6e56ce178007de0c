// SPDX-License-Identifier: Apache-2.0
// Startup frames that were never sent (RFC 5044 section 7.1.2). Judged only where the capture shows all of a direction:
// what it does not show may hold the frame.
#pragma once

#include <array>
#include <optional>

#include "conformance/facts.hpp"
#include "conformance/finding.hpp"
#include "conformance/seen.hpp"

namespace weft::conformance {

class StartupMissingRules {
 public:
  void on(const StartupSeen& seen, const Facts& facts, Findings& findings);
  void on(const FpduSeen& fpdu, const Facts& facts, Findings& findings);
  void finish(const Facts& facts, Findings& findings);

 private:
  struct Frame {
    Place place{};
    std::uint64_t stream_offset{}, end{};
  };
  [[nodiscard]] const std::optional<Frame>& frame(Direction from) const noexcept {
    return frames_[static_cast<std::size_t>(from)];
  }

  std::array<std::optional<Frame>, 2> frames_{};
  // The Initiator's first FPDU, when no Reply had come, and what it acknowledges.
  std::optional<Finding> without_reply_{};
  std::optional<std::uint64_t> acknowledged_{};
};

}  // namespace weft::conformance
