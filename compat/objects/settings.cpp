// SPDX-License-Identifier: Apache-2.0
#include "compat/objects/settings.hpp"

#include <unistd.h>

#include <optional>
#include <string>
#include <string_view>

#include "verbs/policy_text.hpp"

namespace weft::compat {

namespace {

// The file's settings; its complaints say which variable named it.
verbs::Configuration from_file(const std::string& path, const verbs::Policy& base) {
  auto settings = verbs::read_configuration(path, base);
  for (std::string& complaint : settings.complaints) complaint.insert(0, "WEFT_CONFIG: ");
  return settings;
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
    const std::string line = "weft: " + complaint + "; ignored.\n";
    static_cast<void>(!::write(STDERR_FILENO, line.data(), line.size()));
  }
}

// Programs that were written for InfiniBand may let the accepting end speak first, which iWARP allows with the
// ready-to-receive handshake alone: so it is asked for, unless the user says otherwise or asks for what excludes it.
verbs::Configuration read_all() {
  auto with = read_settings(verbs::process_variable, {.startup = {.peer_to_peer = true}});
  auto without = read_settings(verbs::process_variable, {});
  return with.complaints.size() > without.complaints.size() ? without : with;
}

// `wanted` ends the complaint about a value that is not parsed.
template <typename Value>
void take(verbs::Configuration& settings, Value verbs::Configuration::* member, std::string_view name,
          const std::string& value, const std::optional<Value>& parsed, std::string_view wanted) {
  if (parsed) {
    settings.*member = *parsed;
  } else {
    settings.complaints.push_back(std::string(name) + ": '" + value + "' is " + std::string(wanted));
  }
}

verbs::Configuration start() {
  auto settings = read_all();
  verbs::apply_configuration(settings);
  tell(settings);
  return settings;
}

const verbs::Configuration& configuration() {
  static const verbs::Configuration settings = start();
  return settings;
}

}  // namespace

verbs::Configuration read_settings(const verbs::Variable& variable, const verbs::Policy& base) {
  verbs::Configuration settings{.policy = base};
  if (const auto path = variable("WEFT_CONFIG")) settings = from_file(*path, base);
  verbs::read_variables(settings, variable);
  if (const auto policy = variable("WEFT_POLICY")) take_policy(settings, *policy);
  if (const auto kind = variable("WEFT_DEVICE")) {
    take(settings, &verbs::Configuration::device, "WEFT_DEVICE", *kind, verbs::parse_device_kind(*kind),
         "not one of iwarp, roce");
  }
  if (const auto ports = variable("WEFT_PORTS")) {
    take(settings, &verbs::Configuration::ports, "WEFT_PORTS", *ports, verbs::parse_port_range(*ports),
         "no range of TCP ports from 1024 on, such as 20000-20255");
  }
  if (const auto confirm = variable("WEFT_CONFIRM_WRITES")) {
    take(settings, &verbs::Configuration::confirm_writes, "WEFT_CONFIRM_WRITES", *confirm,
         verbs::parse_on_off(*confirm), "not one of on, off");
  }
  return settings;
}

const verbs::Policy& connection_policy() { return configuration().policy; }
verbs::DeviceKind device_kind() { return configuration().device; }
bool confirms_writes() { return configuration().confirm_writes; }
verbs::PortRange port_range() { return configuration().ports; }

}  // namespace weft::compat
