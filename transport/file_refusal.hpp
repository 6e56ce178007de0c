// SPDX-License-Identifier: Apache-2.0
// Why a file was not opened or read.
#pragma once

#include <string>
#include <string_view>

#include "transport/system_words.hpp"

namespace weft::transport {

struct FileRefusal {
  int os_error{};          // errno; 0 if weft refuses
  std::string_view why{};  // reason then; static storage

  [[nodiscard]] std::string words() const { return os_error != 0 ? system_words(os_error) : std::string(why); }
};

}  // namespace weft::transport
