// SPDX-License-Identifier: Apache-2.0
// The wire of the tour: octets of two ends as Ethernet, IP and TCP packets, with a clock that advances by itself.
#pragma once

#include <cstdint>
#include <functional>
#include <vector>

#include "conformance/packet.hpp"
#include "packet/conversation.hpp"

namespace weft::explain {

/// One end of the tour's TCP connection.
enum class TourEnd : std::uint8_t { kInitiator, kResponder };

/// Composes packets and hands them over.
class TourWire final : packet::SegmentSink {
 public:
  static constexpr std::size_t kMss = 1460;  ///< the most payload of a packet

  /// Where packets go. Their octets are valid during the call only.
  using Take = std::function<void(const conformance::Packet&)>;

  explicit TourWire(Take take);

  /// The three packets that open the connection; the Initiator opens.
  void open();
  /// Octets that this end sends.
  void send(TourEnd from, Bytes octets);
  /// Nothing more comes from this end.
  void finish(TourEnd from);

 private:
  void write(const packet::Segment& segment, packet::PieceReader& payload, std::size_t octets) override;

  Take take_;
  packet::Conversation tcp_;
  std::vector<std::byte> frame_{};
  std::uint64_t packets_ = 0;
  std::int64_t now_ = 0;
};

}  // namespace weft::explain
