// SPDX-License-Identifier: Apache-2.0
#include "tools/probe/profile_file.hpp"

#include <fstream>

namespace weft::tools::probing {

Outcome<std::optional<probe::Profile>> profile_of(const std::string& name_or_file) {
  if (name_or_file == "raw" || name_or_file == "rping" || name_or_file == "weft") return std::nullopt;
  std::ifstream file(name_or_file, std::ios::binary);
  std::string text(probe::Profile::kMostText + 1, '\0');  // one octet more tells a file that is too long
  if (!file || (!file.read(text.data(), static_cast<std::streamsize>(text.size())) && !file.eof()))
    return usage_error("--profile '" + name_or_file + "' is neither raw, rping or weft nor a file that can be read.");
  text.resize(static_cast<std::size_t>(file.gcount()));
  auto profile = probe::parse_profile(text);
  if (!profile) return usage_error(name_or_file + ", " + profile.error() + ".");
  return std::move(*profile);
}

}  // namespace weft::tools::probing
