// SPDX-License-Identifier: Apache-2.0
// Each file of rules puts its own into all_rules():
//
//   const RuleGroup kImmediateGroup{kImmediateRules};
#pragma once

#include <span>
#include <utility>

#include "conformance/rule.hpp"

namespace weft::conformance {

class RuleGroup {
 public:
  // At static initialization. `rules` has static storage.
  explicit RuleGroup(std::span<const Rule* const> rules) noexcept : rules_(rules), next_(std::exchange(first_, this)) {}

  [[nodiscard]] static const RuleGroup* first() noexcept { return first_; }
  [[nodiscard]] const RuleGroup* next() const noexcept { return next_; }
  [[nodiscard]] std::span<const Rule* const> rules() const noexcept { return rules_; }

 private:
  static constinit const RuleGroup* first_;

  std::span<const Rule* const> rules_;
  const RuleGroup* next_;
};

}  // namespace weft::conformance
