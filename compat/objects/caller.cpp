// SPDX-License-Identifier: Apache-2.0
#include "compat/objects/caller.hpp"

#include <dlfcn.h>

#include <algorithm>

namespace weft::compat {

bool is_in_library(const void* code, std::initializer_list<std::string_view> names) noexcept {
  Dl_info where{};
  if (code == nullptr || ::dladdr(code, &where) == 0 || where.dli_fname == nullptr) return false;
  std::string_view name = where.dli_fname;
  name.remove_prefix(name.rfind('/') + 1);  // npos + 1 is 0
  return std::ranges::any_of(names, [name](std::string_view one) { return name.starts_with(one); });
}

}  // namespace weft::compat
