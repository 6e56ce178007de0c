// SPDX-License-Identifier: Apache-2.0
#include "tools/run/libraries.hpp"

#include <cstdlib>
#include <filesystem>

namespace weft::tools::run {
namespace {

namespace fs = std::filesystem;

// As seen from the command's own folder: installed, in the two places that distributions use, and built.
// WEFT_LIBRARIES_INSTALLED comes from tools/CMakeLists.txt.
constexpr const char* kBuilt = "../compat/lib";
constexpr const char* kPlaces[] = {WEFT_LIBRARIES_INSTALLED, "../lib/weft", kBuilt};
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

std::string place(const fs::path& here, const char* name) { return (here / name).lexically_normal().string(); }

// What helps: of a build folder (the command is in its tools/) to build them, of an installed tree to install what is
// whole.
std::string not_found(const fs::path& here) {
  const fs::path build = here.parent_path();
  std::error_code ignored;
  if (here.filename() == "tools" && fs::exists(build / "CMakeCache.txt", ignored)) {
    return "the drop-in libraries are not built (no " + place(here, kBuilt) + "); this builds them: cmake --build '" +
           build.string() + "' --target weft_ibverbs weft_rdmacm weft_paths weft_rspreload";
  }
  return "the drop-in libraries are not installed beside this command (no " + place(here, kPlaces[0]) +
         "); install the Debian package weft, or all of a build with cmake --install, or name their folder in "
         "WEFT_LIBRARY_PATH.";
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
  return usage_error(not_found(here));
}

}  // namespace weft::tools::run
