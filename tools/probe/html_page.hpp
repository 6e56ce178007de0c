// SPDX-License-Identifier: Apache-2.0
// The page around the report: its style, its header and the table by sections.
#pragma once

#include <string>
#include <string_view>

#include "probe/report.hpp"
#include "tools/probe/clause_table.hpp"
#include "tools/probe/names.hpp"

namespace weft::tools::probing {

// Up to the body's header; the page ends with kPageEnd.
[[nodiscard]] std::string page_start(const Report& report, bool strict);
inline constexpr std::string_view kPageEnd = "</main>\n</body>\n</html>\n";

// "fail" in its color.
[[nodiscard]] std::string badge(Verdict verdict);
// The class that colors it: "pass", "warn", "fail", "na".
[[nodiscard]] std::string_view class_of(Verdict verdict) noexcept;
// What a link to a group of sections names.
[[nodiscard]] std::string anchor_of(const SectionGroup& group);

}  // namespace weft::tools::probing
