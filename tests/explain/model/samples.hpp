// SPDX-License-Identifier: Apache-2.0
// Models of the sample captures and of the tour.
#pragma once

#include <string>

#include "explain/model/model_maker.hpp"

namespace weft::explain::test {

// "20-term-write-bad-stag.pcap", from pcap-samples/.
[[nodiscard]] Model sample(const std::string& name, const ModelOptions& options = {});
[[nodiscard]] Model tour();

// The row with these words at its front; fails the test where there is none.
[[nodiscard]] const Row& row_of(const Connection& connection, std::string_view words);

}  // namespace weft::explain::test
