// SPDX-License-Identifier: Apache-2.0
// Rules on Atomic Responses that are judged together with Read Responses (requests.cpp).
#pragma once

#include "conformance/rule.hpp"

namespace weft::conformance::rules {

inline constexpr Rule kAtomicUnrequested{"RDMAPX-5.2.2-02", Severity::kViolation, Layer::kRdmap, "RFC 7306 5.2.2",
                                         "An Atomic Response returns the Request Identifier of its Atomic Request."};
inline constexpr Rule kAtomicOrder{
    "RDMAPX-5.2.2-11", Severity::kViolation, Layer::kRdmap, "RFC 7306 5.2.2",
    "Atomic Responses are sent in the order in which the Atomic Requests were received."};

}  // namespace weft::conformance::rules
