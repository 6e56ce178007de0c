// SPDX-License-Identifier: Apache-2.0
#include "verbs/progress/lost_wake_ups.hpp"

namespace weft::verbs::detail {

std::unique_ptr<LostWakeUps> LostWakeUps::make(Runtime&) { return nullptr; }

}  // namespace weft::verbs::detail
