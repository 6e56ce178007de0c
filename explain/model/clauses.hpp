// SPDX-License-Identifier: Apache-2.0
// What clauses of the RFCs ask for, as far as something in a model names them.
#pragma once

#include <map>
#include <string>
#include <string_view>

#include "explain/model/model.hpp"

namespace weft::explain {

/// A clause.
struct ClauseText {
  std::string_view rfc{};      ///< its number
  std::string_view section{};  ///< "4.1"
  std::string text{};          ///< for people
};

/// Returns, by id, the clauses that fields and findings of the model name, and those of all errors that an engine
/// reports.
[[nodiscard]] std::map<std::string_view, ClauseText> clauses_of(const Model& model);

}  // namespace weft::explain
