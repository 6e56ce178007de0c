// SPDX-License-Identifier: Apache-2.0
// The last DDP headers that an end sent: a Terminate of the other end may quote one of them.
#pragma once

#include <array>
#include <cstdint>
#include <optional>
#include <vector>

#include "common/wire.hpp"
#include "ddp/header.hpp"

namespace weft::conformance::rules {

class SentHeaders {
 public:
  static constexpr std::size_t kKept = 4096;

  // Adds the header of an FPDU that ends before the stream offset `end`.
  void add(Bytes ulpdu, std::uint64_t end);
  // A segment may be missing from what was added: absence proves nothing any more.
  void forget() noexcept { complete_ = false; }
  // Returns whether all that the end had sent before this stream offset was added. A FIN counts as an octet. Before the
  // first FPDU, a capture may have begun in the middle of a stream.
  [[nodiscard]] bool complete_until(std::uint64_t offset) const noexcept {
    return complete_ && !ring_.empty() && offset <= end_ + 1;
  }

  struct Segment {
    std::array<std::byte, ddp::UntaggedLayout::kSize> front{};
    std::uint32_t ulpdu_size{};
  };
  // A segment that began with these octets.
  [[nodiscard]] const Segment* find(Bytes header) const noexcept;
  // One that began with them and had this size, with or without its DDP header.
  [[nodiscard]] bool any_of_length(Bytes header, std::uint32_t length) const noexcept;

 private:
  std::vector<Segment> ring_{};  // grows to kKept with use
  std::size_t next_ = 0;
  std::uint64_t end_ = 0;
  bool complete_ = true;
};

}  // namespace weft::conformance::rules
