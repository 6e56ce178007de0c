// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <optional>
#include <string>

namespace weft::tools::explaining {

// What `weft explain` was asked for.
struct Options {
  std::string file{};  // empty with --demo
  bool demo{};
  std::string output{};  // empty: a name is made from the capture's
  std::string keylog{};  // empty: none
  std::optional<std::size_t> connection{};
  bool text{};
  bool step{};
  std::string json{};  // file for the model; -: standard output; empty: no JSON
};

}  // namespace weft::tools::explaining
