// SPDX-License-Identifier: Apache-2.0
// `weft info`: devices, limits, what was built, the code for CRCs, and where the drop-in libraries are.
#include <pcap/pcap.h>

#include <boost/version.hpp>
#include <cstdio>
#include <memory>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "common/crc32c_routine.hpp"
#include "common/json.hpp"
#include "common/shown_text.hpp"
#include "tools/cli/checks.hpp"
#include "tools/cli/command.hpp"
#include "tools/cli/json_option.hpp"
#include "tools/cli/version.hpp"
#include "tools/cli/whole_file.hpp"
#include "tools/run/libraries.hpp"
#include "transport/tls_facts.hpp"
#include "verbs/device.hpp"

namespace weft::tools {
namespace {

constexpr const char* kInfoDescription =
    "Shows devices, limits, build options and library paths\n"
    "Lists the devices of this host (one per network interface), the limits of each, how weft was built, which code "
    "computes CRCs and why, and where the libraries are that weft run loads.";

constexpr const char* kInfoFooter =
    "Examples:\n"
    "  weft info                          for people\n"
    "  weft info --json                   for programs\n"
    "  WEFT_CRC32C=portable weft info     with the portable CRC code";

using Named = std::pair<const char*, std::uint64_t>;

std::vector<Named> limits() {
  const verbs::DeviceLimits& l = verbs::Device::limits();
  return {{"max_pd", l.max_pd},           {"max_mr", l.max_mr},         {"max_mw", l.max_mw},
          {"max_mr_size", l.max_mr_size}, {"max_cq", l.max_cq},         {"max_cqe", l.max_cqe},
          {"max_qp", l.max_qp},           {"max_qp_wr", l.max_qp_wr},   {"max_sge", l.max_sge},
          {"max_sge_rd", l.max_sge_rd},   {"max_inline", l.max_inline}, {"max_srq", l.max_srq},
          {"max_srq_wr", l.max_srq_wr},   {"max_ird", l.max_ird},       {"max_ord", l.max_ord},
          {"max_message", l.max_message}};
}

std::vector<std::pair<const char*, std::string>> build_features() {
  return {{"version", WEFT_VERSION},
          {"compiler", std::string(compiler_name())},
          {"build_type", std::string(build_type())},
          {"sanitizers", WEFT_SANITIZERS},
          {"boost", BOOST_LIB_VERSION},
          {"libpcap", ::pcap_lib_version()},
          {"tls", transport::tls_library()},
          {"same_host", "shared memory between processes of one user, unless the policy has same-host=off"}};
}

std::vector<std::pair<const char*, std::string_view>> crc32c() {
  const Crc32cChoice choice = crc32c_in_use();
  return {{"routine", name(choice.routine)}, {"reason", choice.reason}};
}

void print_device(const verbs::DeviceInfo& device) {
  const transport::Interface& interface = device.interface;
  std::printf("  %-16s %s, mtu %u%s\n", shown_text(device.name).c_str(), interface.up ? "up" : "down", interface.mtu,
              interface.loopback ? ", loopback" : "");
  for (const auto& address : interface.addresses) {
    std::printf("  %-16s   %s/%u\n", "", address.address.to_string().c_str(), address.prefix_length);
  }
}

void print_text(const std::vector<verbs::DeviceInfo>& devices) {
  std::printf("Devices\n");
  for (const verbs::DeviceInfo& device : devices) print_device(device);
  std::printf("\nLimits of each device\n");
  for (const auto& [name, value] : limits())
    std::printf("  %-16s %llu\n", name, static_cast<unsigned long long>(value));
  std::printf("\nBuild\n");
  for (const auto& [name, value] : build_features())
    std::printf("  %-16s %s\n", name, value.empty() ? "none" : value.c_str());
  std::printf("\nCRC32C\n");
  for (const auto& [name, value] : crc32c()) std::printf("  %-16s %s\n", name, std::string(value).c_str());
  const auto folder = run::find_libraries();
  std::printf("\nDrop-in libraries\n  %-16s %s\n", folder ? "folder" : "missing",
              shown_text(folder ? *folder : folder.error().sentence).c_str());
}

void put_device(JsonWriter& json, const verbs::DeviceInfo& device) {
  const transport::Interface& interface = device.interface;
  json.begin_object().put("name", device.name).put("interface", interface.name).put("up", interface.up);
  json.put("loopback", interface.loopback).put("mtu", interface.mtu).begin_array("addresses");
  for (const auto& address : interface.addresses) {
    json.begin_object().put("address", address.address.to_string()).put("prefix_length", address.prefix_length).end();
  }
  json.end().end();
}

std::string as_json(const std::vector<verbs::DeviceInfo>& devices) {
  JsonWriter json;
  json.begin_array("devices");
  for (const verbs::DeviceInfo& device : devices) put_device(json, device);
  json.end().begin_object("limits");
  for (const auto& [name, value] : limits()) json.put(name, value);
  json.end().begin_object("build");
  for (const auto& [name, value] : build_features()) json.put(name, value);
  json.end().begin_object("crc32c");
  for (const auto& [name, value] : crc32c()) json.put(name, value);
  json.end().begin_object("drop_in");
  const auto folder = run::find_libraries();
  json.put(folder ? "folder" : "missing", folder ? *folder : folder.error().sentence);
  return json.end().finish();
}

Outcome<void> show(const std::string& json, const GlobalOptions& global) {
  if (auto capturing = start_capture(global); !capturing) return capturing;  // of no connection, but as asked for
  const auto devices = verbs::Device::list();
  if (!devices) return failure("cannot list the devices: " + devices.error().message() + ".");
  if (json != "-") print_text(*devices);
  return json.empty() ? Outcome<void>() : write_report(json, as_json(*devices));
}

}  // namespace

void add_info_command(CLI::App& app, Selection& selection) {
  CLI::App* command = app.add_subcommand("info", kInfoDescription);
  command->footer(kInfoFooter);
  const auto json = std::make_shared<std::string>();
  add_json_option(*command, *json, "Write one JSON object with the keys devices, limits, build, crc32c and drop_in");
  command->callback(
      [json, &selection] { selection.run = [json](const GlobalOptions& global) { return show(*json, global); }; });
}

}  // namespace weft::tools
