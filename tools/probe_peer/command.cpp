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
    "The peer that `weft probe --profile weft` talks to. It offers memory with every combination of rights, windows, "
    "shared receives and atomics, does what it is told, and reports what came. It is for tests: any peer may write to "
    "the memory that it offers.";

constexpr const char* kPeerFooter =
    "Examples:\n"
    "  weft probe-peer -s -a 127.0.0.1 -p 4420          listen for weft probe\n"
    "  weft probe-peer -s -a ::1 -p 0                   on a free port, which it prints\n"
    "  weft probe-peer -c -a 127.0.0.1 -p 4420          connect to where weft probe listens\n"
    "  weft probe-peer -s --policy markers=on,crc=off   with other wishes at the start-up\n"
    "\n"
    "Exit codes: 0 ^C or SIGTERM ended it, or all of --connections are over, or (-c) connecting was\n"
    "refused several times; 1 something failed, 2 the command line was wrong.";

struct PeerArguments {
  bool listens{};
  bool connects{};
  std::string address{};
  std::uint32_t port = 4420;
  std::string policy{};
  probe_peer::Options options{};
};

Outcome<void> run_peer(PeerArguments& arguments, const GlobalOptions& global) {
  if (arguments.listens == arguments.connects) return usage_error("say either -s (listen) or -c (connect).");
  if (arguments.connects && arguments.address.empty())
    return usage_error("-c needs -a ADDR, where the prober listens.");
  if (arguments.connects && arguments.port == 0) return usage_error("-c needs a port, and 0 is none.");
  const std::string host = arguments.address.empty() ? "127.0.0.1" : arguments.address;
  const auto address = look_up("-a", host, static_cast<std::uint16_t>(arguments.port));
  if (!address) return std::unexpected(address.error());
  // A Send without a receive ends the stream after a second, and not after thirty: RFC 5041 section 7.1 leaves it open.
  const auto policy = read_policy(arguments.policy, {.no_receive_timeout = std::chrono::seconds(1)});
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
  peer->add_flag("-s", arguments->listens, "Listen, and serve any number of connections");
  peer->add_flag("-c", arguments->connects, "Connect, again and again, until that is refused several times");
  peer->add_option("-a", arguments->address, "Where to listen (default 127.0.0.1), or to connect to")
      ->type_name("ADDR");
  peer->add_option("-p", arguments->port, "TCP port; -s takes 0 for a free one")
      ->type_name("PORT")
      ->capture_default_str()
      ->check(CLI::Range(0, 65535));
  peer->add_option("--parallel", arguments->options.parallel, "-c: connections at a time")
      ->type_name("N")
      ->capture_default_str()
      ->check(CLI::Range(1, 256));
  peer->add_option("--connections", arguments->options.connections, "-c: how many in all; 0 goes on")
      ->type_name("N")
      ->capture_default_str();
  add_policy_option(*peer, arguments->policy, "Policy of every connection");
  peer->callback([&selection, arguments] {
    selection.run = [arguments](const GlobalOptions& global) { return run_peer(*arguments, global); };
  });
}

}  // namespace weft::tools
