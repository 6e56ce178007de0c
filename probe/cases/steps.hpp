// SPDX-License-Identifier: Apache-2.0
// Steps that many cases have in common.
#pragma once

#include <functional>
#include <initializer_list>
#include <vector>

#include "probe/cases/cases.hpp"
#include "probe/cases/errors.hpp"
#include "probe/scene.hpp"

namespace weft::probe {

using Errors = std::vector<rdmap::ErrorCode>;

inline constexpr std::uint8_t kReadWrite = Region::kRead | Region::kWrite;
inline constexpr std::uint8_t kAllRights = kReadWrite | Region::kAtomic;
inline constexpr ddp::Stag kNoSuchStag{0xDEAD0BAD};  // of no peer, but by chance

// An offset in a region, as an address of the wire.
[[nodiscard]] inline ddp::TaggedOffset at(const Region& region, std::int64_t offset) noexcept {
  return {region.offset.value + static_cast<std::uint64_t>(offset)};
}

// The rest of a case whose last ULPDU breaks a rule. Sends it: the stream ends by a Terminate with one of these errors and the
// ULPDU's headers, and where the peer's memory can be looked at, nothing of it was placed there.
void expect_refused(Scene& scene, Conversation& by, Bytes ulpdu, const Errors& any_of, const FpduFault& fault = {});
// The same with a well-formed Write behind it, which has no effect any more.
void expect_refused_and_deaf(Scene& scene, Conversation& by, Bytes ulpdu, const Errors& any_of,
                             const FpduFault& fault = {});

// The Send is delivered, octet by octet, with this length: as many receives as `before` and one more.
void expect_delivered(Scene& scene, Conversation& by, Bytes payload, const PeerReport& before);

// So many of the peer's own requests complete, now or a little later: completions of the two queues have no order.
void expect_requests_done(Scene& scene, Conversation& by, std::uint32_t count);

// A Read Request of the peer's memory, to our own kOwnStag.
[[nodiscard]] rdmap::ReadRequest read_of(ddp::Stag stag, ddp::TaggedOffset offset, std::uint32_t size) noexcept;

}  // namespace weft::probe
