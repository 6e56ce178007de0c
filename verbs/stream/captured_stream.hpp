// SPDX-License-Identifier: Apache-2.0
// A connection in the capture file. In a direction with Markers, each FPDU gets a packet of its own, because tshark
// loses a stream with Markers if a packet holds more (docs/tshark.md); otherwise, consecutive FPDUs share a packet.
// Reads only sizes: M bits and lengths of the startup frames, and lengths of FPDUs.
#pragma once

#include <array>
#include <optional>
#include <span>
#include <vector>

#include "mpa/startup_frame.hpp"
#include "transport/pcap_tap.hpp"

namespace weft::verbs::detail {

class CapturedStream {
 public:
  CapturedStream(transport::PcapStream stream, mpa::Role role) noexcept : stream_(std::move(stream)), role_(role) {}

  // For a pipe that records what crosses the wire; then only the ends below are for the caller to tell.
  [[nodiscard]] transport::PcapStream& wire() noexcept { return stream_; }

  // Whole frames: what one write offers to the socket.
  void sent(std::span<const Bytes> pieces);
  // What a read brought, as it came; and how much of it is understood now. Octets that are no whole frame show when
  // the peer's direction ends.
  void arrived(Bytes octets) { arrived_.insert(arrived_.end(), octets.begin(), octets.end()); }
  void understood(std::size_t octets);
  void rest() { understood(arrived_.size()); }
  void fin_sent() { stream_.fin_sent(); }
  void fin_received() { stream_.fin_received(); }
  void rst_sent() { stream_.rst_sent(); }
  void rst_received() { stream_.rst_received(); }

 private:
  // One direction.
  struct Half {
    mpa::FrameKind opens_with{};
    bool frame_seen = false;
    bool whole = true;           // no Markers, or octets that are no MPA: as they come
    std::uint64_t position = 0;  // of the FPDU stream, where there are Markers
  };

  [[nodiscard]] bool initiator() const noexcept { return role_ == mpa::Role::kInitiator; }
  std::size_t front(Half& half, Half& other, Bytes run);
  void received(Bytes octets);

  transport::PcapStream stream_;
  mpa::Role role_;
  Half outbound_{.opens_with = initiator() ? mpa::FrameKind::kRequest : mpa::FrameKind::kReply};
  Half inbound_{.opens_with = initiator() ? mpa::FrameKind::kReply : mpa::FrameKind::kRequest};
  std::vector<std::byte> joined_;
  std::vector<std::byte> arrived_;
};

}  // namespace weft::verbs::detail
