// SPDX-License-Identifier: Apache-2.0
#include "explain/laboratory/script.hpp"

#include <algorithm>
#include <array>
#include <concepts>
#include <limits>
#include <optional>
#include <system_error>
#include <utility>

#include "common/number.hpp"

namespace weft::explain::laboratory {
namespace {

// The words of one line, taken from the front.
class Words {
 public:
  explicit Words(std::string_view line) : rest_(line) {}

  [[nodiscard]] bool empty() const noexcept { return rest_.empty(); }
  std::string_view next() noexcept {
    const std::size_t end = std::min(rest_.find(' '), rest_.size());
    const std::string_view word = rest_.substr(0, end);
    rest_.remove_prefix(std::min(end + 1, rest_.size()));
    return word;
  }

 private:
  std::string_view rest_;
};

template <std::unsigned_integral T>
bool read(std::string_view word, T& value, std::uint64_t most) noexcept {
  const bool hexadecimal = word.starts_with("0x");
  if (hexadecimal) word.remove_prefix(2);
  const auto number = parse_number<std::uint64_t>(word, hexadecimal ? 16 : 10);
  if (!number || *number > most) return false;
  value = static_cast<T>(*number);
  return true;
}
template <std::unsigned_integral T>
bool read(std::string_view word, T& value) noexcept {
  return read(word, value, std::numeric_limits<T>::max());
}

bool read_bit(std::string_view word, bool& value) noexcept {
  value = word == "1";
  return value || word == "0";
}

bool read_octets(std::string_view word, std::vector<std::byte>& octets) {
  if (word.size() % 2 != 0) return false;
  octets.clear();
  octets.reserve(word.size() / 2);
  for (; !word.empty(); word.remove_prefix(2)) {
    const auto octet = parse_number<std::uint8_t>(word.substr(0, 2), 16);
    if (!octet) return false;
    octets.push_back(std::byte{*octet});
  }
  return true;
}

bool read_rtr(Words& words, mpa::RtrTypes& types) noexcept {
  types = {};
  while (!words.empty()) {
    const auto word = words.next();
    if (word == "send") {
      types.send = true;
    } else if (word == "write") {
      types.write = true;
    } else if (word == "read") {
      types.read = true;
    } else if (word != "none") {
      return false;
    }
  }
  return true;
}

bool read_rights(std::string_view word, RegionScript& region) noexcept {
  using enum rdmap::Access;
  region.access = kLocalWrite | (word.contains('r') ? kRemoteRead : kNone) |
                  (word.contains('w') ? kRemoteWrite : kNone) | (word.contains('a') ? kRemoteAtomic : kNone);
  return word.find_first_not_of("rwa-") == std::string_view::npos && !word.empty();
}

bool read_region(Words& words, Script& script) {
  RegionScript region;
  if (!read(words.next(), region.stag) || !read(words.next(), region.begin) || !read(words.next(), region.size))
    return false;
  if (!read_rights(words.next(), region) || !read_octets(words.next(), region.octets)) return false;
  const bool fits = region.octets.size() <= region.size && !ddp::offset_wraps({region.begin}, region.size);
  if (fits) script.regions.push_back(std::move(region));
  return fits;
}

std::optional<engine::Operation> operation(std::string_view word) noexcept {
  using enum engine::Operation;
  struct Row {
    std::string_view word;
    engine::Operation operation;
  };
  constexpr std::array kRows{Row{"read", kRead},   Row{"fetch_add", kFetchAdd}, Row{"cmp_swap", kCmpSwap},
                             Row{"write", kWrite}, Row{"send", kSend},          Row{"immediate", kImmediate}};
  const auto row = std::ranges::find(kRows, word, &Row::word);
  return row == kRows.end() ? std::nullopt : std::optional(row->operation);
}

bool read_operands(Words& words, rdmap::AtomicOperation& atomic) noexcept {
  return read(words.next(), atomic.add_or_swap) && read(words.next(), atomic.add_or_swap_mask) &&
         read(words.next(), atomic.compare) && read(words.next(), atomic.compare_mask);
}

bool read_work(Words& words, Script& script) {
  WorkScript work;
  if (!read(words.next(), work.row)) return false;
  const auto what = operation(words.next());
  if (!what) return false;
  work.what = *what;
  const bool good = read(words.next(), work.sink_stag) && read(words.next(), work.sink_offset) &&
                    read(words.next(), work.source_stag) && read(words.next(), work.source_offset) &&
                    read(words.next(), work.size) && (words.empty() || read_operands(words, work.atomic));
  const bool in_order = script.work.empty() || script.work.back().row <= work.row;
  script.work.push_back(work);
  return good && in_order;
}

bool read_receive(Words& words, Script& script) {
  std::uint64_t size{};
  if (!read(words.next(), size, std::uint64_t{1} << 32)) return false;
  script.receives.push_back(size);
  return true;
}

bool read_role(std::string_view word, Script& script) noexcept {
  script.role = word == "initiator" ? mpa::Role::kInitiator : mpa::Role::kResponder;
  return word == "initiator" || word == "responder";
}

bool read_no_receive(std::string_view word, Script& script) noexcept {
  script.no_receive = word == "stall" ? engine::NoReceive::kStall : engine::NoReceive::kTerminate;
  return word == "stall" || word == "terminate";
}

bool read_line(std::string_view key, Words& words, Script& script) {
  mpa::Policy& policy = script.policy;
  if (key == "role") return read_role(words.next(), script);
  if (key == "revision") return read(words.next(), policy.revision);
  if (key == "crc") return read_bit(words.next(), policy.crc);
  if (key == "markers") return read_bit(words.next(), policy.markers);
  if (key == "enhanced") return read_bit(words.next(), policy.enhanced);
  if (key == "peer_to_peer") return read_bit(words.next(), policy.peer_to_peer);
  if (key == "rtr") return read_rtr(words, policy.rtr);
  if (key == "ird") return read(words.next(), policy.ird, mpa::kNoNegotiation);
  if (key == "ord") return read(words.next(), policy.ord, mpa::kNoNegotiation);
  if (key == "private_data") return read_octets(words.next(), script.private_data);
  if (key == "reject") return read_bit(words.next(), script.reject);
  if (key == "no_receive") return read_no_receive(words.next(), script);
  if (key == "emss") return read(words.next(), script.emss, 65535);
  if (key == "first_atomic_id") return read(words.next(), script.first_atomic_id);
  if (key == "region") return read_region(words, script);
  if (key == "receive") return read_receive(words, script);
  if (key == "post") return read_work(words, script);
  return false;
}

bool one_stag_twice(const Script& script) {
  std::vector<std::uint32_t> stags;
  for (const RegionScript& region : script.regions) stags.push_back(region.stag);
  std::ranges::sort(stags);
  return std::ranges::adjacent_find(stags) != stags.end();
}

std::unexpected<std::string> wrong(std::size_t number, std::string_view line) {
  return std::unexpected("line " + std::to_string(number) + " of the script: " + std::string(line.substr(0, 60)));
}

}  // namespace

std::expected<Script, std::string> parse_script(std::string_view text) {
  if (text.size() > Script::kMostText) return std::unexpected("the script is longer than 16 MiB");
  Script script;
  bool has_role = false;
  for (std::size_t number = 1; !text.empty(); ++number) {
    const std::size_t end = std::min(text.find('\n'), text.size());
    const std::string_view line = text.substr(0, end);
    text.remove_prefix(std::min(end + 1, text.size()));
    if (number > Script::kMostLines) return std::unexpected("the script has more than 100000 lines");
    Words words(line);
    const auto key = words.next();
    if (key.empty()) continue;
    if (!read_line(key, words, script) || !words.empty()) return wrong(number, line);
    has_role = has_role || key == "role";
  }
  if (one_stag_twice(script)) return std::unexpected("two regions of the script have the same STag");
  if (!has_role) return std::unexpected("the script does not say whether this end is initiator or responder");
  return script;
}

}  // namespace weft::explain::laboratory
