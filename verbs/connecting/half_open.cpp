// SPDX-License-Identifier: Apache-2.0
#include "verbs/connecting/half_open.hpp"

#include <algorithm>
#include <atomic>
#include <ranges>
#include <utility>

#include "transport/descriptor_limit.hpp"
#include "verbs/connecting/one_peer.hpp"

namespace weft::verbs::detail {

namespace {

constexpr std::size_t kFewestPlaces = 1024;
constexpr std::size_t kMostPlaces = 8192;
constexpr std::size_t kPlacesOfOneRequest = 4;
constexpr std::size_t kUnhurried = 4;  // the patience is whole until a fourth of the places is taken
constexpr Duration::rep kLeast = 20;   // and never less than a twentieth of the whole

// Malloc's free memory below this is no concern, and neither is that of the last eighth.
constexpr std::size_t kMuch = HalfOpen::kMostOctets / 8;
constexpr std::size_t kFew = 8;

struct OfProcess {
  std::atomic<std::size_t> connections{0};
  std::atomic<std::size_t> requests{0};  // complete ones, that the application has not taken
  std::atomic<std::size_t> octets{0};
  std::atomic<std::size_t> most_octets{0};  // since memory was last returned

  void add(std::size_t more) noexcept {
    ++connections;
    const std::size_t now = octets += more;
    for (std::size_t most = most_octets; most < now && !most_octets.compare_exchange_weak(most, now);) {
    }
  }
  void remove(std::size_t count, std::size_t each) noexcept {
    connections -= count;
    octets -= count * each;
  }
};

OfProcess& in_process() noexcept {
  static OfProcess one;
  return one;
}

}  // namespace

bool HalfOpen::ask() noexcept { return in_process().requests.fetch_add(1) < limits_.in_process; }
void HalfOpen::leave_request() noexcept { --in_process().requests; }

HalfOpen::Limits HalfOpen::limits_of(int backlog, std::uint32_t per_peer, Duration startup_timeout, bool tls) noexcept {
  const std::size_t half = transport::part_of_descriptors(2, kMostPlaces);
  const auto wanted = std::clamp(kPlacesOfOneRequest * static_cast<std::size_t>(backlog), kFewestPlaces, kMostPlaces);
  const std::size_t octets = tls ? kOctetsTls : kOctetsPlain;
  return {.places = std::min({wanted, half, kMostOctets / octets}),
          .per_peer = per_peer,
          .in_process = half,
          .patience = startup_timeout,
          .octets = octets};
}

bool HalfOpen::have_left_memory() noexcept {
  auto& all = in_process();
  std::size_t most = all.most_octets;
  const std::size_t now = all.octets;
  return most >= kMuch && now <= most / kFew && all.most_octets.compare_exchange_strong(most, now);
}

HalfOpen::~HalfOpen() { in_process().remove(entries_.size(), limits_.octets); }

std::vector<HalfOpen::Entry> HalfOpen::enter(Entry newcomer) {
  std::vector<Entry> out;
  while (size() > limits_.places / kUnhurried && newcomer.since - entries_.begin()->second.since > patience()) {
    out.push_back(take(entries_.begin()));
  }
  newcomer.peer = one_peer(newcomer.peer);
  if (const auto other = in_the_way_of(newcomer.peer)) out.push_back(take(entries_.find(*other)));
  auto& its = peers_[newcomer.peer];
  its.insert(newcomer.number);
  try {
    entries_.emplace(newcomer.number, newcomer);
  } catch (...) {  // no memory
    its.erase(newcomer.number);
    throw;
  }
  in_process().add(limits_.octets);
  return out;
}

// A peer that has more than its share makes room for itself, so that it cannot drive out others.
std::optional<std::uint64_t> HalfOpen::in_the_way_of(const transport::Address& peer) const {
  const auto found = peers_.find(peer);
  const std::size_t its = found == peers_.end() ? 0 : found->second.size();
  if (limits_.per_peer != 0 && its >= limits_.per_peer) return *found->second.begin();
  const bool full = size() >= limits_.places ||
                    in_process().connections + in_process().requests >= limits_.in_process ||
                    in_process().octets + limits_.octets > kMostOctets;
  if (!full || entries_.empty()) return std::nullopt;
  const std::size_t share = limits_.places / (peers_.size() + (its == 0 ? 1 : 0));
  return its > share ? *found->second.begin() : entries_.begin()->first;
}

bool HalfOpen::leave(std::uint64_t number) {
  const auto entry = entries_.find(number);
  if (entry == entries_.end()) return false;
  take(entry);
  return true;
}

std::optional<HalfOpen::Entry> HalfOpen::take_oldest() {
  if (entries_.empty()) return std::nullopt;
  return take(entries_.begin());
}

std::shared_ptr<ConnectionState> HalfOpen::find(const Path& path) const {
  const auto found = peers_.find(one_peer(path.peer.address));
  if (found == peers_.end()) return nullptr;
  for (const std::uint64_t number : found->second | std::views::reverse) {
    const auto entry = entries_.find(number);
    if (entry->second.path == path) return entry->second.connection.lock();
  }
  return nullptr;
}

HalfOpen::Entry HalfOpen::take(Entries::iterator entry) {
  Entry taken = std::move(entry->second);
  const auto peer = peers_.find(taken.peer);
  peer->second.erase(taken.number);
  if (peer->second.empty()) peers_.erase(peer);
  entries_.erase(entry);
  in_process().remove(1, limits_.octets);
  return taken;
}

Duration HalfOpen::patience() const noexcept {
  const std::size_t unhurried = limits_.places / kUnhurried;
  if (size() <= unhurried) return limits_.patience;
  const std::size_t free = limits_.places - std::min(size(), limits_.places);
  const auto parts = static_cast<Duration::rep>(limits_.places - unhurried);
  return std::max(limits_.patience / kLeast, limits_.patience / parts * static_cast<Duration::rep>(free));
}

}  // namespace weft::verbs::detail
