// SPDX-License-Identifier: Apache-2.0
/// @file
/// Key logs: the secrets of TLS 1.3 connections in the format of SSLKEYLOGFILE.
///
/// Each line has the form "LABEL CLIENT_RANDOM SECRET", with the last two in hexadecimal. Other lines are ignored.
///
///     auto keys = KeyLog::open("keys.log");
///     CaptureAudit audit({}, {}, &*keys);
#pragma once

#include <array>
#include <cstddef>
#include <cstdio>
#include <expected>
#include <map>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "common/wire.hpp"

namespace weft::conformance {

/// Holds the `random` of a ClientHello, which identifies the connection.
using ClientRandom = std::array<std::byte, 32>;

/// Holds the secrets of one connection. A secret that the log does not contain is empty.
struct TlsSecrets {
  /// Holds the secrets for the records of one end.
  struct OfEnd {
    std::vector<std::byte> handshake{};  ///< CLIENT_HANDSHAKE_TRAFFIC_SECRET or SERVER_HANDSHAKE_TRAFFIC_SECRET
    std::vector<std::byte> traffic{};    ///< CLIENT_TRAFFIC_SECRET_0 or SERVER_TRAFFIC_SECRET_0
  };
  OfEnd client{};  ///< the end that sent the ClientHello
  OfEnd server{};  ///< the other end
};

/// A key log from a file or from text. Not thread-safe. A file remains open because it may grow.
class KeyLog {
 public:
  static constexpr std::size_t kMost = std::size_t{1} << 20;  ///< maximum of connections; further ones are ignored

  /// Opens a key log file. The error is a sentence that names the file and the reason.
  [[nodiscard]] static std::expected<KeyLog, std::string> open(const std::string& path);
  /// Creates a key log from its content, which is copied.
  [[nodiscard]] static KeyLog of_text(std::string_view text);

  /// Returns the secrets of a connection, or null if the log has none.
  /// First reads what a running program has added to the file. The pointer is valid as long as the key log.
  [[nodiscard]] const TlsSecrets* find(const ClientRandom& random);
  /// Returns whether no line has the format of a key log. The program may not have written any yet.
  [[nodiscard]] bool empty() const noexcept { return lines_ == 0; }

 private:
  struct Close {
    void operator()(std::FILE* file) const noexcept { std::fclose(file); }
  };

  KeyLog() = default;
  bool read_on();
  void take(std::string_view octets);
  void take_line(std::string_view line);

  std::unique_ptr<std::FILE, Close> file_{};
  std::string begun_{};        // a line whose end has not come
  bool passing_over_ = false;  // it is longer than any line of a key log
  std::size_t lines_ = 0;      // of a key log
  std::map<ClientRandom, TlsSecrets> secrets_{};
};

}  // namespace weft::conformance
