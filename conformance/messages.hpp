// SPDX-License-Identifier: Apache-2.0
// The RDMAP messages of a connection: FPDUs joined, each a segment of one (RFC 5041 section 5.2). Like the walk it judges nothing.
//
//   MessageJoiner joiner;
//   joiner.take(fpdu);                                    // what the walk shows, in its order
//   while (const auto message = joiner.next()) ...        // those that are over: most have ended with this FPDU
//
// Memory is bounded: of each direction one unfinished message a queue, one RDMA Write and one other tagged message.
#pragma once

#include <array>
#include <cstdint>
#include <deque>
#include <optional>
#include <vector>

#include "conformance/seen.hpp"
#include "ddp/header.hpp"
#include "rdmap/terminate.hpp"

namespace weft::conformance {

// One RDMAP message of a connection, as far as its segments were seen.
struct Message {
  static constexpr std::size_t kFront = rdmap::TerminateLayout::kLongest;  // as much as the longest RDMAP header

  Direction from{};                             // who sent it
  ddp::Header header{};                         // of its first segment: STag and TO, or queue and MSN
  std::uint64_t number{};                       // of its first FPDU in its direction (FpduSeen::number)
  std::uint64_t fpdus{};                        // that were seen of it
  std::uint64_t octets{};                       // of payload in them: what stands behind the DDP headers
  std::uint64_t first_packet{}, last_packet{};  // where its first segment begins and its last one ends
  bool begun{};  // nothing in front of what was seen: MO is 0; or, where it is tagged, the FPDU before was seen
  bool ended{};  // its last segment (L) was seen
  std::array<std::byte, kFront> front_octets{};  // front() says how many of these were seen

  // The four bits of its first segment.
  [[nodiscard]] std::uint8_t opcode() const noexcept;
  // The payload as far as it is kept, of untagged messages only; empty unless the beginning was seen.
  [[nodiscard]] Bytes front() const noexcept;
};

// Joins the segments of one connection's messages. Not safe for threads.
class MessageJoiner {
 public:
  // An FPDU that MPA delivers and that has a DDP header. False for others: they belong to no message.
  bool take(const FpduSeen& fpdu);
  // FPDUs of this direction are missing from here on, or none will follow: what is unfinished stays so.
  void break_off(Direction from);
  // In the order in which they ended.
  [[nodiscard]] std::optional<Message> next();

 private:
  struct Half {
    std::vector<Message> open{};
    bool unsure = false;  // the FPDU before the next one was not seen
  };
  void end(Half& half, std::size_t index);

  std::array<Half, 2> halves_{};  // by direction
  std::deque<Message> over_{};
};

}  // namespace weft::conformance
