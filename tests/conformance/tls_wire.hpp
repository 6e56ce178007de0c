// SPDX-License-Identifier: Apache-2.0
// Two ends of TLS that are OpenSSL's, joined in memory: what each of them sends, and the key log. And a listener that gathers
// what a TlsLayer makes of it.
#pragma once

#include <openssl/ssl.h>

#include <array>
#include <cstdint>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "conformance/tls_layer.hpp"
#include "tests/conformance/octets.hpp"

namespace weft::conformance::test {

Octets from_hex(std::string_view digits);

struct Flight {  // what one end sent at a time
  End from{};
  Octets octets{};
};

// The end that connects is kFirst.
class TlsWire {
 public:
  // A cipher suite of TLS 1.3, or a null pointer for TLS 1.2.
  explicit TlsWire(const char* suite);

  void say(End from, Bytes octets);
  void update_key(End from);
  void close(End from);  // close_notify

  std::vector<Flight> flights{};
  std::string key_log{};

 private:
  struct Free {
    void operator()(SSL* ssl) const noexcept { SSL_free(ssl); }
    void operator()(SSL_CTX* context) const noexcept { SSL_CTX_free(context); }
  };
  using Ssl = std::unique_ptr<SSL, Free>;

  [[nodiscard]] SSL* end(End end) const noexcept { return ends_[static_cast<std::size_t>(end)].get(); }
  static Ssl make(const char* suite, bool server);
  bool carry(End from);

  std::array<Ssl, 2> ends_;
};

// Of a connection whose flights are packets 1, 2 ..., each octet 54 octets after the beginning of its packet and on.
class Listener {
 public:
  static constexpr std::uint32_t kHeaders = 54;
  explicit Listener(KeyLog* keys) : layer(keys) {}

  void open(bool handshake_seen = true) { take(TcpOpened{1460, 1460, handshake_seen}); }
  void hear(const Flight& flight, std::size_t piece_size = std::size_t{1} << 20);
  void hear(const std::vector<Flight>& flights, std::size_t piece_size = std::size_t{1} << 20) {
    for (const Flight& flight : flights) hear(flight, piece_size);
  }
  void lose(End from, std::size_t octets);
  void end(End from) { take(TcpClosed{from, Closing::kFin, packet}); }
  void finish();
  void take(const TcpEvent& event);

  [[nodiscard]] const Octets& from(End end) const { return clear[static_cast<std::size_t>(end)]; }
  [[nodiscard]] std::string hidden() const { return layer.tls() == nullptr ? "no TLS" : layer.tls()->hidden; }

  TlsLayer layer;
  std::uint64_t packet = 0;
  std::array<Octets, 2> clear{};
  struct Run {
    End from{};
    Place place{};
    std::size_t size{};
  };
  std::vector<Run> runs{};
  std::vector<TcpEvent> others{};  // all but octets

 private:
  void drain();
  std::array<std::uint64_t, 2> offsets_{};
};

}  // namespace weft::conformance::test
