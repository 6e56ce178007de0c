// SPDX-License-Identifier: Apache-2.0
// What is known of a connection and what more than one group of rules needs. Absent means that the capture did not show
// it: then no end may be blamed for it.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string_view>
#include <vector>

#include "conformance/place.hpp"
#include "mpa/fpdu.hpp"
#include "mpa/startup_frame.hpp"

namespace weft::conformance {

// What a startup frame says.
struct StartupFacts {
  std::uint8_t revision{};                      // of MPA
  bool markers{}, crc{}, reject{};              // its bits M, C and R
  std::optional<mpa::EnhancedData> enhanced{};  // IRD, ORD and ready-to-receive (RFC 6581)
  std::vector<std::byte> private_data{};        // the ULP's
  std::uint64_t packet{};                       // in which the frame was complete
};

// Why there is no startup frame to read.
struct NoFrame {
  // What is there instead.
  enum class Why : std::uint8_t {
    kNotCaptured,  // its place is not in the capture, or not all of it
    kNoneSent,     // all that its end sent was captured
    kUnfinished,   // the octets end inside it
    kMalformed,    // a finding tells what is wrong with it
  };
  Why why{};               // what is there instead
  std::uint64_t packet{};  // of what there is of it
};
[[nodiscard]] std::string_view name(NoFrame::Why why) noexcept;  // "not captured", "none sent" ...

// Both startup frames, and what the SYNs said.
struct Facts {
  std::optional<StartupFacts> request{}, reply{};  // as far as each was there
  NoFrame no_request{}, no_reply{};  // where there is none; kNoneSent is known when the connection is over
  std::optional<std::uint16_t> mss_from_initiator{}, mss_from_responder{};  // MSS options that each end sent
  // Read and Atomic Requests that this end may have outstanding (RFC 6581: the other end's IRD); absent: not
  // negotiated.
  [[nodiscard]] std::optional<std::uint32_t> request_limit(Direction from) const noexcept;
};

}  // namespace weft::conformance
