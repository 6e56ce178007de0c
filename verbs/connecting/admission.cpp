// SPDX-License-Identifier: Apache-2.0
#include "verbs/connecting/admission.hpp"

#include <algorithm>

#include "verbs/base/seats.hpp"
#include "verbs/connecting/one_peer.hpp"

namespace weft::verbs::detail {

namespace {

constexpr Duration kSecond = std::chrono::seconds(1);

// 0: no limit.
bool reaches(std::size_t count, std::uint32_t limit) noexcept { return limit != 0 && count >= limit; }

}  // namespace

Admission::Limits Admission::limits_of(const Policy& policy) {
  return {.access = policy.admission.access,
          .rate_per_peer = policy.admission.connect_rate_per_peer,
          .per_peer = policy.admission.connections_per_peer,
          .per_listener = policy.admission.connections_per_listener,
          .per_process = policy.admission.connections_per_process};
}

// A peer that has gone already is let in by a listener that lets in all; its connection ends by itself.
std::optional<Admission::Refusal> Admission::refuses(const std::optional<transport::Address>& peer, Instant now) {
  const std::lock_guard lock(mutex_);
  if (!peer) return limits_.access.empty() ? std::nullopt : std::optional(count(Refusal::kDenied, {}));
  if (!limits_.access.admits(*peer)) return count(Refusal::kDenied, *peer);
  const transport::Address one = one_peer(*peer);
  if (is_full_for(one)) return count(Refusal::kTooMany, *peer);
  if (comes_too_fast(one, now)) return count(Refusal::kTooFast, *peer);
  return std::nullopt;
}

std::optional<Admission::Seat> Admission::take_seat(const std::shared_ptr<Admission>& at,
                                                    const transport::Address& peer) {
  const std::lock_guard lock(at->mutex_);
  const transport::Address one = one_peer(peer);
  if (at->is_full_for(one)) return at->count(Refusal::kTooMany, peer), std::nullopt;
  const auto its = at->peers_.try_emplace(one).first;
  ++its->second.seats;
  ++at->counts_.seats;
  ++seats_in_process();
  return Seat(at, its);
}

void Admission::Seat::leave() noexcept {
  const auto at = std::move(at_);
  if (!at) return;
  const std::lock_guard lock(at->mutex_);
  --seats_in_process();
  --at->counts_.seats;
  Peer& its = peer_->second;
  if (--its.seats == 0 && !its.rate) at->peers_.erase(peer_);
}

Admission::Refusal Admission::count(Refusal why, const transport::Address& peer) {
  ++counts_.refused[std::to_underlying(why)];
  last_refused_ = peer;
  return why;
}

bool Admission::is_full_for(const transport::Address& one) const {
  const auto its = peers_.find(one);
  return (its != peers_.end() && reaches(its->second.seats, limits_.per_peer)) ||
         reaches(counts_.seats, limits_.per_listener) || reaches(seats_in_process(), limits_.per_process);
}

bool Admission::comes_too_fast(const transport::Address& one, Instant now) {
  if (limits_.rate_per_peer == 0) return false;
  if (peers_.size() >= most_peers_) forget_the_calm(now);
  auto& rate = peers_[one].rate;
  if (!rate) rate.emplace(Rate{.burst = limits_.rate_per_peer, .each = kSecond / limits_.rate_per_peer});
  return !rate->take(now);
}

// Forgets peers without a connection whose burst is full again, which takes at most a second after their last
// connection. So the table has at most twice as many entries as peers with connections or that came within a second.
void Admission::forget_the_calm(Instant now) {
  std::erase_if(peers_, [now](const auto& entry) {
    const Peer& its = entry.second;
    return its.seats == 0 && its.rate && its.rate->is_full(now);
  });
  most_peers_ = std::max(2 * peers_.size(), kFewPeers);
}

std::optional<std::string> Admission::line(Instant now) {
  const std::lock_guard lock(mutex_);
  if (counts_.refused == told_.refused || !lines_.take(now)) return std::nullopt;
  const auto since = [this](Refusal why) {
    const auto which = std::to_underlying(why);
    return std::to_string(counts_.refused[which] - told_.refused[which]);
  };
  std::string text = "connections refused: " + since(Refusal::kDenied) + " by their address, " +
                     since(Refusal::kTooFast) + " that came too fast, " + since(Refusal::kTooMany) +
                     " beyond the number of connections; the last one of " + last_refused_.to_string();
  told_ = counts_;
  return text;
}

Admission::Counts Admission::counts() const {
  const std::lock_guard lock(mutex_);
  return counts_;
}

std::size_t Admission::peers() const {
  const std::lock_guard lock(mutex_);
  return peers_.size();
}

}  // namespace weft::verbs::detail
