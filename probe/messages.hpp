// SPDX-License-Identifier: Apache-2.0
// Well-formed ULPDUs of the prober, numbered as DDP requires. A case breaks one by overwriting fields:
//
//     auto ulpdu = stream.make().send(payload);
//     ddp::UntaggedLayout::MoField::put(ulpdu, 4);
#pragma once

#include <array>
#include <cstdint>
#include <vector>

#include "ddp/header.hpp"
#include "rdmap/atomic_messages.hpp"
#include "rdmap/opcodes.hpp"
#include "rdmap/read_request.hpp"
#include "rdmap/terminate.hpp"

namespace weft::probe {

using Ulpdu = std::vector<std::byte>;

// Memory of the prober, which the peer may be told of: any number will do as its STag.
inline constexpr ddp::Stag kOwnStag{0x50524201};

// Octets of a pattern, for payloads.
[[nodiscard]] std::vector<std::byte> pattern(std::size_t size, std::uint8_t first = 1);

class Messages {
 public:
  // --- Tagged
  [[nodiscard]] Ulpdu write(ddp::Stag stag, ddp::TaggedOffset offset, Bytes payload, bool last = true) const;
  [[nodiscard]] Ulpdu read_response(ddp::Stag stag, ddp::TaggedOffset offset, Bytes payload, bool last = true) const;

  // --- Untagged. Each takes the next MSN of its queue.
  Ulpdu send(Bytes payload, rdmap::Opcode opcode = rdmap::Opcode::kSend, ddp::Stag invalidate = {});
  // A segment of the Send that send() would make: the MSN is taken with the last one.
  Ulpdu send_segment(Bytes payload, std::uint32_t offset, bool last, rdmap::Opcode opcode = rdmap::Opcode::kSend,
                     ddp::Stag invalidate = {});
  Ulpdu read_request(const rdmap::ReadRequest& request);
  Ulpdu atomic(const rdmap::AtomicRequest& request);
  Ulpdu atomic_response(const rdmap::AtomicResponse& response);
  Ulpdu immediate(std::uint64_t data, bool solicited = false);
  Ulpdu terminate(const rdmap::Terminate& terminate);
  // Anything: an untagged message of this control octet on this queue.
  Ulpdu untagged(std::uint8_t rdmap_control, std::uint32_t queue, Bytes payload, std::uint32_t word = 0);

  // The next MSN of a queue.
  [[nodiscard]] std::uint32_t next_msn(std::uint32_t queue) const noexcept {
    return queue < next_.size() ? next_[queue] : 1;
  }
  void set_next_msn(std::uint32_t queue, std::uint32_t msn) noexcept { next_[queue % next_.size()] = msn; }

 private:
  Ulpdu segment(std::uint8_t rdmap_control, std::uint32_t queue, Bytes payload, std::uint32_t word,
                std::uint32_t offset, bool last);
  std::array<std::uint32_t, 4> next_{1, 1, 1, 1};
};

}  // namespace weft::probe
