// SPDX-License-Identifier: Apache-2.0
// What a case says of the peer.
#pragma once

#include <cstdint>
#include <stdexcept>
#include <string>
#include <string_view>

namespace weft::probe {

enum class Verdict : std::uint8_t {
  kPass,           // the peer did what the RFC asks for
  kWarn,           // a SHOULD was not kept, or what was seen has two readings
  kFail,           // a MUST was not kept
  kNotApplicable,  // this peer, in this profile, cannot be brought there; the reason says why
};
[[nodiscard]] std::string_view name(Verdict verdict) noexcept;  // "pass", "warn", "fail", "not applicable"

// The end of a case before its last line. A case that returns has passed.
struct Judgement : std::runtime_error {
  Judgement(Verdict which, const std::string& why) : std::runtime_error(why), verdict(which) {}
  Verdict verdict;
};

// `why` says what came and what should have come.
[[noreturn]] void fail(const std::string& why);
[[noreturn]] void warn(const std::string& why);
[[noreturn]] void not_applicable(const std::string& why);

}  // namespace weft::probe
