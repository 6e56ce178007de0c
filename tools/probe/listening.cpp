// SPDX-License-Identifier: Apache-2.0
#include "tools/probe/listening.hpp"

#include <fmt/format.h>

#include <cstdio>

#include "probe/socket.hpp"
#include "probe/way_listening.hpp"
#include "probe/way_profile.hpp"
#include "tools/cli/checks.hpp"
#include "tools/cli/interruption.hpp"
#include "tools/cli/standard_output.hpp"
#include "tools/probe/started_process.hpp"

namespace weft::tools::probing {
namespace {

constexpr const char* kRunHelp =
    "With --listen: the command that starts the peer. {host} and {port} become the address of the prober. Words are "
    "separated by blanks and can be quoted; no shell is used. Profile weft: started once; other profiles: started for "
    "each connection and ended with it";

std::string with(std::string word, const std::string& name, const std::string& value) {
  for (auto at = word.find(name); at != std::string::npos; at = word.find(name, at + value.size()))
    word.replace(at, name.size(), value);
  return word;
}

}  // namespace

void add_listen_options(CLI::App& app, ListenArguments& arguments) {
  app.add_option("--listen", arguments.at, "Accept connections from the peer here, instead of connecting to it")
      ->type_name("[ADDR:]PORT");
  app.add_option(
         "--from", arguments.from,
         "With --listen: the address of the peer; connections from other addresses are reset (default: the first "
         "one that connects)")
      ->type_name("ADDR");
  app.add_option("--run", arguments.run, kRunHelp)->type_name("CMD");
  app.add_flag("--show-output", arguments.show, "With --run: copy the peer's output to stderr");
}

Outcome<std::unique_ptr<probe::Way>> way_by(const ListenArguments& arguments, const std::string& profile,
                                            const std::optional<probe::Profile>& own, const std::string& target) {
  if (!target.empty())
    return usage_error("--listen cannot be used with the endpoint '" + target + "': the peer connects.");
  const bool port_alone = arguments.at.find(':') == std::string::npos;
  const std::string text = port_alone ? "127.0.0.1:" + arguments.at : arguments.at;
  const auto endpoint = transport::Endpoint::parse(text);
  if (!endpoint) return usage_error("'" + arguments.at + "': " + std::string(transport::describe(endpoint.error())));
  std::optional<transport::Address> from;
  if (!arguments.from.empty()) {
    const auto address = transport::Address::parse(arguments.from);
    if (!address)
      return usage_error("--from '" + arguments.from + "': " + std::string(transport::describe(address.error())));
    if (address->family != endpoint->address.family)
      return usage_error("--from '" + arguments.from + "' and --listen '" + text +
                         "' must have the same address family.");
    from = *address;
  }
  auto words = words_of(arguments.run);
  if (!words) return std::unexpected(words.error());
  auto socket = probe::ListeningSocket::open(*endpoint, from);
  if (!socket) return failure(socket.error() + ".");
  probe::Listening listening{.socket = std::move(*socket)};
  listening.stopped = interrupted;
  const transport::Endpoint at = listening.socket->local();
  const std::string place = at.to_string();
  if (!words->empty()) {
    for (std::string& word : *words)
      word = with(with(word, "{host}", at.address.to_string()), "{port}", std::to_string(at.port));
    listening.start = [words = *words, show = arguments.show] { return start_process(words, show); };
  } else {
    listening.tell_waiting = [place, number = 0]() mutable {
      print_error(fmt::format("waiting at {} for connection {} of the peer", place, ++number));
    };
    if (profile == "weft") print_error(fmt::format("waiting at {} for a weft probe-peer", place));
  }
  if (own) {
    listening.leaves_first = probe::first_is_the_peers(*own);
    auto way = probe::way_by_profile(profile, *own, probe::way_from_peer("raw", std::move(listening)));
    way->place = place;
    return way;
  }
  auto way = probe::way_from_peer(profile, std::move(listening));
  if (!way) return usage_error("--profile: there is no profile '" + profile + "'.");
  way->place = place;
  return way;
}

}  // namespace weft::tools::probing
