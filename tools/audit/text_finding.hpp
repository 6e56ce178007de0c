// SPDX-License-Identifier: Apache-2.0
// Pieces of the text for people that the report and the lines told as it goes have in common.
#pragma once

#include <string>

#include "conformance/capture_audit.hpp"
#include "tools/audit/report.hpp"
#include "tools/cli/colour.hpp"

namespace weft::tools::audit {

// "violation", in its color.
[[nodiscard]] Colour colour_of(conformance::Severity severity) noexcept;
[[nodiscard]] std::string painted(conformance::Severity severity, const Palette& palette);

// "10.0.0.1:4000" or "[fe80::1]:4000"
[[nodiscard]] std::string address_of(const conformance::ConnectionEnd& end);
// ", in VLAN 5, VXLAN 42": the encapsulations of a connection; empty where there are none.
[[nodiscard]] std::string path_of(const conformance::ConnectionInfo& info);
// "packet 17, octet 66 of the packet". A finding on a packet as a whole, on its FIN say, has no octet.
[[nodiscard]] std::string in_words(const conformance::Place& place);

// What was broken, by whom and where; what the rule asks for; the octets.
[[nodiscard]] std::string text_of_finding(const conformance::Finding& finding, const Palette& palette);

}  // namespace weft::tools::audit
