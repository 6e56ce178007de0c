// SPDX-License-Identifier: Apache-2.0
// A program that uses the C++ API and tells what weft's settings are when it begins and after its first device. With
// arguments it makes them itself: environment_program [before|after CAPTURE]
#include <sys/auxv.h>

#include <cstdio>
#include <string>
#include <string_view>

#include "common/crc32c_routine.hpp"
#include "verbs/verbs.hpp"

// LeakSanitizer looks at the process through ptrace, which a program with more rights than its user does not allow.
extern "C" int __lsan_is_turned_off();
extern "C" int __lsan_is_turned_off() { return ::getauxval(AT_SECURE) != 0; }

namespace {

using namespace weft::verbs;

void tell(const char* when) {
  constexpr const char* kLevels[] = {"debug", "info", "warn", "error"};
  const char* shown = "off";
  for (int level = 3; level >= 0; --level) {
    if (log_shows(static_cast<LogLevel>(level))) shown = kLevels[level];
  }
  const std::string_view crc = weft::name(weft::crc32c_in_use().routine);
  std::printf("%s: log=%s crc32c=%.*s\n", when, shown, static_cast<int>(crc.size()), crc.data());
}

void choose(const char* capture) {
  set_log_level(LogLevel::kError);
  set_crc32c(weft::Crc32cRoutine::kIsaL);
  static_cast<void>(set_capture_file(capture));
}

}  // namespace

int main(int argc, char** argv) {
  const std::string_view when = argc == 3 ? argv[1] : "";
  if (when == "before") choose(argv[2]);
  tell("at first");
  for (int i = 0; i < 2; ++i) {
    const auto device = Device::open("lo");
    if (!device) return 1;
  }
  if (when == "after") choose(argv[2]);
  tell("after it");
  return 0;
}
