// SPDX-License-Identifier: Apache-2.0
#include "transport/tls/tickets.hpp"

#include <openssl/ssl.h>

#include <algorithm>
#include <array>
#include <ctime>
#include <iterator>
#include <new>
#include <ranges>
#include <utility>

#include "transport/tls/expectation.hpp"
#include "transport/tls/ticket_end.hpp"

namespace weft::transport::tls {
namespace {

// A peer that shows no certificate has none that could have ended.
bool is_of_its_time(SSL_SESSION* session) noexcept {
  const auto end = end_of_tickets(*session);
  if (end && *end <= ::time(nullptr)) return false;
  const X509* const certificate = SSL_SESSION_get0_peer(session);
  return certificate == nullptr || judge_time_of(*certificate) == X509_V_OK;
}

}  // namespace

// One a connection, as it is used once.
void Tickets::serve(SSL_CTX& context) noexcept {
  static constexpr std::array<unsigned char, 4> kName{'w', 'e', 'f', 't'};
  SSL_CTX_set_app_data(&context, this);
  SSL_CTX_set_session_id_context(&context, kName.data(), kName.size());
  SSL_CTX_set_session_cache_mode(&context, SSL_SESS_CACHE_BOTH | SSL_SESS_CACHE_NO_INTERNAL);
  SSL_CTX_set_timeout(&context, static_cast<long>(kLifetime.count()));
  SSL_CTX_set_num_tickets(&context, 1);
  SSL_CTX_sess_set_new_cb(&context, take);
  SSL_CTX_sess_set_get_cb(&context, find);
}

// OpenSSL's word for tickets that are sealed. Of TLS 1.3 it leaves those that are numbers.
void Tickets::give(SSL& ssl) noexcept { SSL_set_options(&ssl, SSL_OP_NO_TICKET); }

void Tickets::offer(SSL& ssl, const Socket& socket) noexcept {
  SSL_set_app_data(&ssl, const_cast<Socket*>(&socket));
  const auto peer = socket.peer();
  const auto session = peer ? newest_of(*peer) : nullptr;
  if (session && is_of_its_time(session.get())) SSL_set_session(&ssl, session.get());
}

// OpenSSL has a ticket, ours for a peer or a peer's for us. A copy is kept: it spoils its own where a connection ends
// without close_notify. 0: that stays with it.
int Tickets::take(SSL* ssl, SSL_SESSION* session) noexcept {
  auto* const self = static_cast<Tickets*>(SSL_CTX_get_app_data(SSL_get_SSL_CTX(ssl)));
  SessionCopy copy(SSL_SESSION_dup(session));
  if (!copy) return 0;
  try {
    if (SSL_is_server(ssl) == 1) return self->given_.keep(std::move(copy)), 0;
    const auto peer = static_cast<const Socket*>(SSL_get_app_data(ssl))->peer();
    if (peer) self->keep(*peer, std::move(copy));
  } catch (const std::bad_alloc&) {
    // The next connection makes a whole handshake.
  }
  return 0;
}

// What a ticket that a peer shows stands for. Null: a whole handshake follows.
SSL_SESSION* Tickets::find(SSL* ssl, const unsigned char* id, int octets, int* shared) noexcept {
  auto* const self = static_cast<Tickets*>(SSL_CTX_get_app_data(SSL_get_SSL_CTX(ssl)));
  SessionCopy session = self->given_.take({id, static_cast<std::size_t>(octets)});
  *shared = 0;
  return session && is_of_its_time(session.get()) ? session.release() : nullptr;
}

void Tickets::keep(const Endpoint& peer, SessionCopy session) {
  const std::lock_guard lock(mutex_);
  tickets_.push_back({peer, std::move(session)});
  if (tickets_.size() > kMost) tickets_.pop_front();
}

SessionCopy Tickets::newest_of(const Endpoint& peer) noexcept {
  const std::lock_guard lock(mutex_);
  const auto found = std::ranges::find(tickets_ | std::views::reverse, peer, &Ticket::peer);
  if (found == tickets_.rend()) return nullptr;
  SessionCopy session = std::move(found->session);
  tickets_.erase(std::next(found).base());
  return session;
}

}  // namespace weft::transport::tls
