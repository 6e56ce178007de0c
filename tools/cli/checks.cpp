// SPDX-License-Identifier: Apache-2.0
#include "tools/cli/checks.hpp"

#include <cstdlib>
#include <string>

#include "transport/system_words.hpp"
#include "verbs/environment.hpp"
#include "verbs/options.hpp"

namespace weft::tools {

Outcome<verbs::Endpoint> look_up(const std::string& option, const std::string& host, std::uint16_t port) {
  auto endpoint = verbs::lookup(host, port);
  if (!endpoint) return usage_error(option + ": '" + host + "' is neither an IP address nor a name that resolves.");
  return *endpoint;
}

Outcome<void> start_capture(const GlobalOptions& options) {
  if (options.pcap.empty()) return {};
  if (options.pcap == "-") {
    return usage_error("--pcap: '-' is no file name; a capture goes into a file (./- is one, if it must be).");
  }
  if (const auto started = verbs::set_capture_file(options.pcap); !started) {
    const verbs::Error& error = started.error();
    const std::string why = error.os_error != 0 ? system_words(error.os_error) : std::string(error.reason);
    return usage_error("--pcap: cannot write " + options.pcap + ": " + why + ".");
  }
  return {};
}

Outcome<void> check_capture() {
  const std::string failed = verbs::capture_failure();
  if (failed.empty()) return {};
  ::unsetenv("WEFT_PCAP_EXIT");  // set if weft run started this weft, which reports the failure itself
  return std::unexpected(Failure{"the capture was cut short: " + failed + '.', ExitCode::kUnwritten});
}

Outcome<void> take_log_variable(GlobalOptions& options) {
  const auto value = verbs::process_variable("WEFT_LOG");
  if (!value) return {};
  if (!verbs::parse_log_level(*value)) {
    return usage_error("WEFT_LOG: '" + *value + "' is not one of debug, info, warn, error, off.");
  }
  options.log = *value;
  return {};
}

Outcome<void> start_log(const GlobalOptions& options) {
  const auto level = verbs::parse_log_level(options.log);
  if (!level) return usage_error("--log: '" + options.log + "' is not one of debug, info, warn, error, off.");
  verbs::set_log_level(*level);
  return {};
}

Outcome<void> choose_crc32c_routine() {
  const auto value = verbs::process_variable("WEFT_CRC32C");
  if (!value) return {};
  const auto routine = verbs::parse_crc32c(*value);
  if (!routine) return usage_error("WEFT_CRC32C: '" + *value + "' is not one of isa-l, portable.");
  verbs::set_crc32c(*routine);
  return {};
}

}  // namespace weft::tools
