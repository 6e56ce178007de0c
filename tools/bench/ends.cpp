// SPDX-License-Identifier: Apache-2.0
#include "tools/bench/ends.hpp"

#include "tools/bench/policy.hpp"

namespace weft::tools::bench {
namespace {

Protection protection_of(Transport transport) {
  if (transport == Transport::kOpenSsl) return Protection::kOpenSsl;
  return transport == Transport::kOpenSslResumed ? Protection::kOpenSslResumed : Protection::kNone;
}

Options options_for(const Options& options, Transport transport) {
  return transport == Transport::kPlain ? without_tls(options) : options;
}

}  // namespace

Outcome<Listeners> Listeners::open(const Options& options) {
  Listeners listeners(options);
  for (const Transport transport : kTransports) {
    if (!takes_part(options, transport)) continue;
    if (auto listens = listeners.listen_for(transport); !listens) return std::unexpected(listens.error());
  }
  return listeners;
}

Outcome<void> Listeners::listen_for(Transport transport) {
  One& one = all_[std::to_underlying(transport)];
  if (is_weft(transport)) {
    auto listener = WeftListener::open(options_for(options_, transport));
    if (!listener) return std::unexpected(listener.error());
    one.weft.emplace(std::move(*listener));
    return {};
  }
  auto listener = tcp_listen_on_loopback(tcp_settings(options_));
  if (!listener) return std::unexpected(listener.error());
  one.tcp.emplace(std::move(*listener));
  return {};
}

Ports Listeners::ports() const {
  Ports ports;
  for (std::size_t i = 0; i < all_.size(); ++i) {
    if (all_[i].weft) ports.of[i] = all_[i].weft->port();
    if (all_[i].tcp) ports.of[i] = all_[i].tcp->port;
  }
  return ports;
}

Outcome<std::unique_ptr<Endpoint>> Listeners::accept(Transport transport) {
  One& one = all_[std::to_underlying(transport)];
  if (one.weft) return one.weft->accept();
  return tcp_accept_all(std::move(*one.tcp), options_, protection_of(transport));
}

Outcome<Ends> Listeners::accept_all() {
  Ends ends;
  for (const Transport transport : kTransports) {
    if (!takes_part(options_, transport)) continue;
    auto end = accept(transport);
    if (!end) return std::unexpected(end.error());
    ends.add(transport, std::move(*end));
  }
  return ends;
}

Outcome<Ends> connect_all(const Options& options, const Ports& ports) {
  Ends ends;
  for (const Transport transport : kTransports) {
    if (!takes_part(options, transport)) continue;
    const std::uint16_t port = ports.of[std::to_underlying(transport)];
    auto end = is_weft(transport) ? weft_connect(options_for(options, transport), port)
                                  : tcp_connect_all(port, options, protection_of(transport));
    if (!end) return std::unexpected(end.error());
    ends.add(transport, std::move(*end));
  }
  return ends;
}

}  // namespace weft::tools::bench
