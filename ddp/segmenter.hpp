// SPDX-License-Identifier: Apache-2.0
// Cuts one outgoing message into segments that fit the MULPDU (RFC 5041 section 5.2). The MULPDU is an argument of each
// cut: it may change between two segments, and what was cut before stays as it is (DDP-3-02).
#pragma once

#include <algorithm>
#include <cstdint>
#include <cstdlib>

#include "ddp/header.hpp"

namespace weft::ddp {

inline constexpr std::uint32_t kLeastMulpdu = 128;  // octets: MPA promises at least these (RFC 5044 section 4.1)

// A segment to send: `header`, then octets [offset, offset + length) of the message.
template <typename HeaderType>
struct OutgoingSegment {
  HeaderType header{};
  std::uint32_t offset{};
  std::uint32_t length{};
};

// How far a message has been cut. Its length has 32 bits, so no longer message can be asked for (DDP-5.2-03).
class MessageCut {
 public:
  constexpr MessageCut() noexcept = default;  // nothing to cut
  explicit constexpr MessageCut(std::uint32_t length) noexcept : length_(length), done_(false) {}

  [[nodiscard]] constexpr bool done() const noexcept { return done_; }
  [[nodiscard]] constexpr std::uint32_t sent() const noexcept { return sent_; }
  [[nodiscard]] constexpr std::uint32_t remaining() const noexcept { return length_ - sent_; }

  // Payload octets of the next segment (DDP-5.2-08). A smaller MULPDU than MPA ever gives is our own bug.
  [[nodiscard]] constexpr std::uint32_t next_length(std::uint32_t mulpdu, std::size_t header_size) const noexcept {
    if (mulpdu < kLeastMulpdu) std::abort();
    return std::min(remaining(), mulpdu - static_cast<std::uint32_t>(header_size));
  }

  // Cuts off `length` octets and says whether they were the last (DDP-4.1-05, DDP-4.1-06). A message without octets is
  // one segment, the last (DDP-5.2-11).
  constexpr bool take(std::uint32_t length) noexcept {
    sent_ += length;
    done_ = sent_ == length_;
    return done_;
  }

 private:
  std::uint32_t length_ = 0;
  std::uint32_t sent_ = 0;
  bool done_ = true;
};

// RDMA Write and Read Response. TO counts on from the initial TO (DDP-5.2-10); STag and RsvdULP stay the same
// (DDP-4.2-06, DDP-4.2-10); offsets rise (DDP-5.3-03).
class TaggedSegmenter {
 public:
  constexpr TaggedSegmenter() noexcept = default;
  constexpr TaggedSegmenter(std::uint8_t rsvd_ulp, Stag stag, TaggedOffset first, std::uint32_t length) noexcept
      : rsvd_ulp_(rsvd_ulp), stag_(stag), first_(first), cut_(length) {}

  [[nodiscard]] constexpr const MessageCut& progress() const noexcept { return cut_; }
  [[nodiscard]] constexpr bool done() const noexcept { return cut_.done(); }
  // Octets of the next segment with its header.
  [[nodiscard]] constexpr std::uint32_t next_size(std::uint32_t mulpdu) const noexcept {
    return static_cast<std::uint32_t>(TaggedLayout::kSize) + cut_.next_length(mulpdu, TaggedLayout::kSize);
  }

  // Not to be called when done.
  constexpr OutgoingSegment<TaggedHeader> next(std::uint32_t mulpdu) noexcept {
    const std::uint32_t offset = cut_.sent();
    const std::uint32_t length = cut_.next_length(mulpdu, TaggedLayout::kSize);
    const bool last = cut_.take(length);
    return {{last, rsvd_ulp_, stag_, {first_.value + offset}}, offset, length};
  }

 private:
  std::uint8_t rsvd_ulp_ = 0;
  Stag stag_{};
  TaggedOffset first_{};
  MessageCut cut_{};
};

// All other messages. MO is the offset in the message, from 0 (DDP-4.3-15, DDP-5.2-07), rising (DDP-5.3-02); QN, MSN
// and RsvdULP stay the same (DDP-4.3-06, DDP-4.3-09, DDP-4.3-13).
class UntaggedSegmenter {
 public:
  constexpr UntaggedSegmenter() noexcept = default;
  constexpr UntaggedSegmenter(std::uint8_t rsvd_ulp, std::uint32_t rsvd_ulp_word, std::uint32_t queue, Msn msn,
                              std::uint32_t length) noexcept
      : header_{false, rsvd_ulp, rsvd_ulp_word, queue, msn, {}}, cut_(length) {}

  [[nodiscard]] constexpr const MessageCut& progress() const noexcept { return cut_; }
  [[nodiscard]] constexpr bool done() const noexcept { return cut_.done(); }
  [[nodiscard]] constexpr std::uint32_t next_size(std::uint32_t mulpdu) const noexcept {
    return static_cast<std::uint32_t>(UntaggedLayout::kSize) + cut_.next_length(mulpdu, UntaggedLayout::kSize);
  }

  constexpr OutgoingSegment<UntaggedHeader> next(std::uint32_t mulpdu) noexcept {
    const std::uint32_t offset = cut_.sent();
    const std::uint32_t length = cut_.next_length(mulpdu, UntaggedLayout::kSize);
    UntaggedHeader header = header_;
    header.offset = {offset};
    header.last = cut_.take(length);
    return {header, offset, length};
  }

 private:
  UntaggedHeader header_{};
  MessageCut cut_{};
};

}  // namespace weft::ddp
