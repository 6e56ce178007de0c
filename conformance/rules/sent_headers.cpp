// SPDX-License-Identifier: Apache-2.0
#include "conformance/rules/sent_headers.hpp"

#include <algorithm>

namespace weft::conformance::rules {

void SentHeaders::add(Bytes ulpdu, std::uint64_t end) {
  end_ = end;
  if (ring_.size() < kKept) {
    ring_.emplace_back();
  } else {
    complete_ = false;
  }
  Segment& segment = ring_[next_];
  next_ = (next_ + 1) % kKept;
  segment.ulpdu_size = static_cast<std::uint32_t>(ulpdu.size());
  if (ulpdu.size() >= segment.front.size()) {
    std::ranges::copy(ulpdu.first<ddp::UntaggedLayout::kSize>(), segment.front.begin());
  } else {
    segment.front = {};
    std::ranges::copy(ulpdu, segment.front.begin());
  }
}

const SentHeaders::Segment* SentHeaders::find(Bytes header) const noexcept {
  const auto begins_so = [&](const Segment& segment) {
    return segment.ulpdu_size >= header.size() && std::ranges::equal(Bytes(segment.front).first(header.size()), header);
  };
  const auto found = std::ranges::find_if(ring_, begins_so);
  return found == ring_.end() ? nullptr : &*found;
}

bool SentHeaders::any_of_length(Bytes header, std::uint32_t length) const noexcept {
  return std::ranges::any_of(ring_, [&](const Segment& segment) {
    const bool same =
        segment.ulpdu_size >= header.size() && std::ranges::equal(Bytes(segment.front).first(header.size()), header);
    return same && (segment.ulpdu_size == length || segment.ulpdu_size - header.size() == length);
  });
}

}  // namespace weft::conformance::rules
