// SPDX-License-Identifier: Apache-2.0
// The wire of the tour: octets of two ends as Ethernet, IP and TCP packets, with a clock that advances by itself.
#pragma once

#include <array>
#include <cstdint>
#include <functional>
#include <utility>
#include <vector>

#include "conformance/packet.hpp"

namespace weft::explain {

/// One end of the tour's TCP connection.
enum class TourEnd : std::uint8_t { kInitiator, kResponder };

/// Composes packets and hands them over.
class TourWire {
 public:
  static constexpr std::size_t kMss = 1460;  ///< the most payload of a packet

  /// Where packets go.
  using Take = std::function<void(const conformance::Packet&)>;

  explicit TourWire(Take take) : take_(std::move(take)) {}

  /// The three packets that open the connection; the Initiator opens.
  void open();
  /// Octets that this end sends, at most kMss.
  void send(TourEnd from, Bytes octets);
  /// Nothing more comes from this end.
  void finish(TourEnd from);

 private:
  struct Flags {
    bool syn{}, ack{}, psh{}, fin{};
    [[nodiscard]] std::uint8_t octet() const noexcept {
      return static_cast<std::uint8_t>(fin | syn << 1 | psh << 3 | ack << 4);
    }
  };
  void emit(TourEnd from, Flags flags, Bytes payload);

  Take take_;
  std::array<std::uint32_t, 2> sequence_{0x10000000, 0x20000000};  // next, by end
  std::uint64_t packets_ = 0;
  std::int64_t now_ = 0;
};

}  // namespace weft::explain
