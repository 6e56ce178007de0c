// SPDX-License-Identifier: Apache-2.0
/// @file
/// Key logs: the secrets of TLS 1.3 connections in the format of SSLKEYLOGFILE.
///
/// Each line has the form "LABEL CLIENT_RANDOM SECRET", with the last two in hexadecimal. Other lines are ignored.
///
///     auto keys = KeyLog::open("keys.log");   // or KeyLog::of_text(""), for secrets that a capture has itself
///     CaptureAudit audit({}, {}, &*keys);
#pragma once

#include <array>
#include <cstddef>
#include <expected>
#include <map>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "common/wire.hpp"
#include "conformance/stop_switch.hpp"

namespace weft::conformance {

namespace capture {
class StoppableFile;
}

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

  /// Describes how a key log is opened.
  struct Opening {
    const StopSwitch* stop{};  ///< ends the wait for a pipe, as an error; must outlive the key log; may be null
    bool grows{};  ///< a program still writes it: a pipe is read as far as it is written, and not up to its end
  };
  /// Opens a key log file, or reads a pipe up to its end. The error is a sentence that names the file and the reason.
  [[nodiscard]] static std::expected<KeyLog, std::string> open(const std::string& path, const Opening& how);
  /// Opens a key log that does not grow, without a switch.
  [[nodiscard]] static std::expected<KeyLog, std::string> open(const std::string& path) {
    return open(path, Opening());
  }
  /// Creates a key log from its content, which is copied.
  [[nodiscard]] static KeyLog of_text(std::string_view text);

  /// Destroys the key log and closes its file.
  ~KeyLog();
  /// Takes over the content of another key log, which must not be used afterwards.
  KeyLog(KeyLog&&) noexcept;
  /// Replaces the content by that of another key log, which must not be used afterwards.
  KeyLog& operator=(KeyLog&&) noexcept;

  /// Adds lines from elsewhere: the secrets in a capture.
  void add(std::string_view text);
  /// Returns the secrets of a connection, or null if the log has none.
  /// First reads what a running program has added to the file. The pointer is valid as long as the key log.
  [[nodiscard]] const TlsSecrets* find(const ClientRandom& random);
  /// Returns whether no line has the format of a key log. The program may not have written any yet.
  [[nodiscard]] bool empty() const noexcept { return lines_ == 0; }
  /// Returns whether there is no file, and no line from elsewhere: nobody gave a key log.
  [[nodiscard]] bool absent() const noexcept { return file_ == nullptr && empty(); }

 private:
  KeyLog();
  bool read_on();
  void take(std::string_view octets);
  void take_line(std::string_view line);

  std::unique_ptr<capture::StoppableFile> file_;
  bool grows_ = false;
  bool ended_ = false;         // a pipe that was read up to its end
  std::string begun_{};        // a line whose end has not come
  bool passing_over_ = false;  // it is longer than any line of a key log
  std::size_t lines_ = 0;      // of a key log
  std::map<ClientRandom, TlsSecrets> secrets_{};
};

}  // namespace weft::conformance
