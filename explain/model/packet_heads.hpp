// SPDX-License-Identifier: Apache-2.0
// The headers in front of what TCP carries. The latest packets' are kept: what a row is about may have begun many
// packets before it was complete.
#pragma once

#include <cstdint>
#include <deque>
#include <map>
#include <optional>
#include <string>
#include <vector>

#include "conformance/tcp_connections.hpp"
#include "explain/model/model.hpp"
#include "packet/address.hpp"

namespace weft::explain {

/// The headers of one packet as they were captured.
struct RawHead {
  std::uint64_t number{};           ///< as Wireshark numbers frames
  std::int64_t time{};              ///< nanoseconds since the capture's first packet
  conformance::LinkType link{};     ///< how `octets` begin
  std::vector<std::byte> octets{};  ///< up to TCP's payload
  std::size_t ip_at{};              ///< where the IP header begins; the size where there is none
  std::size_t tcp_at{};             ///< where TCP's begins; the size where there is none
};

/// A SYN, which the events of TCP do not tell by itself.
struct SynSeen {
  packet::Endpoint source{}, destination{};
  bool answer{};   ///< with ACK
  RawHead head{};  ///< of its packet
};

/// The headers of the packets that were read last.
class PacketHeads {
 public:
  static constexpr std::size_t kKept = 1 << 16;  ///< packets; and as many SYNs

  /// Each packet of the capture, in order.
  void note(const conformance::Packet& packet);
  /// Returns the head of a packet that is still kept.
  [[nodiscard]] const RawHead* find(std::uint64_t number) const noexcept;
  /// Nanoseconds since the capture's first packet; of one that is not kept any more, those of the oldest that is.
  [[nodiscard]] std::int64_t time_of(std::uint64_t number) const noexcept;
  /// The SYNs of a connection: those between its ends, from its first packet to `before`.
  [[nodiscard]] std::vector<SynSeen> syns(const conformance::ConnectionInfo& info, std::uint64_t before) const;

 private:
  std::int64_t first_time_ = 0;
  std::deque<RawHead> heads_{};
  std::deque<SynSeen> syns_{};
};

/// Each field of the headers.
[[nodiscard]] PacketHead explained(const RawHead& head, Glossary& glossary);

}  // namespace weft::explain
