// SPDX-License-Identifier: Apache-2.0
// An FPDU of the peer, as the prober reads it.
#pragma once

#include <cstdint>
#include <functional>
#include <string>
#include <string_view>
#include <vector>

#include "common/wire.hpp"
#include "rdmap/opcodes.hpp"

namespace weft::probe {

// With a correct CRC if CRCs are used.
struct PeerFpdu {
  std::vector<std::byte> ulpdu{};
  [[nodiscard]] bool tagged() const noexcept;
  [[nodiscard]] bool last() const noexcept;
  [[nodiscard]] std::uint8_t opcode() const noexcept;  // of RDMAP; 0xFF where the ULPDU is too short
  [[nodiscard]] bool is(rdmap::Opcode opcode) const noexcept;
  // After the DDP header; empty if the ULPDU is too short.
  [[nodiscard]] Bytes payload() const noexcept;
};

// Puts the peer's untagged messages together, which it may cut as it likes (RFC 5041 section 5.2).
class Segments {
 public:
  // Returns whether the rest of the FPDU's message is to come. Else `fpdu` is the whole message, as one segment. A
  // segment that does not go on where the one before ended stays as it is.
  [[nodiscard]] bool take(PeerFpdu& fpdu);
  [[nodiscard]] bool begun() const noexcept { return !begun_.empty(); }

 private:
  [[nodiscard]] bool is_next(const PeerFpdu& fpdu) const noexcept;
  std::vector<std::byte> begun_{};  // a ULPDU with the octets up to now
};

// "a Send", "an RDMA Write". For people.
[[nodiscard]] std::string with_article(std::string_view message);

// Says which FPDUs a step of a case waits for.
using Wanted = std::function<bool(const PeerFpdu&)>;
[[nodiscard]] Wanted message_of(rdmap::Opcode opcode);
// A Send whose message has this size.
[[nodiscard]] Wanted send_of(std::size_t size);

}  // namespace weft::probe
