// SPDX-License-Identifier: Apache-2.0
// A case file, of whatever content, is refused or means the same when written again.
#include <cstdlib>
#include <string_view>

#include "probe/random/script.hpp"

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  const auto script = weft::probe::parse_script({reinterpret_cast<const char*>(data), size});
  if (script && weft::probe::parse_script(weft::probe::to_text(*script)) != *script) std::abort();
  return 0;
}
