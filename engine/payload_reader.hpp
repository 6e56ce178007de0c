// SPDX-License-Identifier: Apache-2.0
// Fetches the payload of outgoing messages from wherever it is.
#pragma once

#include <array>
#include <expected>
#include <optional>
#include <span>
#include <variant>

#include "engine/outgoing.hpp"
#include "engine/send_queue.hpp"
#include "rdmap/memory.hpp"

namespace weft::engine {

// Our own memory was taken away, or the peer's right to read it was.
using PayloadFault = std::variant<ddp::LocalFault, ddp::AccessError>;

// Octets that may be sent from where they lie. Those of an FPDU that are in more pieces are copied: room for all that a
// work request may have would have to be cleared for each FPDU.
inline constexpr std::size_t kMostLent = 16;
struct BorrowedPayload {
  std::array<Bytes, kMostLent> pieces{};
  std::size_t used = 0;
};

class PayloadReader {
 public:
  PayloadReader(rdmap::Memory& memory, SendQueue& queue) : memory_(memory), queue_(queue) {}

  // The one copy on the way out: straight into the octets that will be checksummed and sent.
  std::expected<void, PayloadFault> copy(const PayloadSource& source, std::uint32_t offset, MutableBytes out);
  // Returns nothing if the octets have to be copied.
  std::optional<BorrowedPayload> borrow(const PayloadSource& source, std::uint32_t offset, std::uint32_t length);

 private:
  inline std::expected<void, PayloadFault> copy_from(const OwnOctets& own, std::uint32_t offset, MutableBytes out);
  inline std::expected<void, PayloadFault> copy_from(const FromWorkRequest& from, std::uint32_t offset,
                                                     MutableBytes out);
  inline std::expected<void, PayloadFault> copy_from(const FromTaggedBuffer& from, std::uint32_t offset,
                                                     MutableBytes out);

  rdmap::Memory& memory_;
  SendQueue& queue_;
};

}  // namespace weft::engine
