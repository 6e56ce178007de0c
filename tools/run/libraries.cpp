// SPDX-License-Identifier: Apache-2.0
#include "tools/run/libraries.hpp"

#include <cstdlib>
#include <filesystem>

namespace weft::tools::run {
namespace {

namespace fs = std::filesystem;

// As seen from the command's own folder: installed, in the two places that distributions use, and built.
// WEFT_LIBRARIES_INSTALLED comes from tools/CMakeLists.txt.
constexpr const char* kPlaces[] = {WEFT_LIBRARIES_INSTALLED, "../lib/weft", "../compat/lib"};
constexpr const char* kLibraries[] = {"libibverbs.so.1", "librdmacm.so.1"};

bool has_libraries(const fs::path& folder) {
  std::error_code ignored;
  for (const char* name : kLibraries) {
    if (!fs::exists(folder / name, ignored)) return false;
  }
  return true;
}

// The loader splits its list at colons and semicolons, and knows no way to write them.
Outcome<std::string> checked(const fs::path& folder) {
  const std::string path = folder.string();
  if (path.find_first_of(":;") == std::string::npos) return path;
  return usage_error("LD_LIBRARY_PATH cannot hold " + path + ": it has a ':' or ';' in its name.");
}

Outcome<std::string> as_told(const std::string& told) {
  std::error_code error;
  const fs::path folder = fs::absolute(told, error);  // the program may change its folder
  if (!error && has_libraries(folder)) return checked(folder);
  return usage_error("WEFT_LIBRARY_PATH: there is no libibverbs.so.1 and librdmacm.so.1 in '" + told + "'.");
}

}  // namespace

Outcome<std::string> find_libraries() {
  if (const char* const told = std::getenv("WEFT_LIBRARY_PATH"); told != nullptr && *told != '\0') return as_told(told);
  std::error_code error;
  const fs::path here = fs::read_symlink("/proc/self/exe", error).parent_path();
  for (const char* place : kPlaces) {
    const fs::path folder = (here / place).lexically_normal();
    if (!error && has_libraries(folder)) return checked(folder);
  }
  return usage_error("the drop-in libraries were not installed with this command (no " +
                     (here / kPlaces[0]).lexically_normal().string() + "); WEFT_LIBRARY_PATH can name their folder.");
}

}  // namespace weft::tools::run
