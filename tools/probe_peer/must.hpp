// SPDX-License-Identifier: Apache-2.0
// Calls that can only fail when this machine has no more of something: the connection, or the program, ends with a
// sentence.
#pragma once

#include <stdexcept>
#include <string>
#include <type_traits>
#include <utility>

#include "verbs/error.hpp"

namespace weft::tools::probe_peer {

template <typename T>
T must(verbs::Result<T> result, const char* what) {
  if (!result) throw std::runtime_error(std::string(what) + ": " + result.error().message());
  if constexpr (!std::is_void_v<T>) return std::move(*result);
}

}  // namespace weft::tools::probe_peer
