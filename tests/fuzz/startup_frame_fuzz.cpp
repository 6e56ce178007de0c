// SPDX-License-Identifier: Apache-2.0
// Hostile octets at both startup machines, in two pieces; and what parses must serialize to the same octets.
#include <algorithm>
#include <array>
#include <cstdint>
#include <cstdlib>
#include <span>
#include <variant>

#include "mpa/startup.hpp"

using namespace weft;

namespace {

void require(bool condition) {
  if (!condition) std::abort();
}

void round_trip(Bytes octets, mpa::FrameKind kind) {
  const auto parsed = mpa::parse_startup_frame(octets, kind);
  if (!parsed || !*parsed) return;
  std::array<std::byte, mpa::kMaxStartupFrameSize> again{};
  const std::size_t size = serialize(**parsed, again);
  require(size <= octets.size() && std::ranges::equal(octets.first(size), std::span(again).first(size)));
}

// Cut or not, the machine comes to the same end.
template <typename Machine>
void feed(Machine whole, Machine cut, Bytes octets, std::size_t at) {
  require(whole.receive(octets).consumed <= octets.size());
  const auto early = cut.receive(octets.first(at));
  if (std::holds_alternative<mpa::StartupFailure>(early.outcome)) require(whole.phase() == mpa::Phase::kFailed);
  if (!std::holds_alternative<mpa::NeedMore>(early.outcome)) return;
  (void)cut.receive(octets);
  require(whole.phase() == cut.phase());
}

}  // namespace

// The first octet chooses the policy and the cut.
extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  if (size == 0) return 0;
  const Bytes octets = std::as_bytes(std::span(data + 1, size - 1));
  const bool first = (data[0] & 1) != 0;
  const mpa::Policy policy{.revision = static_cast<std::uint8_t>(first ? 1 : 2),
                           .peer_to_peer = !first && (data[0] & 2) != 0};
  round_trip(octets, mpa::FrameKind::kRequest);
  round_trip(octets, mpa::FrameKind::kReply);
  mpa::Initiator initiator(policy);
  require(initiator.start({}).has_value());
  const std::size_t at = octets.size() * (data[0] >> 2) / 64;
  feed(initiator, initiator, octets, at);
  feed(mpa::Responder(policy), mpa::Responder(policy), octets, at);
  return 0;
}
