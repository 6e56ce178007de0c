// SPDX-License-Identifier: Apache-2.0
// The walk: after which octets it looks again. TCP may hand over an octet or a whole packet at a time; what comes out
// must not depend on that (MPA-5.1-06). So while anything is in doubt the octets are shown in steps that they
// themselves determine: each decision is made with the octets that it takes and no others. From the first FPDU on,
// lengths tell where to look, and all that is there may be shown at once.
#include <algorithm>

#include "conformance/walk.hpp"

namespace weft::conformance {
namespace {

constexpr std::uint64_t kLookEvery = 32;  // octets, while FPDUs are searched for; at multiples of it in the stream
constexpr std::size_t kNone = ~std::size_t{0};

// Octets of the window up to the end of the first key that is not wholly shown; of `looked` octets.
std::size_t key_end(const OctetWindow& window, std::size_t looked) noexcept {
  const std::size_t from = window.size() - std::min(window.size(), mpa::kKeySize - 1);
  const auto key = find_key(window.all().first(looked).subspan(from));
  return key ? from + key->at + mpa::kKeySize : kNone;
}

}  // namespace

// The octets that came first are shown first.
bool Walk::show_more() {
  Half& first = half(End::kFirst);
  Half& second = half(End::kSecond);
  if (first.window.hidden() == 0 && second.window.hidden() == 0) return false;
  const auto turn = [](const Half& half) { return half.window.turn(half.window.size()); };
  const bool show_second = first.window.hidden() == 0 || (second.window.hidden() > 0 && turn(second) < turn(first));
  Half& shown = show_second ? second : first;
  shown.window.show(std::max<std::size_t>(next_look(shown), 1));
  if (shown.phase == Phase::kLost && !shown.search.found) shown.turn.undecided = true;
  return true;
}

// Octets that have to come before the next look.
std::size_t Walk::next_look(Half& half) const {
  const std::size_t size = half.window.size();
  const std::size_t wanted = half.needed > size ? half.needed - size : 1;
  switch (half.phase) {
    case Phase::kSearching: return next_search(half);
    case Phase::kStartup:
    case Phase::kUnagreed: return wanted;
    case Phase::kWaiting: return size > kMostWaiting ? half.window.hidden() : kMostWaiting + 1 - size;
    case Phase::kFollowing: return half.fpdus.number > 0 ? half.window.hidden() : wanted;
    case Phase::kLost: return next_scan(half, size + wanted) - size;
    case Phase::kIgnoring: break;
  }
  return half.window.hidden();
}

std::size_t Walk::next_search(const Half& half) const {
  const OctetWindow& window = half.window;
  const std::size_t size = window.size();
  if (half.startup.may_be_missing) return size < mpa::kKeySize ? mpa::kKeySize - size : 1;
  const auto up_to = [&](std::uint64_t offset) {
    return window.end() >= offset ? 1 : static_cast<std::size_t>(offset - window.end());
  };
  const std::size_t most = std::min(up_to(kSearched + 1), key_end(window, window.all().size()) - size);
  if (half.front.at < window.begin()) return most;
  if (!half.front.no_fpdu) return std::min(most, up_to(std::max(half.front.look_at, half.front.at + 1)));
  return at_once(half) ? std::min(most, up_to(half.front.at + kKeptOfSearch + 1)) : most;
}

// To a place in the stream, not in what was handed over. A startup frame may be all that is sent, so it is looked at
// when its key is there.
std::size_t Walk::next_scan(Half& half, std::size_t wanted) const {
  const OctetWindow& window = half.window;
  const std::uint64_t end = (window.begin() + wanted + kLookEvery - 1) / kLookEvery * kLookEvery;
  std::size_t look = static_cast<std::size_t>(end - window.begin());
  if (half.startup_may_come()) look = std::min(look, key_end(window, std::min(look, window.all().size())));
  half.search.look_at = window.begin() + look;
  return look;
}

// With octets that were not shown, the direction goes on.
bool Walk::cut(const Half& half) const noexcept { return half.window.hidden() == 0 && (finished_ || half.stop.near()); }

bool Walk::due(const Half& half) const noexcept {
  if (cut(half) || half.search.found) return true;
  return half.phase == Phase::kLost ? half.window.end() == half.search.look_at : half.window.size() >= half.needed;
}

}  // namespace weft::conformance
