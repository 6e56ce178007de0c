// SPDX-License-Identifier: Apache-2.0
#include "verbs/stream/early_sends.hpp"

#include <array>
#include <bit>
#include <utility>

#include "verbs/base/send_opcodes.hpp"
#include "verbs/stream/send_checks.hpp"

namespace weft::verbs::detail {

Result<void> EarlySends::add(const SendRequest& request, const QueuePairAttributes& limits) {
  if (const auto sound = check(request, limits); !sound) return sound;
  Waiting waiting{.request = request, .segments{request.segments.begin(), request.segments.end()}};
  if (has(request.flags, SendFlags::kInline)) {
    std::array<std::byte, engine::kMaxInline> copied;
    const auto octets = copy_inline(request, limits.max_inline, copied);
    if (!octets) return std::unexpected(octets.error());
    waiting.octets.assign(octets->begin(), octets->end());
    waiting.segments.assign(1, {.address = std::bit_cast<std::uintptr_t>(waiting.octets.data()),
                                .length = static_cast<std::uint32_t>(waiting.octets.size())});
  }
  if (row(request.opcode).operation == engine::Operation::kLocal) {
    auto local = local_work(request);
    if (!local) return std::unexpected(local.error());
    waiting.local = std::move(*local);
    waiting.request.bind.window = nullptr;  // the handles may be gone before the connection is there
    waiting.request.bind.region = nullptr;
  }
  waiting.request.segments = waiting.segments;
  waiting_.push_back(std::move(waiting));  // moving keeps what the spans point to
  return {};
}

}  // namespace weft::verbs::detail
