// SPDX-License-Identifier: Apache-2.0
// A connection that speaks TLS 1.3: records go in, what they hide comes out (RFC 8446 section 5). Of the handshake it
// reads as much as tells the keys: the ClientHello's random, the ServerHello's cipher, and where the Finished of an end
// stands, for the keys change after it.
//
// A direction whose records cannot be opened any more ends in a gap: the number of a record enters its nonce, and after
// octets that are missing it is not known.
#pragma once

#include <array>
#include <deque>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "conformance/key_log.hpp"
#include "conformance/octet_window.hpp"
#include "conformance/tcp_events.hpp"
#include "conformance/tls/handshake.hpp"
#include "conformance/tls/record_cipher.hpp"
#include "conformance/tls_layer.hpp"

namespace weft::conformance::tls {

class Decryption {
 public:
  // Octets of a direction that wait for their secrets, which a program may write a little later than it sends.
  static constexpr std::size_t kMostWaiting = 2 * kMostFragment;
  // Records of a direction whose ends are remembered: an acknowledgment older than that says nothing.
  static constexpr std::size_t kMostRecords = 1024;

  explicit Decryption(KeyLog* keys) noexcept : keys_(keys) {}

  // As those of TlsLayer.
  void feed(const TcpEvent& event);
  [[nodiscard]] const TcpEvent* next();
  void finish() noexcept { finished_ = true; }
  // Octets that wait.
  [[nodiscard]] std::size_t held() const noexcept {
    return halves_[0].window.all().size() + halves_[1].window.all().size();
  }
  [[nodiscard]] const TlsFacts& facts() const noexcept { return facts_; }

 private:
  enum class Phase : std::uint8_t {
    kHello,        // records in clear
    kHandshake,    // under the keys of the handshake, up to Finished
    kApplication,  // under those of the application
    kClosed,       // after close_notify: what follows counts for nothing (section 6.1)
    kStopped,      // cannot be opened any more
  };
  struct Half {
    End end{};
    Phase phase = Phase::kHello;
    OctetWindow window{};
    MessageCutter messages{};
    std::optional<RecordCipher> cipher{};
    std::uint64_t told = 0;                                         // octets in clear
    std::deque<std::pair<std::uint64_t, std::uint64_t>> records{};  // ends of the last ones: on the wire, in clear
    std::uint64_t packet = 0;                                       // the last one with octets
    std::optional<TcpGap> gap{};
    std::optional<TcpClosed> closed{};
  };

  void on(const TcpOpened& opened);
  void on(const TcpSegment&) noexcept {}
  void on(const TcpOctets& octets);
  void on(const TcpGap& gap);
  void on(const TcpClosed& closed);

  bool step(Half& half);
  bool end_of(Half& half);
  bool read(Half& half, Bytes record);
  void read_hello(Half& half, Bytes messages);
  bool read_protected(Half& half, Bytes record);
  void read_inside(Half& half, const Opened& opened);
  void read_messages(Half& half, Bytes messages);
  void tell(Half& half, Bytes content);
  [[nodiscard]] std::optional<std::uint64_t> in_clear(const Half& half, std::optional<std::uint64_t> acknowledged);

  // Keys for the next phase. False: they are not there, for now or forever.
  bool begin(Half& half, Phase phase);
  [[nodiscard]] const TlsSecrets::OfEnd* secrets_of(const Half& half);
  [[nodiscard]] bool gives_up(const Half& half) const noexcept;
  [[nodiscard]] std::string why_no_keys(const Half& half) const;
  void stop(Half& half, std::string why);

  [[nodiscard]] bool has_log() const noexcept { return keys_ != nullptr && !keys_->absent(); }
  [[nodiscard]] Half& half(End end) noexcept { return halves_[static_cast<std::size_t>(end)]; }

  KeyLog* keys_;
  std::array<Half, 2> halves_{Half{.end = End::kFirst}, Half{.end = End::kSecond}};
  std::optional<End> client_{};
  ClientRandom random_{};
  std::optional<ServerChoice> choice_{};
  TlsFacts facts_{};
  std::vector<TcpEvent> out_{};
  std::size_t given_ = 0;  // of those
  bool finished_ = false;
};

}  // namespace weft::conformance::tls
