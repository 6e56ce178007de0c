// SPDX-License-Identifier: Apache-2.0
#include "tools/rping/tally.hpp"

#include <cstdio>

#include "tools/cli/interruption.hpp"

namespace weft::tools::rping {
namespace {

std::string counted(std::uint64_t number, const std::string& what, const char* plural = "s") {
  return std::to_string(number) + ' ' + what + (number == 1 ? "" : plural);
}

}  // namespace

void Tally::add(const Tally& other) noexcept {
  clients += other.clients;
  pings += other.pings;
  octets += other.octets;
  mismatches += other.mismatches;
}

std::string tally_text(const Tally& tally, const Options& options) {
  std::string text = counted(tally.pings, "ping") + ", " + counted(tally.octets, "octet") + " each way";
  if (options.validate) text += ", " + counted(tally.mismatches, "data mismatch", "es");
  return text;
}

std::string server_tally_text(const Tally& tally, const Options& options) {
  return counted(tally.clients, "client") + ", " + tally_text(tally, options);
}

void say(std::string_view line) {
  std::fprintf(stderr, "weft rping: %.*s.\n", static_cast<int>(line.size()), line.data());
}

Outcome<void> verdict(const Outcome<void>& done, const Tally& tally) {
  if (!interrupted() || tally.mismatches > 0) return done;
  if (tally.pings > 0) return {};
  return failure("interrupted before the first ping was done.");
}

}  // namespace weft::tools::rping
