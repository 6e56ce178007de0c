// SPDX-License-Identifier: Apache-2.0
// Shared memory in place of TCP (StartupPolicy::same_host): what an initiator offers, and what a listener makes of it.
#include <memory>
#include <mutex>
#include <system_error>
#include <utility>

#include "transport/same_host/session.hpp"
#include "verbs/connecting/connection_state.hpp"
#include "verbs/connecting/offers.hpp"
#include "verbs/log/log.hpp"

namespace weft::verbs::detail {

namespace {

// As far as two addresses show it: one host has both. A listener at another address of this host is not found.
bool are_of_one_host(const Address& one, const Address& other) noexcept {
  return one == other || (one.is_loopback() && other.is_loopback());
}

}  // namespace

// --- Active side

// Null where the octets go through TCP; an error if the policy refuses that. Only the address of this host leads back
// to it.
std::expected<std::unique_ptr<transport::same_host::Session>, std::error_code> ConnectionState::offer(
    const transport::Socket& socket) {
  bool required = false;
  {
    const std::lock_guard lock(mutex_);
    const auto wanted = policy_->startup.same_host;
    if (wanted == SameHost::kOff || policy_->tls.mode == Tls::kRequire) return nullptr;
    required = wanted == SameHost::kRequire;
    if (attempt_ && attempt_->by_tcp && !required) return nullptr;
  }
  const auto local = socket.local();
  const auto remote = socket.peer();
  std::error_code why = std::make_error_code(std::errc::address_not_available);
  if (local && remote && are_of_one_host(local->address, remote->address)) {
    auto offered = transport::same_host::Session::offer(*local, *remote);
    if (offered) return offered;
    why = offered.error();
  }
  const bool is_none = why == std::errc::address_not_available || why == std::errc::connection_refused;
  // ECONNREFUSED would say that there is no listener.
  if (required) return std::unexpected(is_none ? std::make_error_code(std::errc::operation_not_supported) : why);
  if (!is_none) {  // the peer may be a weft
    log_connection(LogLevel::kInfo, number, [&] { return "its octets go through TCP: " + why.message(); });
  }
  return nullptr;
}

// The peer let go of the rings, and not of the TCP connection. True: as will_retry().
bool ConnectionState::will_retry_by_tcp() {
  const std::lock_guard lock(mutex_);
  const bool possible = policy_->startup.same_host == SameHost::kOn;
  if (!possible || phase_ != Phase::kConnecting || attempt_->by_tcp) return false;
  return attempt_->by_tcp = attempt_->retrying = true;
}

// --- Passive side

// Without it, peers find nobody to offer anything to.
void ConnectionState::listen_for_offers(int backlog, bool takes_ipv4) {
  std::shared_ptr<Offers> offers;
  Endpoint local;
  {
    const std::lock_guard lock(mutex_);
    if (policy_->startup.same_host == SameHost::kOff || policy_->tls.mode != Tls::kOff) return;
    offers = listening_->offers = std::make_shared<Offers>(runtime_, listening_->backlog, next_connection_number());
    local = addresses_.local();
  }
  const auto families = takes_ipv4 ? transport::same_host::Families::kBoth : transport::same_host::Families::kItsOwn;
  if (const auto error = offers->listen(number, local, backlog, families))
    log_connection(LogLevel::kInfo, number, [&] { return "offers no shared memory: " + error.message(); });
}

std::shared_ptr<Offers> ConnectionState::offers() const {
  const std::lock_guard lock(mutex_);
  return listening_ ? listening_->offers : nullptr;
}

// Refuses the offer for a responder that is reset before its Request: an offer that comes now would wait in
// vain.
void ConnectionState::refuse_offer() {
  std::shared_ptr<Backlog> place;
  {
    const std::lock_guard lock(mutex_);
    place = incoming_.place;
  }
  const auto listener = place ? place->listener.lock() : nullptr;
  const auto offers = listener ? listener->offers() : nullptr;
  if (offers) offers->refuse(path());
}

void ConnectionState::share(std::unique_ptr<transport::same_host::Session>& shared) {
  std::shared_ptr<Stream> stream;
  {
    const std::lock_guard lock(mutex_);
    if (phase_ == Phase::kIncoming && policy_->startup.same_host != SameHost::kOff) stream = stream_;
  }
  if (!stream) return;
  incoming_.shared = true;
  if (!stream->share(shared)) incoming_.shared = false;
}

}  // namespace weft::verbs::detail
