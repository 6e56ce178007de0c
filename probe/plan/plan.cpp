// SPDX-License-Identifier: Apache-2.0
#include "probe/plan/plan.hpp"

#include <algorithm>
#include <array>
#include <bit>
#include <deque>
#include <map>
#include <mutex>
#include <numeric>
#include <random>

namespace weft::probe {
namespace plan {

std::span<const Rule> all_rules() {
  static const std::vector<Rule> all = [] {
    std::vector<Rule> out;
    for (const auto table :
         {mpa_rules, startup_rules, header_rules, bounds_rules, memory_rules, stream_rules, good_rules, depth_rules}) {
      const auto rules = table();
      out.insert(out.end(), rules.begin(), rules.end());
    }
    return out;
  }();
  return all;
}

namespace {

constexpr std::size_t kAxes = 5;
using Indices = std::array<std::size_t, kAxes>;

std::string_view label(Place place) noexcept {
  constexpr std::array<std::string_view, 5> kLabels{"first", "second", "middle", "after-32", "after-20000"};
  return kLabels[std::to_underlying(place)];
}
std::string_view label(Message message) noexcept {
  constexpr std::array<std::string_view, 13> kLabels{"write",
                                                     "read",
                                                     "read-response",
                                                     "send",
                                                     "send-invalidate",
                                                     "send-solicited",
                                                     "send-solicited-invalidate",
                                                     "terminate",
                                                     "immediate",
                                                     "immediate-solicited",
                                                     "fetch-add",
                                                     "cmp-swap",
                                                     "atomic-response"};
  return kLabels[std::to_underlying(message)];
}
std::string_view label(Segment segment) noexcept {
  constexpr std::array<std::string_view, 4> kLabels{"whole", "1of3", "2of3", "3of3"};
  return kLabels[std::to_underlying(segment)];
}
std::string_view label(Delivery delivery) noexcept {
  constexpr std::array<std::string_view, 4> kLabels{"apart", "glued", "dribbled", "halted"};
  return kLabels[std::to_underlying(delivery)];
}
std::string_view label(const Value& value) noexcept { return value.label; }

// One rule, with its combinations and those that were made cases.
class Planned {
 public:
  explicit Planned(const Rule& rule) : rule_(rule) {
    const Axes& axes = rule.axes;
    sizes_ = {axes.places.size(), axes.messages.size(), axes.values.size(), axes.segments.size(),
              axes.deliveries.size()};
    for (std::size_t& size : sizes_) size = std::max<std::size_t>(size, 1);
    Indices at{};
    do {
      const Combination one = combination(at);
      if (rule.allowed == nullptr || rule.allowed(one)) all_.push_back(at);
    } while (step(at));
  }

  // Under the registry's lock.
  const Case* made(const Indices& at) {
    const auto found = cases_.find(at);
    if (found != cases_.end()) return &found->second.one;
    Made& made = cases_[at];
    made.name = name_of(at);
    made.what = std::string(rule_.what) + ": " + words_of(at) + ".";
    const Combination how = combination(at);
    made.one = {.name = made.name,
                .clause = rule_.clause,
                .what = made.what,
                .needs = needs_of(how),
                .also = rule_.also,
                .last = rule_.last != nullptr && rule_.last(how),
                .planned = true,
                .run = [run = rule_.run, how](Scene& scene) { run(scene, how); }};
    return &made.one;
  }

  void all_of(std::string_view prefix, std::vector<const Case*>& out) {
    for (const Indices& at : all_) {
      const std::string name = name_of(at);
      if (name == prefix || name.starts_with(std::string(prefix) + '.')) out.push_back(made(at));
    }
  }

  // `strength` axes at a time: every tuple of their values that some combination has is in the sample.
  void sample(std::size_t strength, std::uint64_t seed, const std::function<bool(std::uint32_t)>& offered,
              std::vector<const Case*>& out) {
    std::vector<Indices> open;
    for (const Indices& at : all_) {
      if (offered(needs_of(combination(at)))) open.push_back(at);
    }
    if (open.empty()) {
      if (!all_.empty()) out.push_back(made(all_.front()));
      return;
    }
    std::mt19937_64 numbers(seed_for(rule_.name, seed));
    std::ranges::shuffle(open, numbers);
    Cover cover(sizes_, strength);
    std::size_t left = 0;
    for (const Indices& at : open) left += cover.add(at);
    std::vector<Indices> chosen;
    // The best of some is taken; where they bring nothing new, the first one that does.
    constexpr std::size_t kTried = 24;
    std::size_t first = 0;
    while (left > 0) {
      std::size_t best = open.size(), most = 0;
      for (std::size_t i = 0; i < kTried; ++i) {
        const std::size_t index = first + numbers() % (open.size() - first);
        if (const std::size_t news = cover.news(open[index]); news > most) best = index, most = news;
      }
      while (most == 0) {
        best = first;
        most = cover.news(open[first++]);
      }
      left -= cover.take(open[best]);
      chosen.push_back(open[best]);
    }
    std::ranges::sort(chosen);
    for (const Indices& at : chosen) out.push_back(made(at));
  }

 private:
  struct Made {
    std::string name{};
    std::string what{};
    Case one{};
  };

  // The tuples of values that a sample has to have.
  class Cover {
   public:
    Cover(const Indices& sizes, std::size_t strength) : sizes_(sizes) {
      std::size_t base = 0;
      for (unsigned axes = 0; axes < (1U << kAxes); ++axes) {
        if (static_cast<std::size_t>(std::popcount(axes)) != strength) continue;
        subsets_.push_back({axes, base});
        std::size_t size = 1;
        for (std::size_t i = 0; i < kAxes; ++i) size *= (axes >> i & 1U) != 0 ? sizes_[i] : 1;
        base += size;
      }
      wanted_.resize(base);
    }
    // Returns how many tuples become wanted.
    std::size_t add(const Indices& at) { return turn(at, true); }
    // Returns how many of the wanted ones it has.
    std::size_t take(const Indices& at) { return turn(at, false); }
    [[nodiscard]] std::size_t news(const Indices& at) const {
      return static_cast<std::size_t>(
          std::ranges::count_if(subsets_, [&](const Subset& subset) { return wanted_[place(subset, at)]; }));
    }

   private:
    struct Subset {
      unsigned axes{};
      std::size_t base{};
    };
    [[nodiscard]] std::size_t place(const Subset& subset, const Indices& at) const {
      std::size_t out = 0;
      for (std::size_t i = 0; i < kAxes; ++i) {
        if ((subset.axes >> i & 1U) != 0) out = out * sizes_[i] + at[i];
      }
      return subset.base + out;
    }
    std::size_t turn(const Indices& at, bool to) {
      std::size_t count = 0;
      for (const Subset& subset : subsets_) {
        auto one = wanted_[place(subset, at)];
        if (one != to) ++count;
        one = to;
      }
      return count;
    }
    Indices sizes_;
    std::vector<Subset> subsets_{};
    std::vector<bool> wanted_{};
  };

  bool step(Indices& at) const {
    for (std::size_t axis = kAxes; axis-- > 0;) {
      if (++at[axis] < sizes_[axis]) return true;
      at[axis] = 0;
    }
    return false;
  }

  [[nodiscard]] Combination combination(const Indices& at) const {
    Combination out;
    const Axes& axes = rule_.axes;
    if (!axes.places.empty()) out.place = axes.places[at[0]];
    if (!axes.messages.empty()) out.message = axes.messages[at[1]];
    if (!axes.values.empty()) out.value = axes.values[at[2]];
    if (!axes.segments.empty()) out.segment = axes.segments[at[3]];
    if (!axes.deliveries.empty()) out.delivery = axes.deliveries[at[4]];
    return out;
  }

  [[nodiscard]] std::uint32_t needs_of(const Combination& how) const {
    return rule_.needs | (rule_.needs_more == nullptr ? 0U : rule_.needs_more(how));
  }

  [[nodiscard]] std::string joined(const Indices& at, std::string_view between, std::string out) const {
    const Combination how = combination(at);
    const std::array<std::string_view, kAxes> labels{label(how.place), label(how.message), label(how.value),
                                                     label(how.segment), label(how.delivery)};
    for (std::size_t axis = 0; axis < kAxes; ++axis) {
      if (sizes_[axis] == 1) continue;
      if (!out.empty()) out += between;
      out += labels[axis];
    }
    return out;
  }
  [[nodiscard]] std::string name_of(const Indices& at) const { return joined(at, ".", std::string(rule_.name)); }
  [[nodiscard]] std::string words_of(const Indices& at) const { return joined(at, ", ", {}); }

  const Rule& rule_;
  Indices sizes_{};
  std::vector<Indices> all_{};
  std::map<Indices, Made> cases_{};
};

struct Registry {
  std::mutex mutex{};
  std::deque<Planned> rules{};  // under mutex
  Registry() {
    for (const Rule& rule : all_rules()) rules.emplace_back(rule);
  }
};
Registry& registry() {
  static Registry one;
  return one;
}

}  // namespace
}  // namespace plan

std::chrono::seconds time_of(Depth depth) noexcept {
  return depth == Depth::kDeep ? std::chrono::seconds(570) : std::chrono::seconds(50);
}

std::string_view name(Depth depth) noexcept {
  constexpr std::array<std::string_view, 3> kNames{"quick", "normal", "deep"};
  return kNames[std::to_underlying(depth)];
}

std::vector<const Case*> planned_cases(Depth depth, std::uint64_t seed,
                                       const std::function<bool(std::uint32_t needs)>& offered) {
  auto& all = plan::registry();
  const std::scoped_lock lock(all.mutex);
  std::vector<const Case*> out;
  for (auto& rule : all.rules) rule.sample(std::size_t{std::to_underlying(depth)} + 1, seed, offered, out);
  return out;
}

std::vector<const Case*> planned_cases_of(std::string_view prefix) {
  auto& all = plan::registry();
  const std::scoped_lock lock(all.mutex);
  std::vector<const Case*> out;
  for (auto& rule : all.rules) rule.all_of(prefix, out);
  return out;
}

std::string_view rule_of(const Case& one) noexcept {
  return one.planned ? one.name.substr(0, one.name.find('.')) : std::string_view();
}

}  // namespace weft::probe
