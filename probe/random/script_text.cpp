// SPDX-License-Identifier: Apache-2.0
#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <limits>

#include "common/number.hpp"
#include "probe/random/script.hpp"

namespace weft::probe {
namespace {

constexpr std::string_view kFirstLine = "# weft probe script 1";
constexpr std::array<std::string_view, Step::kKinds> kNames{
    "send",      "send-solicited", "send-invalidate", "write",     "read", "fetch-add", "cmp-swap",
    "immediate", "read-response",  "atomic-response", "terminate", "raw",  "fin",       "reset"};

using Edits = std::vector<std::pair<std::uint16_t, std::uint8_t>>;

std::string text_of(const Edits& edits) {
  std::string out;
  for (const auto& [at, mask] : edits) out += fmt::format("{}{}:{:02x}", out.empty() ? " xor=" : ",", at, mask);
  return out;
}

template <typename T>
bool read_number(std::string_view text, T& value, int base = 10) {
  const auto number = parse_number<T>(text, base);
  value = number.value_or(T{});
  return number.has_value();
}

bool read_flag(std::string_view text, bool& value) {
  value = text == "1";
  return text == "0" || text == "1";
}

// Words between commas, each to `take`.
template <typename Take>
bool each(std::string_view text, Take take) {
  for (;;) {
    const std::size_t comma = text.find(',');
    if (!take(text.substr(0, comma))) return false;
    if (comma == std::string_view::npos) return true;
    text.remove_prefix(comma + 1);
  }
}

bool read_edits(std::string_view text, Edits& edits) {
  return each(text, [&](std::string_view word) {
    const std::size_t colon = word.find(':');
    auto& [at, mask] = edits.emplace_back();
    return colon != std::string_view::npos && edits.size() <= kMostSteps && read_number(word.substr(0, colon), at) &&
           read_number(word.substr(colon + 1), mask, 16);
  });
}

bool read_region(std::string_view text, Step& step) {
  const std::size_t slash = text.find('/');
  return slash != std::string_view::npos && read_number(text.substr(0, slash), step.region_kind) &&
         read_number(text.substr(slash + 1), step.region_rights);
}

bool read_cuts(std::string_view text, Step& step) {
  return each(text, [&](std::string_view word) {
    return step.cuts.size() < kMostSteps && read_number(word, step.cuts.emplace_back());
  });
}

// "key=value" of a step.
bool read_field(std::string_view key, std::string_view value, Step& step) {
  if (key == "region") return read_region(value, step);
  if (key == "offset") return read_number(value, step.offset);
  if (key == "size") return read_number(value, step.size) && step.size <= 1U << 20U;
  if (key == "xor") return read_edits(value, step.edits);
  if (key == "crc") return read_number(value, step.crc_xor, 16);
  if (key == "length") return read_number(value, step.length_xor, 16);
  if (key == "cuts") return read_cuts(value, step);
  if (key == "glued") return read_flag(value, step.glued);
  return key == "twice" && read_flag(value, step.again);
}

bool read_field(std::string_view key, std::string_view value, Script& script) {
  if (key == "revision") return read_number(value, script.revision);
  if (key == "crc") return read_flag(value, script.crc);
  if (key == "markers") return read_flag(value, script.markers);
  if (key == "s") return read_flag(value, script.enhanced);
  return key == "xor" && read_edits(value, script.edits);
}

// All "key=value" words; empty: all were good.
template <typename Target>
std::string read_fields(std::string_view words, Target& target) {
  while (!words.empty()) {
    const std::size_t space = words.find(' ');
    const std::string_view word = words.substr(0, space);
    words.remove_prefix(space == std::string_view::npos ? words.size() : space + 1);
    const std::size_t equals = word.find('=');
    if (word.empty()) continue;
    if (equals == std::string_view::npos || !read_field(word.substr(0, equals), word.substr(equals + 1), target))
      return fmt::format("'{}' makes no sense there", word);
  }
  return {};
}

std::string read_line(std::string_view line, Script& script) {
  const std::size_t space = line.find(' ');
  const std::string_view first = line.substr(0, space);
  const std::string_view rest = space == std::string_view::npos ? std::string_view() : line.substr(space + 1);
  if (first == "startup") return read_fields(rest, script);
  const auto kind = std::ranges::find(kNames, first);
  if (kind == kNames.end()) return fmt::format("no step has the name '{}'", first);
  if (script.steps.size() == kMostSteps) return fmt::format("more than {} steps", kMostSteps);
  script.steps.push_back({.kind = static_cast<Step::Kind>(kind - kNames.begin())});
  return read_fields(rest, script.steps.back());
}

}  // namespace

std::string_view name(Step::Kind kind) noexcept { return kNames[kind % Step::kKinds]; }

std::string to_text(const Script& script) {
  std::string out = fmt::format("{}\nstartup revision={} crc={:d} markers={:d} s={:d}{}\n", kFirstLine, script.revision,
                                script.crc, script.markers, script.enhanced, text_of(script.edits));
  for (const Step& step : script.steps) {
    out += fmt::format("{} region={}/{} offset={} size={}", name(step.kind), step.region_kind, step.region_rights,
                       step.offset, step.size);
    out += text_of(step.edits);
    if (step.crc_xor != 0) out += fmt::format(" crc={:08x}", step.crc_xor);
    if (step.length_xor != 0) out += fmt::format(" length={:04x}", step.length_xor);
    if (!step.cuts.empty()) out += fmt::format(" cuts={}", fmt::join(step.cuts, ","));
    if (step.glued) out += " glued=1";
    out += step.again ? " twice=1\n" : "\n";
  }
  return out;
}

std::expected<Script, std::string> parse_script(std::string_view text) {
  Script script;
  std::size_t number = 0;
  while (!text.empty()) {
    const std::size_t end = text.find('\n');
    const std::string_view line = text.substr(0, end);
    text.remove_prefix(end == std::string_view::npos ? text.size() : end + 1);
    ++number;
    if (number == 1 && line != kFirstLine) return std::unexpected(fmt::format("line 1 is not '{}'", kFirstLine));
    if (line.empty() || line.front() == '#') continue;
    if (const std::string wrong = read_line(line, script); !wrong.empty())
      return std::unexpected(fmt::format("line {}: {}", number, wrong));
  }
  if (number == 0) return std::unexpected("it is empty");
  return script;
}

}  // namespace weft::probe
