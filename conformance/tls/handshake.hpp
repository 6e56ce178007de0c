// SPDX-License-Identifier: Apache-2.0
// Messages of TLS's handshake (RFC 8446 section 4): where each ends, and the little that has to be read of them.
#pragma once

#include <cstdint>
#include <optional>
#include <vector>

#include "conformance/key_log.hpp"

namespace weft::conformance::tls {

enum class MessageType : std::uint8_t { kClientHello = 1, kServerHello = 2, kFinished = 20, kKeyUpdate = 24 };

// One direction's messages, whose octets come in any pieces.
class MessageCutter {
 public:
  struct Message {
    MessageType type{};
    Bytes body{};  // no more than kKept octets of it; valid until the next call
  };
  static constexpr std::size_t kKept = 4096;

  // Takes octets from the front, up to the end of a message. Nothing: none ends in these.
  [[nodiscard]] std::optional<Message> next(Bytes& octets);

 private:
  std::vector<std::byte> kept_{};  // type and length, and the front of the body
  std::size_t seen_ = 0;           // octets of the message
  std::vector<std::byte> body_{};  // of the message that was given
};

// Returns the random value from the body of a ClientHello; nothing if it is too short.
[[nodiscard]] std::optional<ClientRandom> client_random(Bytes body);

struct ServerChoice {
  bool tls_1_3{};
  std::uint16_t suite{};
};
// Reads the body of a ServerHello or HelloRetryRequest. Returns nothing if it is malformed.
[[nodiscard]] std::optional<ServerChoice> server_choice(Bytes body);

}  // namespace weft::conformance::tls
