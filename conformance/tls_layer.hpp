// SPDX-License-Identifier: Apache-2.0
// Between TCP and MPA: where a connection speaks TLS 1.3 and the key log has its secrets, the octets inside its records take
// the place of those that crossed the wire. All other connections pass through as they are.
//
//   TlsLayer tls(&keys);
//   tls.feed(event);
//   while (const TcpEvent* clear = tls.next()) walk.feed(*clear);   // until there is none, before the next event
//   tls.finish();                                                  // and once more next() until there is none
//
// An octet in clear has the place of the octet that hides it: both are at the same octet of the record. Its stream offset
// counts octets in clear. TcpSegment events and MSS options of a connection with TLS are left out, for segments begin where
// records do, and neither end is to be blamed for it.
#pragma once

#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "conformance/key_log.hpp"
#include "conformance/tcp_events.hpp"

namespace weft::conformance {

namespace tls {
class Decryption;
}

// What is known of a connection's TLS.
struct TlsFacts {
  std::string_view cipher{};  // as IANA calls it; empty while no ServerHello was seen
  std::string hidden{};       // why not all of it was decrypted, and from which packet on; empty: all was
  bool keyed{};               // the key log has secrets for it
};

// Decrypts one connection, where it can. Not safe for threads.
class TlsLayer {
 public:
  // Null: there is no key log. It has to outlive this.
  explicit TlsLayer(KeyLog* keys);
  ~TlsLayer();                               // what was not polled is lost
  TlsLayer(TlsLayer&&) noexcept;             // the other one is not used any more
  TlsLayer& operator=(TlsLayer&&) noexcept;  // what this was is forgotten

  // The event has to stay until next() gives none.
  void feed(const TcpEvent& event);
  // Valid until the next call.
  [[nodiscard]] const TcpEvent* next();  // null when what was fed has nothing more
  // Nothing follows: what waits for its secrets is given up.
  void finish();

  // Null for a connection that does not speak TLS.
  [[nodiscard]] const TlsFacts* tls() const noexcept;

 private:
  struct Held;

  void look(const TcpEvent& event);
  void hold(const TcpEvent& event);
  void decide(bool tls);

  KeyLog* keys_;
  bool decided_ = false;
  std::vector<Held> held_;  // the front of the connection, until its first octets tell what it speaks
  std::size_t given_ = 0;   // of those
  const TcpEvent* passing_ = nullptr;
  std::unique_ptr<tls::Decryption> decryption_;  // where it speaks TLS
};

}  // namespace weft::conformance
