// SPDX-License-Identifier: Apache-2.0
// `weft demo`.
#include <unistd.h>

#include <chrono>
#include <cstdio>
#include <memory>
#include <optional>
#include <string>

#include "common/shown_text.hpp"
#include "tools/cli/checks.hpp"
#include "tools/cli/child_process.hpp"
#include "tools/cli/command.hpp"
#include "tools/cli/policy_option.hpp"
#include "tools/cli/standard_output.hpp"
#include "tools/demo/client.hpp"
#include "tools/demo/report.hpp"
#include "tools/demo/script.hpp"
#include "tools/demo/server.hpp"
#include "verbs/options.hpp"

namespace weft::tools {
namespace {

constexpr const char* kDemoDescription =
    "Shows two processes doing RDMA over TCP on this machine\n"
    "Runs Send, RDMA Write, RDMA Read, FetchAdd, CmpSwap and Send with Invalidate, compares every octet, counts what "
    "each layer sent, and writes a capture for Wireshark.";

constexpr const char* kDemoFooter =
    "Examples:\n"
    "  weft demo                        write demo.pcap to the current directory\n"
    "  weft demo --pcap /tmp/d.pcap     write it elsewhere\n"
    "  weft demo --markers --no-crc     use the other framing\n"
    "  weft demo --policy tls=require   use TLS, with temporary keys\n"
    "\n"
    "Exit codes: 0 every check passed, 1 a check failed, 2 wrong command line or a file that could not be written.";

struct DemoArguments {
  std::uint32_t mpa_revision = 2;
  bool no_crc{};
  bool markers{};
  std::string policy{};
};

verbs::Policy policy_from(const DemoArguments& arguments) {
  verbs::Policy policy;
  policy.startup.mpa_revision = static_cast<std::uint8_t>(arguments.mpa_revision);
  policy.startup.crc = !arguments.no_crc;
  policy.startup.markers = arguments.markers;
  policy.startup.max_ulpdu = demo::kMaxUlpdu;
  return policy;
}

ExitCode server_process(const verbs::Policy& policy, int channel) {
  const auto done = demo::run_server(policy, channel);
  if (done) return ExitCode::kSuccess;
  print_error("weft demo: " + done.error().sentence);
  return done.error().code;
}

Outcome<demo::Score> play(const verbs::Policy& policy, const GlobalOptions& global) {
  // Forked before anything starts a thread.
  auto server = ChildProcess::start([&](int channel) { return server_process(policy, channel); });
  if (!server) return std::unexpected(server.error());
  if (auto capturing = start_capture(global); !capturing) return std::unexpected(capturing.error());
  const auto port = hear<std::uint16_t>(server->channel());
  if (!port) return std::unexpected(port.error());
  std::printf("weft demo: client (process %d) and server (process %d) over 127.0.0.1:%u\n\n", ::getpid(), server->pid(),
              *port);
  const auto score = demo::run_client(policy, *port);
  if (!score) {
    server->let_it_speak();  // else it waits for its client forever: it is ended
    return score;
  }
  if (const auto left = server->wait(); !left) return std::unexpected(left.error());
  return score;
}

Outcome<void> describe_capture(const std::string& path) {
  const auto layers = demo::describe_layers(path);
  if (!layers) return std::unexpected(layers.error());
  std::printf("\nWhat crossed each layer (counted from %s):\n%s", shown_text(path).c_str(), layers->c_str());
  return {};
}

Outcome<void> run(const DemoArguments& arguments, GlobalOptions global) {
  std::optional<KeysInMemory> keys;
  const auto more = keys_for(arguments.policy, keys);
  if (!more) return std::unexpected(more.error());
  const auto policy = read_policy(arguments.policy + *more, policy_from(arguments));
  if (!policy) return std::unexpected(policy.error());
  if (global.pcap.empty()) global.pcap = "demo.pcap";
  const auto begin = std::chrono::steady_clock::now();
  const auto score = play(*policy, global);
  Outcome<void> done = score ? check_capture() : std::unexpected(score.error());
  if (done) done = describe_capture(global.pcap);
  if (!done) {
    if (done.error().code == ExitCode::kFailure) std::printf("\nVerdict: FAILED\n");
    return done;
  }
  const std::chrono::duration<double> took = std::chrono::steady_clock::now() - begin;
  std::printf("\nVerdict: PASSED. %llu operations, %llu octets compared and all as sent, in %.2f s.\n",
              static_cast<unsigned long long>(score->operations), static_cast<unsigned long long>(score->octets),
              took.count());
  const std::string capture = shown_text(global.pcap);
  std::printf("Look at it: weft dissect --overview %s\n", capture.c_str());
  std::printf("or with:    wireshark -o tcp.try_heuristic_first:TRUE %s\n", capture.c_str());
  std::printf(
      "(tshark -r takes the same option, which keeps a port that Wireshark knows from being taken for it;\n"
      "docs/tshark.md says more.)\n");
  return {};
}

}  // namespace

void add_demo_command(CLI::App& app, Selection& selection) {
  CLI::App* command = app.add_subcommand("demo", kDemoDescription);
  command->footer(kDemoFooter);
  const auto arguments = std::make_shared<DemoArguments>();
  command->add_option("--mpa-rev", arguments->mpa_revision, "MPA revision of the startup: 1 or 2")
      ->type_name("REV")
      ->capture_default_str()
      ->check(CLI::Range(1, 2));
  command->add_flag("--no-crc", arguments->no_crc, "Turn CRCs off");
  command->add_flag("--markers", arguments->markers, "Use MPA Markers in both directions");
  add_policy_option_of_both_ends(*command, arguments->policy);
  command->callback([arguments, &selection] {
    selection.run = [arguments](const GlobalOptions& global) { return run(*arguments, global); };
  });
}

}  // namespace weft::tools
