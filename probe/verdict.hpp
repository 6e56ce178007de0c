// SPDX-License-Identifier: Apache-2.0
// The result of a case.
#pragma once

#include <cstdint>
#include <stdexcept>
#include <string>
#include <string_view>

namespace weft::probe {

enum class Verdict : std::uint8_t {
  kPass,           // the peer did what the RFC requires
  kWarn,           // a SHOULD was violated, or the observation has two readings
  kFail,           // a MUST was violated
  kNotApplicable,  // this peer, with this profile, cannot be tested; the reason explains why
};
[[nodiscard]] std::string_view name(Verdict verdict) noexcept;  // "pass", "warn", "fail", "not applicable"

// Ends a case early. A case that returns has passed.
struct Judgement : std::runtime_error {
  Judgement(Verdict which, const std::string& why) : std::runtime_error(why), verdict(which) {}
  Verdict verdict;
};

// Why a case that needs two connections does not apply.
inline constexpr std::string_view kOneAtATime = "the peer serves one connection at a time";
// `why` describes what was observed and what was expected.
[[noreturn]] void fail(const std::string& why);
[[noreturn]] void warn(const std::string& why);
[[noreturn]] void not_applicable(const std::string& why);

}  // namespace weft::probe
