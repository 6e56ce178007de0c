// SPDX-License-Identifier: Apache-2.0
#include "verbs/stream/early_sends.hpp"

#include <bit>
#include <utility>

#include "verbs/base/send_opcodes.hpp"
#include "verbs/stream/send_checks.hpp"

namespace weft::verbs::detail {

Result<void> EarlySends::add(const SendRequest& request, const QueuePairAttributes& limits) {
  if (const auto sound = check(request, limits); !sound) return sound;
  if (row(request.opcode).operation == engine::Operation::kLocal) {
    return fail(Errc::kInvalidState, "opcode", "binds and local invalidations need an established connection");
  }
  Waiting waiting{.request = request, .segments{request.segments.begin(), request.segments.end()}};
  if (has(request.flags, SendFlags::kInline)) {
    const auto octets = inline_octets(request, limits.max_inline);
    if (!octets) return std::unexpected(octets.error());
    waiting.octets.resize(*octets);
    copy_inline(request, waiting.octets);
    waiting.segments.assign(1, {.address = std::bit_cast<std::uintptr_t>(waiting.octets.data()),
                                .length = static_cast<std::uint32_t>(*octets)});
  }
  waiting.request.segments = waiting.segments;
  waiting_.push_back(std::move(waiting));  // moving keeps what the spans point to
  return {};
}

}  // namespace weft::verbs::detail
