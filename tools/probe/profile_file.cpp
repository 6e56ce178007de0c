// SPDX-License-Identifier: Apache-2.0
#include "tools/probe/profile_file.hpp"

#include "tools/cli/input_file.hpp"

namespace weft::tools::probing {

Outcome<std::optional<probe::Profile>> profile_of(const std::string& name_or_file) {
  if (name_or_file == "raw" || name_or_file == "rping" || name_or_file == "weft") return std::nullopt;
  const auto text = read_input(
      name_or_file, probe::Profile::kMostText,
      usage_error("--profile '" + name_or_file + "' is neither raw, rping or weft nor a file that can be read."));
  if (!text) return std::unexpected(text.error());
  auto profile = probe::parse_profile(*text);
  if (!profile) return usage_error(name_or_file + ", " + profile.error() + ".");
  return std::move(*profile);
}

}  // namespace weft::tools::probing
