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

// The errors of an access of `size` octets that begins at `from`, beyond its memory. Where its end reaches 2^64, as it
// does just below an offset of 0, the offset wraps, too.
[[nodiscard]] Errors bounds_errors(bool write, ddp::TaggedOffset from, std::uint64_t size);

// FPDUs that leave together, so that they are there when the first one is dealt with.
class Burst {
 public:
  explicit Burst(Conversation& by) : by_(by) {}
  Burst& add(Bytes ulpdu, const FpduFault& fault = {}) {
    const auto fpdu = by_.fpdu(ulpdu, fault);
    octets_.insert(octets_.end(), fpdu.begin(), fpdu.end());
    return *this;
  }
  void send() { by_.send(octets_); }

 private:
  Conversation& by_;
  std::vector<std::byte> octets_{};
};

// The rest of a case whose last ULPDU breaks a rule. Sends it: the stream ends by a Terminate with one of these errors
// and the ULPDU's headers.
void expect_refused(Conversation& by, Bytes ulpdu, const Errors& any_of, const Errors& tolerated = {});
// The same, and where the peer's memory can be looked at, nothing of the ULPDU was placed there.
void expect_refused(Scene& scene, Conversation& by, Bytes ulpdu, const Errors& any_of, const Errors& tolerated = {});
// The same with well-formed Writes after it, in its own segment and in later ones: none has an effect any more.
void expect_refused_and_deaf(Scene& scene, Conversation& by, Bytes ulpdu, const Errors& any_of,
                             const FpduFault& fault = {});

// A message finds no receive: Terminate 1/2/02. A peer that waits for a receive is warned: it may try to recover (RFC
// 5041 section 7.1).
void expect_no_buffer(Conversation& by, Bytes ulpdu);

// The peer's report, by RDMA Reads, once this number of receives have completed, or when the time is over.
[[nodiscard]] PeerReport peek_until(Scene& scene, Conversation& by, std::uint32_t receives);
// The Send, which was the last, is delivered octet by octet, with its length, by the receive whose turn it is after
// `before`.
void expect_delivered(Scene& scene, Conversation& by, Bytes payload, const PeerReport& before);

// This number of the peer's own requests complete, now or a little later: completions of the two queues have no order.
void expect_requests_done(Scene& scene, Conversation& by, std::uint32_t count);

// A Read Request of the peer's memory, to our own kOwnStag.
[[nodiscard]] rdmap::ReadRequest read_of(ddp::Stag stag, ddp::TaggedOffset offset, std::uint32_t size) noexcept;

}  // namespace weft::probe
