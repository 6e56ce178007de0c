// SPDX-License-Identifier: Apache-2.0
/// @file
/// Decryption between TCP and MPA.
///
/// If a connection uses TLS 1.3 and the key log has its secrets, the octets in its records replace those on the wire.
/// Events of all other connections are passed through.
///
///     TlsLayer tls(&keys);
///     tls.feed(event);
///     while (const TcpEvent* clear = tls.next()) walk.feed(*clear);   // until it returns null, before the next event
///     tls.finish();                                                  // then call next() again until it returns null
///
/// A decrypted octet has the place of the encrypted octet at the same position of the record. Stream offsets count
/// decrypted octets. TcpSegment events and MSS options of a connection with TLS are omitted: segments are aligned with
/// records, which is not the fault of an end.
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

/// Describes the TLS of a connection.
struct TlsFacts {
  std::string_view cipher{};  ///< IANA name of the cipher suite; empty until a ServerHello was seen
  std::string hidden{};       ///< why some octets were not decrypted, and from which packet on; empty if all were
  bool keyed{};               ///< the key log has secrets of the connection
};

/// Decrypts one connection where possible. Not thread-safe.
class TlsLayer {
 public:
  /// Creates a layer. `keys` may be null, and must outlive the layer.
  explicit TlsLayer(KeyLog* keys);
  /// Discards pending events.
  ~TlsLayer();
  /// Takes over the state of another layer, which must not be used afterwards.
  TlsLayer(TlsLayer&&) noexcept;
  /// Replaces the state by that of another layer, which must not be used afterwards.
  TlsLayer& operator=(TlsLayer&&) noexcept;

  /// Takes an event, which must remain valid until next() returns null.
  void feed(const TcpEvent& event);
  /// Returns the next event, or null. It is valid until the next call.
  [[nodiscard]] const TcpEvent* next();
  /// Ends the connection. Octets whose secrets are still missing are given up.
  void finish();

  /// Returns how many octets are kept.
  [[nodiscard]] std::size_t held() const noexcept;

  /// Returns the TLS properties of the connection, or null if it does not use TLS.
  [[nodiscard]] const TlsFacts* tls() const noexcept;

 private:
  struct Held;

  void look(const TcpEvent& event);
  void hold(const TcpEvent& event);
  void decide(bool tls);

  KeyLog* keys_;
  bool decided_ = false;
  std::vector<Held> held_;       // the front of the connection, until its first octets tell what it speaks
  std::size_t held_octets_ = 0;  // of those
  std::size_t given_ = 0;        // of those
  const TcpEvent* passing_ = nullptr;
  std::unique_ptr<tls::Decryption> decryption_;  // where it speaks TLS
};

}  // namespace weft::conformance
