// SPDX-License-Identifier: Apache-2.0
#include "tools/cli/version.hpp"

// WEFT_VERSION, WEFT_BUILD_TYPE and WEFT_SANITIZERS come from tools/CMakeLists.txt.

namespace weft::tools {

std::string version_text() { return std::string("weft ") + WEFT_VERSION; }

std::string_view compiler_name() {
#if defined(__clang__)
  return "Clang " __clang_version__;
#else
  return "GCC " __VERSION__;
#endif
}

std::string_view build_type() { return WEFT_BUILD_TYPE; }

bool built_with_sanitizers() { return std::string_view(WEFT_SANITIZERS) != ""; }

}  // namespace weft::tools
