// SPDX-License-Identifier: Apache-2.0
#include "compat/objects/settings.hpp"

#include <sys/auxv.h>
#include <unistd.h>

#include <cstdio>
#include <cstdlib>
#include <cstring>

#include "verbs/options.hpp"
#include "verbs/policy_text.hpp"

namespace weft::compat {

namespace {

std::optional<std::string> environment(const char* name) {
  const char* const value = std::getenv(name);
  if (value == nullptr || *value == '\0') return std::nullopt;
  return value;
}

// The file's settings; its complaints say which variable named it.
verbs::Configuration from_file(const std::string& path, const verbs::Policy& base) {
  auto settings = verbs::read_configuration(path, base);
  for (std::string& complaint : settings.complaints) complaint.insert(0, "WEFT_CONFIG: ");
  return settings;
}

void take_log(verbs::Configuration& settings, const std::string& value) {
  if (const auto level = verbs::parse_log_level(value)) {
    settings.log = *level;
  } else {
    settings.complaints.push_back("WEFT_LOG: '" + value + "' is not one of trace, debug, info, warn, error, off");
  }
}

void take_crc32c(verbs::Configuration& settings, const std::string& value) {
  if (const auto routine = verbs::parse_crc32c(value)) {
    settings.crc32c = *routine;
  } else {
    settings.complaints.push_back("WEFT_CRC32C: '" + value + "' is not one of isa-l, portable");
  }
}

void take_policy(verbs::Configuration& settings, const std::string& value) {
  if (const auto policy = verbs::parse_policy(value, settings.policy)) {
    settings.policy = *policy;
  } else {
    settings.complaints.push_back("WEFT_POLICY: " + policy.error().text);
  }
}

// Program and library share standard error: one write, so that lines of several processes do not mix.
void tell(const verbs::Configuration& settings) {
  for (const std::string& complaint : settings.complaints) {
    const std::string line = "weft: " + complaint + "; this is left out.\n";
    static_cast<void>(!::write(STDERR_FILENO, line.data(), line.size()));
  }
}

// Programs that were written for InfiniBand may let the accepting end speak first, which iWARP allows with the
// ready-to-receive handshake alone: so it is asked for, unless the user says otherwise or asks for what excludes it.
verbs::Configuration read_all() {
  const bool secure = ::getauxval(AT_SECURE) != 0;
  auto with = read_settings(environment, secure, {.peer_to_peer = true});
  auto without = read_settings(environment, secure, {});
  return with.complaints.size() > without.complaints.size() ? without : with;
}

verbs::Policy start() {
  auto settings = read_all();
  apply_settings(settings);
  tell(settings);
  return settings.policy;
}

}  // namespace

verbs::Configuration read_settings(const Variable& variable, bool secure_execution, const verbs::Policy& base) {
  verbs::Configuration settings{.policy = base};
  if (secure_execution) return settings;
  if (const auto path = variable("WEFT_CONFIG")) settings = from_file(*path, base);
  if (const auto level = variable("WEFT_LOG")) take_log(settings, *level);
  if (const auto pcap = variable("WEFT_PCAP")) settings.pcap = *pcap;
  if (const auto routine = variable("WEFT_CRC32C")) take_crc32c(settings, *routine);
  if (const auto policy = variable("WEFT_POLICY")) take_policy(settings, *policy);
  return settings;
}

void apply_settings(verbs::Configuration& settings) {
  if (settings.log) verbs::set_log_level(*settings.log);
  if (settings.crc32c) verbs::set_crc32c(*settings.crc32c);
  static_cast<void>(verbs::set_progress_threads(settings.progress_threads));  // what cannot be was a complaint
  if (settings.pcap.empty()) return;
  const std::string path = verbs::capture_path(settings.pcap, ::getpid());
  if (const auto done = verbs::set_capture_file(path); !done) {
    const int error = done.error().os_error;
    settings.complaints.push_back("WEFT_PCAP: cannot write " + path + ": " +
                                  (error != 0 ? std::strerror(error) : std::string(done.error().reason)));
  }
}

const verbs::Policy& connection_policy() {
  static const verbs::Policy policy = start();
  return policy;
}

}  // namespace weft::compat
