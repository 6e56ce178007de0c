// SPDX-License-Identifier: Apache-2.0
#include "compat/objects/settings.hpp"

#include <unistd.h>

#include <string>

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

verbs::Policy start() {
  auto settings = read_all();
  verbs::apply_configuration(settings);
  tell(settings);
  return settings.policy;
}

}  // namespace

verbs::Configuration read_settings(const verbs::Variable& variable, const verbs::Policy& base) {
  verbs::Configuration settings{.policy = base};
  if (const auto path = variable("WEFT_CONFIG")) settings = from_file(*path, base);
  verbs::read_variables(settings, variable);
  if (const auto policy = variable("WEFT_POLICY")) take_policy(settings, *policy);
  return settings;
}

const verbs::Policy& connection_policy() {
  static const verbs::Policy policy = start();
  return policy;
}

}  // namespace weft::compat
