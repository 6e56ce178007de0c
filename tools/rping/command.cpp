// SPDX-License-Identifier: Apache-2.0
// The command line of `weft rping`.
#include <cstdio>
#include <map>
#include <memory>
#include <string>

#include "tools/cli/checks.hpp"
#include "tools/cli/command.hpp"
#include "tools/cli/policy_option.hpp"
#include "tools/rping/client.hpp"
#include "tools/rping/server.hpp"

namespace weft::tools {
namespace {

constexpr const char* kRpingDescription =
    "Runs an RDMA ping-pong, compatible with rdma-core's rping\n"
    "Either end can be the stock tool. For each ping the client advertises a buffer; the server fetches the text with "
    "an RDMA Read and returns it with an RDMA Write.";

constexpr const char* kRpingFooter =
    "Examples:\n"
    "  weft rping -s -a 127.0.0.1 -v                     serve one client and show its pings\n"
    "  weft rping -s -a ::0 -P                           serve any number of clients, IPv4 and IPv6\n"
    "  weft rping -c -a 127.0.0.1 -C 5 -S 4096 -v -V     send five pings of 4096 octets and check them\n"
    "  weft rping -c -a ::1 -C 1 --mpa-rev 1 --markers   use the MPA startup of RFC 5044\n"
    "\n"
    "stdout has the lines of the stock tool; the listening address and a summary go to stderr. ^C or SIGTERM ends "
    "either end after the current ping; a second one ends it at once.\n"
    "\n"
    "Exit codes: 0 all pings were answered, or ^C came after the first one (-s -P: at any time), 1 failure, 2 wrong "
    "command line.";

// What the command line says, before it makes sense.
struct RpingArguments {
  bool server{};
  bool client{};
  bool self_created_queue_pair{};
  bool no_crc{};
  bool markers{};
  std::string address{};
  std::string source{};
  std::uint32_t port = 7174;
  std::uint32_t mpa_revision = 2;
  std::string rtr{};
  std::string policy{};
  rping::Options options{};
};

void add_stock_options(CLI::App& app, RpingArguments& arguments) {
  rping::Options& options = arguments.options;
  app.add_flag("-s", arguments.server, "Run as the server");
  app.add_flag("-c", arguments.client, "Run as the client");
  app.add_option("-a", arguments.address,
                 "Client: the server's address or name. Server: the address to listen on (default 0.0.0.0; ::0 accepts "
                 "IPv6 and IPv4)")
      ->type_name("ADDR");
  app.add_option("-I", arguments.source, "Client: the local address to connect from")->type_name("ADDR");
  app.add_option("-p", arguments.port, "TCP port, 1 to 65535")
      ->type_name("PORT")
      ->capture_default_str()
      ->check(CLI::Range(1, 65535));
  app.add_option("-C", options.count, "Number of pings to send; 0: until interrupted")
      ->type_name("N")
      ->capture_default_str()
      ->check(CLI::Range(0, 0x7fffffff));
  app.add_option("-S", options.size, "Size of a ping in octets, 26 to 65535")
      ->type_name("SIZE")
      ->capture_default_str()
      ->check(CLI::Range(rping::kMinSize, rping::kMaxSize));
  app.add_flag("-v", options.verbose, "Show the text of each ping");
  app.add_flag("-V", options.validate, "Check every octet of each ping (works at both ends)");
  app.add_flag("-P", options.persistent, "Server: serve any number of clients at a time until ^C or SIGTERM");
  app.add_flag("-d", options.debug, "Print debug messages for each step");
  app.add_flag("-q", arguments.self_created_queue_pair, "Accepted for compatibility; has no effect");
}

void add_protocol_options(CLI::App& app, RpingArguments& arguments) {
  app.add_option("--mpa-rev", arguments.mpa_revision, "MPA revision to request, or the highest to accept: 1 or 2")
      ->type_name("REV")
      ->capture_default_str()
      ->check(CLI::Range(1, 2));
  app.add_flag("--no-crc", arguments.no_crc, "Do not request CRCs; they are still used if the peer requests them");
  app.add_flag("--markers", arguments.markers, "Request MPA Markers from the peer");
  app.add_option(
         "--rtr", arguments.rtr,
         "Ready-to-receive message of peer-to-peer mode (RFC 6581): send, write, read or none. Client: the one to "
         "offer (default none). Server: the one to accept (default any); none rejects clients that ask for one")
      ->type_name("KIND")
      ->check(CLI::IsMember({"send", "write", "read", "none"}));
  add_policy_option(app, arguments.policy, "Policy for every connection");
  app.add_option("--max-clients", arguments.options.max_clients,
                 "Server with -P: maximum number of clients at a time; more are rejected")
      ->type_name("N")
      ->capture_default_str()
      ->check(CLI::Range(1, 65535));
  app.add_option("--ird", arguments.options.ird,
                 "Maximum number of concurrent inbound RDMA Reads, 0 to 128 (client: default 1)")
      ->type_name("N")
      ->check(CLI::Range(0, 128));
  app.add_option("--ord", arguments.options.ord,
                 "Maximum number of concurrent outbound RDMA Reads, 0 to 128 (client: default 1)")
      ->type_name("N")
      ->check(CLI::Range(0, 128));
}

verbs::Policy policy_from(const RpingArguments& arguments) {
  verbs::Policy policy;
  policy.startup.mpa_revision = static_cast<std::uint8_t>(arguments.mpa_revision);
  policy.startup.crc = !arguments.no_crc;
  policy.startup.markers = arguments.markers;
  const bool any = arguments.rtr.empty();
  policy.startup.rtr = {.send = any || arguments.rtr == "send",
                        .write = any || arguments.rtr == "write",
                        .read = any || arguments.rtr == "read"};
  policy.startup.peer_to_peer = arguments.client && !any && arguments.rtr != "none";
  return policy;
}

Outcome<void> check_roles(const RpingArguments& arguments) {
  if (arguments.server == arguments.client) return usage_error("choose either -s (server) or -c (client).");
  if (arguments.client && arguments.address.empty()) return usage_error("-c needs -a ADDR, the server's address.");
  if (arguments.server && !arguments.source.empty())
    return usage_error("-I works only with -c; a server listens on -a ADDR.");
  if (arguments.client && arguments.mpa_revision == 1 && !arguments.rtr.empty() && arguments.rtr != "none") {
    return usage_error("--rtr " + arguments.rtr + " needs --mpa-rev 2: revision 1 has no ready-to-receive message.");
  }
  return {};
}

Outcome<void> run(RpingArguments& arguments, const GlobalOptions& global) {
  if (auto good = check_roles(arguments); !good) return good;
  const auto port = static_cast<std::uint16_t>(arguments.port);
  auto address = look_up("-a", arguments.address.empty() ? "0.0.0.0" : arguments.address, port);
  if (!address) return std::unexpected(address.error());
  rping::Options& options = arguments.options;
  if (arguments.client && options.persistent) {  // as the stock tool does; but it does not say so
    std::fprintf(stderr, "weft rping: -P is for the server (-s) and is ignored.\n");
  }
  options.server = arguments.server;
  options.address = *address;
  if (!arguments.source.empty()) {
    auto source = look_up("-I", arguments.source, 0);
    if (!source) return std::unexpected(source.error());
    options.source = *source;
  }
  const auto policy = read_policy(arguments.policy, policy_from(arguments));
  if (!policy) return std::unexpected(policy.error());
  options.policy = *policy;
  if (auto capturing = start_capture(global); !capturing) return capturing;
  std::setvbuf(stdout, nullptr, _IOLBF, 0);  // each ping is seen when it happens, also through a pipe
  return options.server ? rping::run_server(options) : rping::run_client(options);
}

}  // namespace

void add_rping_command(CLI::App& app, Selection& selection) {
  CLI::App* command = app.add_subcommand("rping", kRpingDescription);
  command->footer(kRpingFooter);
  const auto arguments = std::make_shared<RpingArguments>();
  add_stock_options(*command, *arguments);
  add_protocol_options(*command, *arguments);
  command->callback([arguments, &selection] {
    selection.run = [arguments](const GlobalOptions& global) { return run(*arguments, global); };
  });
}

}  // namespace weft::tools
