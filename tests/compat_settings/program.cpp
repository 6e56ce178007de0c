// SPDX-License-Identifier: Apache-2.0
// Says what policy the settings give, as a program with the drop-in libraries would have it, and opens a device behind it.
#include <sys/auxv.h>

#include <cstdio>

#include "compat/objects/settings.hpp"
#include "verbs/device.hpp"

// LeakSanitizer looks at the process through ptrace, which a program with more rights than its user does not allow.
extern "C" int __lsan_is_turned_off();
extern "C" int __lsan_is_turned_off() { return ::getauxval(AT_SECURE) != 0; }

int main() {
  const auto& policy = weft::compat::connection_policy();
  const bool once = &policy == &weft::compat::connection_policy();
  const auto device = weft::verbs::Device::open("lo");
  if (!device) return 1;
  std::printf("mpa-rev=%d,crc=%s%s\n", policy.startup.mpa_revision, policy.startup.crc ? "on" : "off",
              once ? "" : " (read twice)");
  return 0;
}
