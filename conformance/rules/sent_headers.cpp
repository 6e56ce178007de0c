// SPDX-License-Identifier: Apache-2.0
#include "conformance/rules/sent_headers.hpp"

#include <algorithm>

namespace weft::conformance::rules {

void SentHeaders::add(Bytes ulpdu) {
  Segment segment{{}, static_cast<std::uint32_t>(ulpdu.size())};
  std::ranges::copy(ulpdu.first(std::min(ulpdu.size(), segment.front.size())), segment.front.begin());
  if (ring_.size() < kKept) {
    ring_.push_back(segment);
    return;
  }
  ring_[next_] = segment;
  next_ = (next_ + 1) % kKept;
  complete_ = false;
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
