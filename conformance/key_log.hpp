// SPDX-License-Identifier: Apache-2.0
// The secrets of TLS 1.3 connections, as programs write them into the file that SSLKEYLOGFILE names: a line
// "LABEL CLIENT_RANDOM SECRET" for each, the last two in hexadecimal digits. Other lines are passed over.
//
//   auto keys = KeyLog::open("keys.log");
//   CaptureAudit audit({}, {}, &*keys);
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

// What a ClientHello has as `random`: it names the connection.
using ClientRandom = std::array<std::byte, 32>;

// The secrets of one connection. Empty: the log has no such line.
struct TlsSecrets {
  // Those of what one end sends.
  struct OfEnd {
    std::vector<std::byte> handshake{};  // CLIENT_ or SERVER_HANDSHAKE_TRAFFIC_SECRET
    std::vector<std::byte> traffic{};    // CLIENT_ or SERVER_TRAFFIC_SECRET_0
  };
  OfEnd client{};  // the end that sent the ClientHello
  OfEnd server{};  // the other one
};

// A key log, from a file or from text. Not safe for threads. A file stays open, for it may grow.
class KeyLog {
 public:
  static constexpr std::size_t kMost = std::size_t{1} << 20;  // connections; those beyond are left out

  // The error is a sentence that names the file and the reason.
  [[nodiscard]] static std::expected<KeyLog, std::string> open(const std::string& path);
  [[nodiscard]] static KeyLog of_text(std::string_view text);  // of its content, which is copied

  // Null when there is none of this connection. A file is read on first, for programs that run add to it.
  [[nodiscard]] const TlsSecrets* find(const ClientRandom& random);
  // No line of it is of a key log; the program may not have written any yet.
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
