// SPDX-License-Identifier: Apache-2.0
#include "verbs/configuration.hpp"

#include <algorithm>
#include <cerrno>
#include <expected>
#include <limits>
#include <ranges>

#include "common/number.hpp"
#include "transport/input_file.hpp"
#include "verbs/log/text.hpp"
#include "verbs/policy_text.hpp"

namespace weft::verbs {

namespace {

using detail::trimmed;

constexpr std::size_t kMaxFile = 65536;  // octets: a longer one is not a file of settings

// The line without its comment, which begins the line or follows a blank: a file name may have a '#'.
std::string_view without_comment(std::string_view line) {
  for (std::size_t at = 0; (at = line.find('#', at)) != std::string_view::npos; ++at) {
    if (trimmed(line.substr(0, at)).empty() || trimmed(line.substr(at - 1, 1)).empty()) return line.substr(0, at);
  }
  return line;
}

// Each says why the line was left out; nothing when it was taken.
std::string take_log(Configuration& configuration, std::string_view value) {
  const auto level = parse_log_level(value);
  if (!level) return "log takes one of debug, info, warn, error, off";
  configuration.log = *level;
  return {};
}

std::string take_pcap(Configuration& configuration, std::string_view value) {
  configuration.pcap = value;
  return value.empty() ? "pcap has no value; it takes a file name" : "";
}

std::string take_progress_threads(Configuration& configuration, std::string_view value) {
  const auto count = parse_number<std::size_t>(value);
  if (!count || *count > kMostProgressThreads)
    return "progress-threads takes a number from 1 to 64, or 0 to let weft choose";
  configuration.progress_threads = *count;
  return {};
}

// "1048576", "1M": nothing when it is no such number.
std::optional<std::uint64_t> to_octets(std::string_view value) {
  constexpr std::string_view kUnits = "KMG";
  const std::size_t unit = value.empty() ? std::string_view::npos : kUnits.find(value.back());
  if (unit != std::string_view::npos) value.remove_suffix(1);
  const std::uint64_t scale = unit == std::string_view::npos ? 1 : std::uint64_t{1} << (10 * (unit + 1));
  const auto count = parse_number<std::uint64_t>(value);
  if (!count || *count > std::numeric_limits<std::uint64_t>::max() / scale) return std::nullopt;
  return *count * scale;
}

std::string take_exposed_memory(Configuration& configuration, std::string_view value) {
  const auto octets = to_octets(value);
  if (!octets) return "exposed-memory takes a number of octets such as 4G, or 0 for no limit";
  configuration.exposed_memory = *octets;
  return {};
}

std::string take_crc32c(Configuration& configuration, std::string_view value) {
  const auto routine = parse_crc32c(value);
  if (!routine) return "crc32c takes one of isa-l, portable";
  configuration.crc32c = *routine;
  return {};
}

std::string take_ports(Configuration& configuration, std::string_view value) {
  const auto range = parse_port_range(value);
  if (!range) return "ports takes a range of TCP ports from 1024 on, such as 20000-20255";
  configuration.ports = *range;
  return {};
}

std::string take_confirm_writes(Configuration& configuration, std::string_view value) {
  const auto on = parse_on_off(value);
  if (!on) return "confirm-writes takes one of on, off";
  configuration.confirm_writes = *on;
  return {};
}

std::string take_device(Configuration& configuration, std::string_view value) {
  const auto kind = parse_device_kind(value);
  if (!kind) return "device takes one of iwarp, roce";
  configuration.device = *kind;
  return {};
}

// "device.NAME": for the program of this name, as the kernel has it (the last part of its path).
constexpr std::string_view kDeviceOfProgram = "device.";
std::string take_device_of(Configuration& configuration, std::string_view program, std::string_view value) {
  Configuration for_it;
  std::string why = take_device(for_it, value);
  if (why.empty() && program == program_invocation_short_name) configuration.device = for_it.device;
  return why;
}

std::string take_policy(Configuration& configuration, std::string_view line) {
  const auto policy = parse_policy(line, configuration.policy);
  if (!policy) return policy.error().text;
  configuration.policy = *policy;
  return {};
}

std::string take(Configuration& configuration, std::string_view line) {
  const std::size_t equals = std::min(line.find('='), line.size());
  const std::string_view key = trimmed(line.substr(0, equals));
  const std::string_view value = trimmed(line.substr(std::min(equals + 1, line.size())));
  if (key == "log") return take_log(configuration, value);
  if (key == "progress-threads") return take_progress_threads(configuration, value);
  if (key == "exposed-memory") return take_exposed_memory(configuration, value);
  if (key == "crc32c") return take_crc32c(configuration, value);
  if (key == "device") return take_device(configuration, value);
  if (key.starts_with(kDeviceOfProgram)) {
    return take_device_of(configuration, key.substr(kDeviceOfProgram.size()), value);
  }
  if (key == "confirm-writes") return take_confirm_writes(configuration, value);
  if (key == "ports") return take_ports(configuration, value);
  if (key == "pcap") return take_pcap(configuration, value);
  return take_policy(configuration, line);
}

Configuration only_complaint(const Policy& base, std::string sentence) {
  return {.policy = base, .complaints = {std::move(sentence)}};
}

}  // namespace

std::optional<bool> parse_on_off(std::string_view text) noexcept {
  if (text == "on") return true;
  if (text == "off") return false;
  return std::nullopt;
}

std::optional<DeviceKind> parse_device_kind(std::string_view text) noexcept {
  if (text == "iwarp") return DeviceKind::kIwarp;
  if (text == "roce") return DeviceKind::kRoce;
  return std::nullopt;
}

std::optional<PortRange> parse_port_range(std::string_view text) noexcept {
  constexpr std::uint16_t kLowest = 1024;
  const auto port = [](std::string_view digits) { return parse_number<std::uint16_t>(trimmed(digits)); };
  const std::size_t dash = std::min(text.find('-'), text.size());
  const auto first = port(text.substr(0, dash));
  const auto last = dash == text.size() ? first : port(text.substr(dash + 1));
  if (!first || !last || *first < kLowest || *last < *first) return std::nullopt;
  return PortRange{*first, *last};
}

Configuration parse_configuration(std::string_view text, const std::string& name, const Policy& base) {
  Configuration configuration{.policy = base};
  std::size_t number = 0;
  for (const auto piece : std::views::split(text, '\n')) {
    ++number;
    const std::string_view line = trimmed(without_comment(std::string_view(piece)));
    if (line.empty()) continue;
    const std::string why = take(configuration, line);
    if (!why.empty()) configuration.complaints.push_back(name + ':' + std::to_string(number) + ": " + why);
  }
  return configuration;
}

Configuration read_configuration(const std::string& path, const Policy& base) {
  const auto text = transport::read_file(path, kMaxFile);
  if (!text && text.error().os_error == EFBIG) return only_complaint(base, path + ": longer than 64 KiB");
  if (!text) return only_complaint(base, path + ": " + text.error().words());
  return parse_configuration(*text, path, base);
}

std::string capture_path(std::string_view pattern, pid_t process) {
  std::string path(pattern);
  const std::string number = std::to_string(process);
  for (std::size_t at = 0; (at = path.find("%p", at)) != std::string::npos; at += number.size()) {
    path.replace(at, 2, number);
  }
  return path;
}

}  // namespace weft::verbs
