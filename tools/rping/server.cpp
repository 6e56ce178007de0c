// SPDX-License-Identifier: Apache-2.0
#include "tools/rping/server.hpp"

#include <atomic>
#include <list>
#include <string>
#include <thread>

#include "tools/rping/echo.hpp"

namespace weft::tools::rping {
namespace {

// A thread per client; those that have ended are collected when the next one comes.
class ClientThreads {
 public:
  explicit ClientThreads(const Options& options) : options_(options) {}

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
    const auto served = serve_client(options_, std::move(request));
    if (!served) std::fprintf(stderr, "weft rping: client %s: %s\n", peer.c_str(), served.error().sentence.c_str());
  }

  const Options& options_;
  std::list<Client> clients_{};
};

}  // namespace

Outcome<void> run_server(const Options& options) {
  auto listener = Listener::open(options.address, options.policy);
  if (!listener) return std::unexpected(listener.error());
  options.trace("listening on " + listener->local().to_string());
  ClientThreads threads(options);
  for (;;) {
    auto event = listener->next_request();
    if (!event) return std::unexpected(event.error());
    if (!options.persistent) return serve_client(options, std::move(*event->request));
    threads.start(std::move(*event->request));
  }
}

}  // namespace weft::tools::rping
