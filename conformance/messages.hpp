// SPDX-License-Identifier: Apache-2.0
/// @file
/// Reassembly of RDMAP messages from FPDUs, each of which is a segment of one message (RFC 5041 section 5.2). Like the
/// walk, it checks no rules.
///
///     MessageJoiner joiner;
///     joiner.take(fpdu);                                    // startup frames and FPDUs of the walk, in its order
///     while (const auto message = joiner.next()) ...        // finished messages: most end with this FPDU
///
/// Memory is bounded: per direction one unfinished message per queue, one RDMA Write and one other tagged message.
#pragma once

#include <array>
#include <cstdint>
#include <deque>
#include <optional>
#include <vector>

#include "conformance/seen.hpp"
#include "ddp/header.hpp"
#include "mpa/agreement.hpp"
#include "rdmap/terminate.hpp"

namespace weft::conformance {

/// Describes one RDMAP message, as far as its segments were seen.
struct Message {
  /// Length of the longest RDMAP header in octets
  static constexpr std::size_t kFront = rdmap::TerminateLayout::kLongest;

  Direction from{};              ///< sender
  ddp::Header header{};          ///< DDP header of the first segment: STag and TO, or queue and MSN
  std::uint64_t number{};        ///< number of the first FPDU in its direction (FpduSeen::number)
  std::uint64_t fpdus{};         ///< number of FPDUs seen
  std::uint64_t octets{};        ///< number of payload octets seen, after the DDP headers
  std::uint64_t first_packet{};  ///< packet in which the first segment begins
  std::uint64_t last_packet{};   ///< packet in which the last segment ends
  bool begun{};  ///< the beginning was seen: MO is 0 or, for a tagged message, the preceding FPDU was seen
  bool ended{};  ///< the last segment (L) was seen
  bool rtr{};    ///< it is the ready-to-receive indication of a peer-to-peer connection (MPA2-5-03)
  std::array<std::byte, kFront> front_octets{};  ///< first octets of the payload; front() returns the valid part

  /// Returns the RDMAP opcode of the first segment (4 bits).
  [[nodiscard]] std::uint8_t opcode() const noexcept;
  /// Returns the kept beginning of the payload. Empty for tagged messages, and if the beginning was not seen.
  [[nodiscard]] Bytes front() const noexcept;
};

/// Returns the ready-to-receive indication that a message can be: a zero-length Send, RDMA Write or RDMA Read (RFC 6581
/// section 9.2). `octets` is the length of the payload, `front` its beginning; the opcode may have any value.
[[nodiscard]] std::optional<mpa::Rtr> ready_to_receive(std::uint8_t opcode, std::uint64_t octets, Bytes front) noexcept;

/// Reassembles the messages of one connection. Not thread-safe.
class MessageJoiner {
 public:
  /// Takes a startup frame: with A in both, the Initiator's first FPDU is the ready-to-receive indication.
  void take(const StartupSeen& startup);
  /// Takes an FPDU. Returns false if it belongs to no message: MPA does not deliver it, or it has no DDP header.
  bool take(const FpduSeen& fpdu);
  /// Ends unfinished messages of a direction, because FPDUs are missing or no more will follow.
  void break_off(Direction from);
  /// Returns the next finished message, in the order in which they ended.
  [[nodiscard]] std::optional<Message> next();

 private:
  struct Half {
    std::vector<Message> open{};
    bool unsure = false;        // the FPDU before the next one was not seen
    bool peer_to_peer = false;  // asked for by the startup frame
  };
  void end(Half& half, std::size_t index);

  std::array<Half, 2> halves_{};  // by direction
  std::deque<Message> over_{};
};

}  // namespace weft::conformance
