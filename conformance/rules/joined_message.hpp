// SPDX-License-Identifier: Apache-2.0
// A message of a fixed size that comes in several segments, which is legal though odd, as one.
#pragma once

#include <algorithm>
#include <cstdint>
#include <vector>

#include "conformance/rules/ulpdu.hpp"

namespace weft::conformance::rules {

// The messages of one queue in one direction.
class JoinedMessage {
 public:
  static constexpr std::size_t kMost = 1024;  // octets; none has as many, and what is after is not looked at

  enum class Taken : std::uint8_t {
    kMore,    // is to come
    kWhole,   // whole() is the message
    kBroken,  // the segment does not continue what was seen
  };
  [[nodiscard]] Taken take(const Ulpdu& segment) {
    const auto& header = *segment.untagged();
    if (header.offset.value == 0) {
      octets_.clear();
      msn_ = header.msn.value;
      opcode_ = segment.opcode();
      open_ = true;
    } else if (!open_ || header.msn.value != msn_ || segment.opcode() != opcode_ ||
               header.offset.value != octets_.size()) {
      open_ = false;
      return Taken::kBroken;
    }
    const std::size_t room = kMost - octets_.size();
    const Bytes fits = segment.payload.first(std::min(segment.payload.size(), room));
    octets_.insert(octets_.end(), fits.begin(), fits.end());
    open_ = !header.last;
    return open_ ? Taken::kMore : Taken::kWhole;
  }
  // After its last segment. Valid until the next one.
  [[nodiscard]] Ulpdu whole(const Ulpdu& last) const {
    Ulpdu message = last;
    std::get<ddp::UntaggedHeader>(message.header).offset = {};
    message.payload = octets_;
    message.joined = true;
    return message;
  }
  void forget() noexcept { open_ = false; }
  // A message has begun and not ended.
  [[nodiscard]] bool open() const noexcept { return open_; }

 private:
  bool open_ = false;
  std::uint32_t msn_ = 0;
  std::uint8_t opcode_ = 0;
  std::vector<std::byte> octets_{};
};

}  // namespace weft::conformance::rules
