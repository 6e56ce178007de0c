// SPDX-License-Identifier: Apache-2.0
#include "compat/direct/agreement.hpp"

namespace weft::compat::direct {

namespace {

bool agree(const std::optional<std::uint32_t>& a, const std::optional<std::uint32_t>& b) { return !a || !b || a == b; }

}  // namespace

bool FirstNumber::set(std::uint32_t psn) {
  const std::lock_guard lock(mutex_);
  set_ = psn;
  return agree(set_, expected_);
}

// A number that differs is not kept: its connection is not made.
bool FirstNumber::expect(std::uint32_t psn) {
  const std::lock_guard lock(mutex_);
  if (!agree(set_, psn)) return false;
  expected_ = psn;
  return true;
}

Verdict judge(const Greeting& peers, const Greeting& own) noexcept {
  const bool agreed = peers.from == own.to && peers.to == own.from && peers.rq_psn && agree(peers.sq_psn, own.rq_psn) &&
                      agree(own.sq_psn, peers.rq_psn);
  if (!agreed) return Verdict::kOther;
  return peers.sq_psn || own.sq_psn ? Verdict::kVerified : Verdict::kUnverified;
}

}  // namespace weft::compat::direct
