// SPDX-License-Identifier: Apache-2.0
// The receive side of a stream: a ring in two halves, which the peer fills by RDMA Write, one half after the other,
// and what we told it: which halves are free, and how many messages it may send. Pure bookkeeping; no verbs in here.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <string_view>
#include <vector>

namespace weft::compat::rsockets {

class Receiver {
 public:
  // The first half, and `credits` messages, are the peer's from the connection's private data.
  Receiver(std::span<std::byte> ring, std::uint16_t credits);

  // --- The peer. What is wrong with its message, if anything is: what comes must be within what was granted.
  [[nodiscard]] std::optional<std::string_view> data_arrived(std::uint32_t octets);
  [[nodiscard]] std::optional<std::string_view> other_arrived();  // has a sequence number, but no data

  // --- The program
  [[nodiscard]] std::size_t unread() const noexcept { return unread_; }
  // Up to into.size() octets from the `skip`th unread one on, which stay unread.
  [[nodiscard]] std::size_t peek(std::span<std::byte> into, std::size_t skip = 0) const;
  [[nodiscard]] std::size_t take(std::span<std::byte> into);

  // --- What the peer should hear of
  struct Grant {
    std::uint16_t sequence{};                // of the first message that it may not send yet
    std::optional<std::uint32_t> half_at{};  // where in the ring a half is free again
  };
  [[nodiscard]] bool grant_due() const noexcept;
  [[nodiscard]] Grant grant();
  [[nodiscard]] std::uint32_t half() const noexcept { return half_; }

 private:
  void consumed(std::size_t octets);

  const std::span<std::byte> ring_;
  const std::uint32_t half_;
  const std::uint64_t credits_;
  std::size_t read_at_ = 0;
  std::size_t unread_ = 0;
  std::size_t writable_;                 // octets that the peer may still write
  std::size_t free_;                     // octets that were read, and that it does not know of
  bool second_half_next_ = true;         // is granted next
  std::uint64_t arrived_ = 0;            // messages
  std::uint64_t done_ = 0;               // messages that were read to their end
  std::uint64_t done_when_granted_ = 0;  // at the last grant
  // Lengths of the messages that were not read to their end: a ring too, as long as the credits.
  std::vector<std::uint32_t> lengths_;
  std::size_t first_length_ = 0;
  std::size_t lengths_used_ = 0;
};

}  // namespace weft::compat::rsockets
