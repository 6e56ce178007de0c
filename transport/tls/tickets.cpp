// SPDX-License-Identifier: Apache-2.0
#include "transport/tls/tickets.hpp"

#include <openssl/ssl.h>

#include <algorithm>
#include <array>
#include <iterator>
#include <new>
#include <ranges>
#include <utility>

#include "transport/tls/expectation.hpp"

namespace weft::transport::tls {
namespace {

// A peer that shows no certificate has none that could have ended.
bool is_of_its_time(SSL_SESSION* session) noexcept {
  const X509* const certificate = SSL_SESSION_get0_peer(session);
  return certificate == nullptr || judge_time_of(*certificate) == X509_V_OK;
}

// What a listener makes of a ticket. Whatever is wrong with it, a whole handshake follows.
SSL_TICKET_RETURN judge(SSL*, SSL_SESSION* session, const unsigned char*, std::size_t, SSL_TICKET_STATUS status,
                        void*) noexcept {
  const bool opened = status == SSL_TICKET_SUCCESS || status == SSL_TICKET_SUCCESS_RENEW;
  return opened && is_of_its_time(session) ? SSL_TICKET_RETURN_USE_RENEW : SSL_TICKET_RETURN_IGNORE_RENEW;
}

}  // namespace

void Tickets::Free::operator()(SSL_SESSION* session) const noexcept { SSL_SESSION_free(session); }

// A listener keeps nothing: the ticket holds all, sealed with a key that the context has made. It is one a connection, as
// it is used once.
void Tickets::serve(SSL_CTX& context) noexcept {
  static constexpr std::array<unsigned char, 4> kName{'w', 'e', 'f', 't'};
  SSL_CTX_set_app_data(&context, this);
  SSL_CTX_set_session_id_context(&context, kName.data(), kName.size());
  SSL_CTX_set_session_cache_mode(&context, SSL_SESS_CACHE_CLIENT | SSL_SESS_CACHE_NO_INTERNAL);
  SSL_CTX_set_timeout(&context, static_cast<long>(kLifetime.count()));
  SSL_CTX_set_num_tickets(&context, 1);
  SSL_CTX_set_session_ticket_cb(&context, nullptr, judge, nullptr);
  SSL_CTX_sess_set_new_cb(&context, take);
}

void Tickets::offer(SSL& ssl, const Socket& socket) noexcept {
  SSL_set_app_data(&ssl, const_cast<Socket*>(&socket));
  const auto peer = socket.peer();
  const auto session = peer ? newest_of(*peer) : nullptr;
  if (session && is_of_its_time(session.get())) SSL_set_session(&ssl, session.get());
}

// OpenSSL has one for us. A copy is kept: it spoils its own where a connection ends without close_notify. 0: that stays with it.
int Tickets::take(SSL* ssl, SSL_SESSION* session) noexcept {
  auto* const self = static_cast<Tickets*>(SSL_CTX_get_app_data(SSL_get_SSL_CTX(ssl)));
  const auto peer = static_cast<const Socket*>(SSL_get_app_data(ssl))->peer();
  Session copy(SSL_SESSION_dup(session));
  if (!peer || !copy) return 0;
  try {
    self->keep(*peer, std::move(copy));
  } catch (const std::bad_alloc&) {
    // The next connection makes a whole handshake.
  }
  return 0;
}

void Tickets::keep(const Endpoint& peer, Session session) {
  const std::lock_guard lock(mutex_);
  tickets_.push_back({peer, std::move(session)});
  if (tickets_.size() > kMost) tickets_.pop_front();
}

Tickets::Session Tickets::newest_of(const Endpoint& peer) noexcept {
  const std::lock_guard lock(mutex_);
  const auto found = std::ranges::find(tickets_ | std::views::reverse, peer, &Ticket::peer);
  if (found == tickets_.rend()) return nullptr;
  Session session = std::move(found->session);
  tickets_.erase(std::next(found).base());
  return session;
}

}  // namespace weft::transport::tls
