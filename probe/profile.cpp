// SPDX-License-Identifier: Apache-2.0
#include "probe/profile.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <span>

#include "common/number.hpp"

namespace weft::probe {
namespace {

constexpr std::string_view kProfileFirstLine = "weft probe profile 1";
using Words = std::vector<std::string_view>;

struct Wrong {
  std::string why;
};
[[noreturn]] void wrong(std::string why) { throw Wrong{std::move(why)}; }

std::uint64_t number(std::string_view text, std::uint64_t most) {
  const bool hex = text.starts_with("0x");
  const auto value = parse_number<std::uint64_t>(hex ? text.substr(2) : text, hex ? 16 : 10);
  if (!value) wrong(fmt::format("'{}' is no number", text));
  if (*value > most) wrong(fmt::format("{} is more than {}", text, most));
  return *value;
}

// The words of a line; "..." is one word, whose quote at the front stays. A # begins a comment.
Words split(std::string_view line) {
  Words out;
  while (true) {
    const std::size_t begin = line.find_first_not_of(" \t\r");
    if (begin == std::string_view::npos || line[begin] == '#') return out;
    line.remove_prefix(begin);
    const bool quoted = line.front() == '"';
    std::size_t size = quoted ? line.find('"', 1) : std::min(line.find_first_of(" \t\r"), line.size());
    if (size == std::string_view::npos) wrong("a quote has no end");
    out.push_back(line.substr(0, size));
    line.remove_prefix(size + (quoted ? 1 : 0));
  }
}

// {stag}, {stag:8} ...
bool read_hole(std::string_view word, Template& out) {
  if (!word.starts_with('{') || !word.ends_with('}')) return false;
  word = word.substr(1, word.size() - 2);
  const std::size_t colon = std::min(word.find(':'), word.size());
  const std::string_view name = word.substr(0, colon);
  Template::Hole hole{.at = out.octets.size()};
  if (name == "stag")
    hole.field = Template::kStag, hole.width = 4;
  else if (name == "offset")
    hole.field = Template::kOffset, hole.width = 8;
  else if (name == "size")
    hole.field = Template::kSize, hole.width = 4;
  else
    wrong(fmt::format("'{}' is no field: stag, offset and size are", name));
  if (colon < word.size()) hole.width = number(word.substr(colon + 1), 8);
  if (hole.width == 0) wrong("a field has 1 to 8 octets");
  out.octets.resize(out.octets.size() + hole.width);
  out.holes.push_back(hole);
  return true;
}

// Hexadecimal digits, "text", and zeros:N; fields where `holes`.
Template literal(const Words& words, std::size_t from, std::size_t most, bool holes = false) {
  Template out;
  for (const std::string_view word : std::span(words).subspan(std::min(from, words.size()))) {
    if (holes && read_hole(word, out)) {
    } else if (word.front() == '"') {
      for (const char letter : word.substr(1)) out.octets.push_back(static_cast<std::byte>(letter));
    } else if (word.starts_with("zeros:")) {
      out.octets.resize(out.octets.size() + number(word.substr(6), most));
    } else {
      if (word.size() % 2 != 0) wrong(fmt::format("'{}' has half an octet too many", word));
      for (std::size_t i = 0; i < word.size(); i += 2) {
        const auto octet = parse_number<std::uint8_t>(word.substr(i, 2), 16);
        if (!octet) wrong(fmt::format("'{}' is not hexadecimal", word));
        out.octets.push_back(std::byte{*octet});
      }
    }
    if (out.octets.size() > most) wrong(fmt::format("these are more than {} octets", most));
  }
  return out;
}

// 8, 8/4, or =4096.
Place place_of(std::string_view word, std::size_t width) {
  if (word.starts_with('=')) return {.constant = true, .value = number(word.substr(1), ~std::uint64_t{0})};
  const std::size_t slash = std::min(word.find('/'), word.size());
  Place out{.value = number(word.substr(0, slash), Profile::kMostOctets), .width = width};
  if (slash < word.size()) out.width = number(word.substr(slash + 1), 8);
  if (out.width == 0) wrong("a number has 1 to 8 octets");
  return out;
}

std::uint8_t rights_of(std::string_view word) {
  std::uint8_t out = 0;
  while (!word.empty()) {
    const std::size_t comma = std::min(word.find(','), word.size());
    const std::string_view one = word.substr(0, comma);
    if (one == "read")
      out |= Region::kRead;
    else if (one == "write")
      out |= Region::kWrite;
    else if (one == "atomic")
      out |= Region::kAtomic;
    else
      wrong(fmt::format("'{}' is no right: read, write and atomic are", one));
    word.remove_prefix(std::min(comma + 1, word.size()));
  }
  return out;
}

bool yes(const Words& words) {
  if (words.size() != 2 || (words[1] != "yes" && words[1] != "no"))
    wrong(fmt::format("{} takes yes or no", words.front()));
  return words[1] == "yes";
}

// region SOURCE stag PLACE offset PLACE length PLACE rights RIGHTS
ProfileRegion profile_region(const Words& words, const Profile& profile) {
  ProfileRegion out;
  std::size_t at = 2;
  const auto sends = std::ranges::count(profile.steps, ProfileStep::kExpectSend, &ProfileStep::kind);
  if (words.size() > 2 && words[1] == "send") {
    out.source = number(words[2], Profile::kMostSteps), at = 3;
    if (out.source == 0 || out.source > static_cast<std::size_t>(sends))
      wrong(fmt::format("no line above expects a Send number {}", words[2]));
  } else if (words.size() < 2 || words[1] != "private-data") {
    wrong("a region is in private-data, or in send N");
  }
  std::array<bool, 4> seen{};
  constexpr std::array<std::string_view, 4> names{"stag", "offset", "length", "rights"};
  for (; at + 1 < words.size(); at += 2) {
    const auto name = std::ranges::find(names, words[at]);
    if (name == names.end()) wrong(fmt::format("a region has no '{}'", words[at]));
    const auto index = static_cast<std::size_t>(name - names.begin());
    seen[index] = true;
    if (index == 0) out.stag = place_of(words[at + 1], 4);
    if (index == 1) out.offset = place_of(words[at + 1], 8);
    if (index == 2) out.length = place_of(words[at + 1], 4);
    if (index == 3) out.rights = rights_of(words[at + 1]);
  }
  if (at != words.size() || std::ranges::find(seen, false) != seen.end())
    wrong("a region needs stag, offset, length and rights, each with a word after it");
  return out;
}

ProfileStep expectation_of(const Words& words) {
  const std::string_view what = words.size() > 1 ? words[1] : std::string_view();
  if (what == "send" && words.size() <= 3)
    return {.kind = ProfileStep::kExpectSend, .size = words.size() == 3 ? number(words[2], Profile::kMostOctets) : 0};
  if (what == "read") return {ProfileStep::kExpectRead, literal(words, 2, Profile::kMostOctets).octets};
  if (what == "write" && words.size() == 2) return {.kind = ProfileStep::kExpectWrite};
  wrong("expect takes send [OCTETS], read DATA, or write");
}

void take(const Words& words, Profile& out) {
  const std::string_view verb = words.front();
  if (verb == "private-data") {
    out.private_data = literal(words, 1, Profile::kMostPrivateData).octets;
  } else if (verb == "empty-write") {
    out.empty_write = yes(words);
  } else if (verb == "takes-sends") {
    out.takes_sends = yes(words);
  } else if (verb == "atomics") {
    out.atomics = yes(words);
  } else if (verb == "at-a-time" && words.size() == 2) {
    out.at_a_time = static_cast<unsigned>(number(words[1], 64));
    if (out.at_a_time == 0) wrong("at least one connection is needed");
  } else if (verb == "send") {
    out.steps.push_back({ProfileStep::kSend, literal(words, 1, Profile::kMostOctets).octets});
  } else if (verb == "expect") {
    out.steps.push_back(expectation_of(words));
  } else if (verb == "region") {
    out.regions.push_back(profile_region(words, out));
  } else if (verb == "read") {
    out.read = literal(words, 1, Profile::kMostOctets, true);
  } else if (verb == "alive" && words.size() == 2 && (words[1] == "read" || words[1] == "empty-read")) {
    out.alive_by_read = words[1] == "read";
  } else {
    wrong(fmt::format("'{}' is no line of a profile", fmt::join(words, " ")));
  }
  if (out.steps.size() > Profile::kMostSteps) wrong(fmt::format("more than {} steps", Profile::kMostSteps));
  if (out.regions.size() > kMostRegions) wrong(fmt::format("more than {} regions", kMostRegions));
}

}  // namespace

std::vector<std::byte> Template::filled(ddp::Stag stag, ddp::TaggedOffset offset, std::uint32_t size) const {
  std::vector<std::byte> out = octets;
  for (const Hole& hole : holes) {
    std::uint64_t value = hole.field == kStag ? stag.value : hole.field == kOffset ? offset.value : size;
    for (std::size_t i = hole.width; i-- > 0; value >>= 8U) out[hole.at + i] = static_cast<std::byte>(value & 0xFFU);
  }
  return out;
}

std::expected<Profile, std::string> parse_profile(std::string_view text) {
  if (text.size() > Profile::kMostText)
    return std::unexpected(fmt::format("a profile has at most {} octets", Profile::kMostText));
  Profile out;
  std::size_t line_number = 0;
  try {
    bool begun = false;
    while (!text.empty()) {
      ++line_number;
      const std::size_t end = std::min(text.find('\n'), text.size());
      const Words words = split(text.substr(0, end));
      text.remove_prefix(std::min(end + 1, text.size()));
      if (words.empty()) continue;
      if (!begun && fmt::format("{}", fmt::join(words, " ")) != kProfileFirstLine)
        wrong(fmt::format("a profile begins with the line '{}'", kProfileFirstLine));
      if (begun) take(words, out);
      begun = true;
    }
    if (!begun) wrong(fmt::format("a profile begins with the line '{}'", kProfileFirstLine));
    if (out.alive_by_read && !out.read) wrong("alive read needs a line that says how a Read is provoked: read DATA");
  } catch (const Wrong& fault) {
    return std::unexpected(fmt::format("line {}: {}", line_number, fault.why));
  }
  return out;
}

}  // namespace weft::probe
