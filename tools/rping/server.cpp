// SPDX-License-Identifier: Apache-2.0
#include "tools/rping/server.hpp"

#include <atomic>
#include <list>
#include <string>
#include <thread>

#include "tools/cli/interruption.hpp"
#include "tools/cli/standard_output.hpp"
#include "tools/rping/echo.hpp"
#include "tools/rping/tally.hpp"

namespace weft::tools::rping {
namespace {

// A thread per client; those that have ended are collected when the next one comes.
class ClientThreads {
 public:
  ClientThreads(const Options& options, Tally& total) : options_(options), total_(total) {}

  void start(verbs::ConnectionId request) {
    clients_.remove_if([](const Client& client) { return client.ended.load(); });
    if (clients_.size() >= options_.max_clients) {  // dropping the request rejects it
      std::fprintf(stderr, "weft rping: client %s: rejected, for %u others are being served.\n",
                   request.remote_address().to_string().c_str(), options_.max_clients);
      return;
    }
    Client& client = clients_.emplace_back();
    client.thread = std::jthread([this, &client, request = std::move(request)]() mutable {
      serve(std::move(request));
      client.ended = true;
    });
  }

 private:
  struct Client {
    std::atomic<bool> ended = false;
    std::jthread thread{};
  };

  // What goes wrong with one client is no reason to stop serving the others.
  void serve(verbs::ConnectionId request) const {
    const std::string peer = request.remote_address().to_string();
    Tally tally;
    const auto served = serve_client(options_, std::move(request), tally);
    if (tally.clients > 0) say("client " + peer + ": " + tally_text(tally, options_));
    if (!served) print_error("weft rping: client " + peer + ": " + served.error().sentence);
    total_.add(tally);
  }

  const Options& options_;
  Tally& total_;
  std::list<Client> clients_{};
};

// Until the process is asked to end: that is how a persistent server ends, and no failure.
Outcome<void> serve_many(const Options& options, Listener& listener, Tally& total) {
  ClientThreads threads(options, total);
  while (!interrupted()) {
    auto event = listener.next_request();
    if (event) {
      threads.start(std::move(*event->request));
    } else if (event.error().code != ExitCode::kInterrupted) {
      return std::unexpected(event.error());
    }
  }
  return {};  // once the threads have ended
}

Outcome<void> serve_one(const Options& options, Listener& listener, Tally& total) {
  auto event = listener.next_request();
  if (!event) return verdict(std::unexpected(event.error()), total);
  return verdict(serve_client(options, std::move(*event->request), total), total);
}

}  // namespace

Outcome<void> run_server(const Options& options) {
  if (auto caught = catch_interruptions(); !caught) return caught;
  auto listener = Listener::open(options.address, options.policy);
  if (!listener) return std::unexpected(listener.error());
  const std::string where = "listening on " + listener->local().to_string();
  options.trace(where);
  say(where + (options.persistent ? " until ^C" : " for one client (-P: for any number)"));
  Tally total;
  const auto served = options.persistent ? serve_many(options, *listener, total) : serve_one(options, *listener, total);
  say(server_tally_text(total, options));
  return served;
}

}  // namespace weft::tools::rping
