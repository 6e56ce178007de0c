// SPDX-License-Identifier: Apache-2.0
#include "transport/resolver.hpp"

#include <algorithm>
#include <boost/asio/ip/tcp.hpp>
#include <boost/asio/post.hpp>
#include <boost/system/system_error.hpp>
#include <cstdint>
#include <utility>

#include "common/number.hpp"
#include "transport/detail/callback_gate.hpp"
#include "transport/detail/reactor_state.hpp"

namespace weft::transport {

namespace asio = boost::asio;
using asio::ip::tcp;

namespace {

using ResolveResult = std::expected<std::vector<Endpoint>, std::error_code>;

bool is_number(const std::string& text) {
  return !text.empty() && text.find_first_not_of("0123456789") == std::string::npos;
}

// The port of a numeric or empty service.
std::expected<std::uint16_t, std::error_code> parse_port(const std::string& service) {
  if (service.empty()) return std::uint16_t{0};
  const auto port = parse_number<std::uint16_t>(service);  // getaddrinfo() would take 65616 for 80
  if (!port) return std::unexpected(std::make_error_code(std::errc::invalid_argument));
  return *port;
}

ResolveResult to_endpoints(const tcp::resolver::results_type& results) {
  std::vector<Endpoint> endpoints;
  for (const auto& entry : results) {
    const tcp::endpoint found = entry.endpoint();
    const auto endpoint = Endpoint::from_sockaddr(found.data(), found.size());
    if (endpoint && std::ranges::find(endpoints, *endpoint) == endpoints.end()) endpoints.push_back(*endpoint);
  }
  if (endpoints.empty()) return std::unexpected(std::make_error_code(std::errc::address_not_available));
  return endpoints;
}

}  // namespace

struct Resolver::State : std::enable_shared_from_this<State> {
  State(Reactor& reactor, OnDone on_done) : gate(std::move(on_done)), resolver(reactor.state().context) {}

  detail::CallbackGate<ResolveResult> gate;
  tcp::resolver resolver;

  void begin(const std::string& host, const std::string& service) {
    if (!is_number(service) && !service.empty()) return look_up(host, service);
    const auto port = parse_port(service);
    if (!port) return finish(std::unexpected(port.error()));
    const auto address = Address::parse(host);
    if (!address) return look_up(host, service);
    finish(std::vector{Endpoint{*address, *port}});
  }

  void look_up(const std::string& host, const std::string& service) {
    const auto done = [self = shared_from_this()](const boost::system::error_code& error,
                                                  const tcp::resolver::results_type& results) {
      self->finish(error ? ResolveResult(std::unexpected(std::error_code(error))) : to_endpoints(results));
    };
    auto lock = gate.lock();
    if (!gate.is_open(lock)) return;
    try {
      resolver.async_resolve(host, service, done);  // starts Asio's look-up thread the first time
    } catch (const boost::system::system_error& error) {
      gate.call(std::move(lock), std::unexpected(std::error_code(error.code())));
    }
  }

  void finish(ResolveResult result) { gate.call(gate.lock(), std::move(result)); }
};

Resolver::Resolver(Reactor& reactor, std::string host, std::string service, OnDone on_done)
    : state_(std::make_shared<State>(reactor, std::move(on_done))) {
  // In the reactor's thread, so that the look-up thread inherits its blocked signals, not the caller's.
  reactor.post([state = state_, host = std::move(host), service = std::move(service)] { state->begin(host, service); });
}

Resolver::~Resolver() {
  if (!state_) return;
  auto lock = state_->gate.lock();
  state_->resolver.cancel();
  state_->gate.close(std::move(lock));
}

Resolver::Resolver(Resolver&&) noexcept = default;

Resolver& Resolver::operator=(Resolver&& other) noexcept {
  std::swap(state_, other.state_);
  return *this;
}

}  // namespace weft::transport
