// SPDX-License-Identifier: Apache-2.0
// The command line of `weft probe-peer`.
#include <memory>
#include <string>

#include "tools/cli/checks.hpp"
#include "tools/cli/command.hpp"
#include "tools/cli/policy_option.hpp"
#include "tools/probe_peer/peer.hpp"

namespace weft::tools {
namespace {

constexpr const char* kPeerDescription =
    "Runs the test peer for weft probe --profile weft\n"
    "The peer offers memory with every combination of rights, windows, shared receives and atomics, executes the "
    "prober's commands, and reports what it received. It is for tests only: any peer can write to the memory that it "
    "offers.";

constexpr const char* kPeerFooter =
    "Examples:\n"
    "  weft probe-peer -s -a 127.0.0.1 -p 4420           listen for weft probe\n"
    "  weft probe-peer -s -a ::1 -p 0                    listen on a free port and print it\n"
    "  weft probe-peer -c -a 127.0.0.1 -p 4420           connect to a weft probe --listen\n"
    "  weft probe-peer -s --policy markers=on,crc=off    request other startup options\n"
    "\n"
    "Exit codes: 0 ended by ^C or SIGTERM, after --connections connections, or (-c) after several refused connections; "
    "1 failure, 2 wrong command line.";

struct PeerArguments {
  bool listens{};
  bool connects{};
  std::string address{};
  std::uint32_t port = 4420;
  std::string policy{};
  probe_peer::Options options{};
};

Outcome<void> run_peer(PeerArguments& arguments, const GlobalOptions& global) {
  if (arguments.listens == arguments.connects) return usage_error("choose either -s (listen) or -c (connect).");
  if (arguments.connects && arguments.address.empty())
    return usage_error("-c needs -a ADDR, the address of the prober.");
  if (arguments.connects && arguments.port == 0) return usage_error("-c needs a port other than 0.");
  const std::string host = arguments.address.empty() ? "127.0.0.1" : arguments.address;
  const auto address = look_up("-a", host, static_cast<std::uint16_t>(arguments.port));
  if (!address) return std::unexpected(address.error());
  // A Send without a receive ends the stream after a second, and not after thirty: RFC 5041 section 7.1 leaves it open.
  const auto policy = read_policy(arguments.policy, {.timeouts = {.no_receive = std::chrono::seconds(1)}});
  if (!policy) return std::unexpected(policy.error());
  if (auto capturing = start_capture(global); !capturing) return capturing;
  arguments.options.connects = arguments.connects;
  arguments.options.address = *address;
  arguments.options.policy = *policy;
  return probe_peer::run(arguments.options);
}

}  // namespace

void add_probe_peer_command(CLI::App& app, Selection& selection) {
  auto arguments = std::make_shared<PeerArguments>();
  CLI::App* peer = app.add_subcommand("probe-peer", kPeerDescription);
  peer->footer(kPeerFooter);
  peer->add_flag("-s", arguments->listens, "Listen and serve any number of connections");
  peer->add_flag("-c", arguments->connects, "Connect repeatedly until several connections in a row are refused");
  peer->add_option("-a", arguments->address, "Address to listen on (default 127.0.0.1) or to connect to")
      ->type_name("ADDR");
  peer->add_option("-p", arguments->port, "TCP port; -s accepts 0 for a free port")
      ->type_name("PORT")
      ->capture_default_str()
      ->check(CLI::Range(0, 65535));
  peer->add_option("--parallel", arguments->options.parallel, "-c: number of parallel connections")
      ->type_name("N")
      ->capture_default_str()
      ->check(CLI::Range(1, 256));
  peer->add_option("--connections", arguments->options.connections, "-c: total number of connections; 0: no limit")
      ->type_name("N")
      ->capture_default_str();
  peer->add_flag("--chatty", arguments->options.chatty,
                 "Also send Sends, empty RDMA Writes and empty RDMA Reads that no one asked for, as any peer may");
  add_policy_option(*peer, arguments->policy, "Policy for every connection");
  peer->callback([&selection, arguments] {
    selection.run = [arguments](const GlobalOptions& global) { return run_peer(*arguments, global); };
  });
}

}  // namespace weft::tools
