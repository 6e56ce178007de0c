// SPDX-License-Identifier: Apache-2.0
// An owner of memory for tests: one tagged buffer, and receives that are vectors.
#pragma once

#include <algorithm>
#include <deque>
#include <map>
#include <optional>

#include "ddp/placement.hpp"
#include "ddp/tagged.hpp"
#include "tests/ddp/octets.hpp"

namespace weft::test {

class FakePlacement : public ddp::Placement {
 public:
  static constexpr ddp::Stag kStag{0x01020304};
  static constexpr std::uint64_t kBase = 0x1000;

  explicit FakePlacement(std::size_t tagged_size = 256) : tagged(tagged_size) {}

  std::expected<void, ddp::AccessError> place_tagged(ddp::Stag stag, ddp::TaggedOffset offset, Bytes payload) override {
    ++tagged_calls;
    if (refuse) return std::unexpected(*refuse);
    if (stag != kStag) return std::unexpected(ddp::AccessError::kInvalidStag);
    if (ddp::offset_wraps(offset, payload.size())) return std::unexpected(ddp::AccessError::kOffsetWrap);
    const std::uint64_t at = offset.value - kBase;
    if (offset.value < kBase || at > tagged.size() || payload.size() > tagged.size() - at) {
      return std::unexpected(ddp::AccessError::kBaseOrBounds);
    }
    std::ranges::copy(payload, tagged.begin() + static_cast<std::ptrdiff_t>(at));
    return {};
  }

  std::optional<ddp::ReceiveBuffer> take_receive() override {
    if (posted.empty()) return std::nullopt;
    const ddp::ReceiveBuffer buffer = posted.front();
    posted.pop_front();
    return buffer;
  }

  std::expected<void, ddp::LocalFault> place_untagged(const ddp::ReceiveBuffer& buffer, std::uint64_t offset,
                                                      Bytes payload) override {
    if (deregistered) return std::unexpected(ddp::LocalFault::kInvalidKey);
    Octets& memory = receives.at(buffer.cookie);
    std::ranges::copy(payload, memory.begin() + static_cast<std::ptrdiff_t>(offset));  // ASan sees what passes the end
    return {};
  }

  void post(std::uint64_t cookie, std::size_t size) {
    receives[cookie] = Octets(size);
    posted.push_back({cookie, size});
  }

  Octets tagged;
  std::map<std::uint64_t, Octets> receives;
  std::deque<ddp::ReceiveBuffer> posted;
  std::optional<ddp::AccessError> refuse{};
  bool deregistered = false;
  int tagged_calls = 0;
};

}  // namespace weft::test
