// SPDX-License-Identifier: Apache-2.0
// Resumption (RFC 8446 section 2.2): an end that connects again shows the ticket that the listener gave it, and neither
// end sends a certificate. The two make a new Diffie-Hellman exchange all the same. There is no early data.
//
// A ticket is good while its context is: with a file that has changed, such as a CRL, there is a new one. It is shown
// once (RFC 8446 appendix C.4), taken once, lives for kLifetime at most, and not longer than what the peer was believed
// for (ticket_end.hpp).
//
// A listener keeps what its tickets stand for; a ticket is a number. A sealed one would hold the peer's certificate,
// and OpenSSL 3.0 takes longer to read that from it than for all the rest of the handshake.
#pragma once

#include <chrono>
#include <cstddef>
#include <deque>
#include <memory>
#include <mutex>

#include "transport/endpoint.hpp"
#include "transport/socket.hpp"
#include "transport/tls/sessions_given.hpp"

struct ssl_ctx_st;
struct ssl_session_st;
struct ssl_st;

namespace weft::transport::tls {

// The session tickets of one context: those from its peers, and those given to peers. Thread-safe.
class Tickets {
 public:
  static constexpr std::chrono::seconds kLifetime{3600};
  static constexpr std::size_t kMost = 256;  // of all peers' tickets together: the oldest goes

  // The context's listeners give tickets from now on, and its ends that connect keep what they get. It outlives the
  // context.
  void serve(ssl_ctx_st& context) noexcept;
  // Before the handshake of an end that listens.
  static void give(ssl_st& ssl) noexcept;
  // Before the handshake of an end that connects: the peer's newest. The socket is connected, and outlives `ssl`.
  void offer(ssl_st& ssl, const Socket& socket) noexcept;

 private:
  struct Ticket {
    Endpoint peer{};
    SessionCopy session{};
  };

  static int take(ssl_st* ssl, ssl_session_st* session) noexcept;
  static ssl_session_st* find(ssl_st* ssl, const unsigned char* id, int octets, int* shared) noexcept;
  void keep(const Endpoint& peer, SessionCopy session);
  [[nodiscard]] SessionCopy newest_of(const Endpoint& peer) noexcept;

  SessionsGiven given_{};
  std::mutex mutex_{};
  std::deque<Ticket> tickets_{};  // the newest is the last
};

}  // namespace weft::transport::tls
