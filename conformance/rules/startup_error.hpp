// SPDX-License-Identifier: Apache-2.0
// The FPDU that a Responder may send though it has received none. RFC 6581 section 9.1 has a Terminate go with its
// refusal of an IRD (MPA2-9.1-12), section 9.3 one before a reset for an error of its own, and RFC 5044 section 7.1.2
// no FPDU at all (MPA-7.1.2-17): both readings are accepted.
#pragma once

#include "conformance/facts.hpp"
#include "conformance/seen.hpp"

namespace weft::conformance {

// Such a Terminate: of the Responder, after an enhanced Reply, with the error code of either section.
[[nodiscard]] bool is_startup_error(const FpduSeen& fpdu, const Facts& facts) noexcept;

}  // namespace weft::conformance
