// SPDX-License-Identifier: Apache-2.0
// Says what policy the settings give, as a program with the drop-in libraries would have it.
#include <cstdio>

#include "compat/objects/settings.hpp"

int main() {
  const auto& policy = weft::compat::connection_policy();
  const bool once = &policy == &weft::compat::connection_policy();
  std::printf("mpa-rev=%d,crc=%s%s\n", policy.mpa_revision, policy.crc ? "on" : "off", once ? "" : " (read twice)");
  return 0;
}
