// SPDX-License-Identifier: Apache-2.0
// Answers for the few paths below /dev/infiniband and /sys/class/infiniband at which programs look themselves, without
// libibverbs (UCX, Open MPI): `weft run --device roce` preloads it. Where the kernel has such a file, the kernel's
// counts.
#include <dlfcn.h>
#include <sys/stat.h>
#include <unistd.h>

#include <bit>
#include <cerrno>
#include <string_view>

#include "compat/entry.hpp"

namespace {

// The file that has the answer in place of one that does not exist; null where there is none.
const char* stand_in(const char* path) noexcept {
  constexpr std::string_view kDevice = "/dev/infiniband/uverbs";
  constexpr std::string_view kClass = "/sys/class/infiniband";
  const std::string_view name(path != nullptr ? path : "");
  if (name.starts_with(kDevice) && name.size() > kDevice.size() &&
      name.find_first_not_of("0123456789", kDevice.size()) == std::string_view::npos) {
    return "/dev/null";  // a character device that everybody may read and write
  }
  return name == kClass || name == "/sys/class/infiniband/" ? "/sys/class" : nullptr;
}

template <typename Function>
Function* next(const char* name) noexcept {
  return std::bit_cast<Function*>(::dlsym(RTLD_NEXT, name));
}

// `call(path)` as the kernel answers, or of the file that stands in for it.
template <typename Call>
int ask(const char* path, Call&& call) noexcept {
  const int answer = call(path);
  if (answer == 0 || errno != ENOENT) return answer;
  const char* const other = stand_in(path);
  return other == nullptr ? answer : call(other);
}

}  // namespace

WEFT_ENTRY int stat(const char* path, struct stat* into) noexcept {
  static auto* const real = next<int(const char*, struct stat*)>("stat");
  return ask(path, [into](const char* name) { return real(name, into); });
}
WEFT_ENTRY int stat64(const char* path, struct stat64* into) noexcept {
  static auto* const real = next<int(const char*, struct stat64*)>("stat64");
  return ask(path, [into](const char* name) { return real(name, into); });
}
WEFT_ENTRY int __xstat(int version, const char* path, struct stat* into) noexcept {
  static auto* const real = next<int(int, const char*, struct stat*)>("__xstat");
  return ask(path, [=](const char* name) { return real(version, name, into); });
}
WEFT_ENTRY int __xstat64(int version, const char* path, struct stat64* into) noexcept {
  static auto* const real = next<int(int, const char*, struct stat64*)>("__xstat64");
  return ask(path, [=](const char* name) { return real(version, name, into); });
}
WEFT_ENTRY int access(const char* path, int mode) noexcept {
  static auto* const real = next<int(const char*, int)>("access");
  return ask(path, [mode](const char* name) { return real(name, mode); });
}
