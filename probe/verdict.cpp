// SPDX-License-Identifier: Apache-2.0
#include "probe/verdict.hpp"

#include <utility>

namespace weft::probe {

std::string_view name(Verdict verdict) noexcept {
  switch (verdict) {
    case Verdict::kPass: return "pass";
    case Verdict::kWarn: return "warn";
    case Verdict::kFail: return "fail";
    case Verdict::kNotApplicable: return "not applicable";
  }
  std::unreachable();
}

void fail(const std::string& why) { throw Judgement(Verdict::kFail, why); }
void warn(const std::string& why) { throw Judgement(Verdict::kWarn, why); }
void not_applicable(const std::string& why) { throw Judgement(Verdict::kNotApplicable, why); }

}  // namespace weft::probe
