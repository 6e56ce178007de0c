// SPDX-License-Identifier: Apache-2.0
#include "probe/runner.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <map>
#include <mutex>
#include <thread>
#include <utility>

namespace weft::probe {
namespace {

// What a way must offer for a case, in words.
std::string_view words_of(std::uint32_t need) {
  switch (need) {
    case kListens: return "the peer connects by itself; this case is for one that listens";
    case kConnects: return "the peer listens; this case is for one that connects";
    case kRegions: return "the peer advertises no memory";
    case kReceives: return "the peer does not take Sends of any content";
    case kReport: return "the peer does not tell what completed";
    case kOrders: return "the peer does not do what it is told";
    case kSessions: return "no second connection sees what the first one did";
    case kAtomics: return "the peer has no memory for atomics (RFC 7306)";
    case kReads: return "the peer cannot be brought to read our memory";
    case kEnhanced:
      return "the peer's startup is plain, as MPA's revision 1 has it; this case needs the enhanced one of RFC 6581";
    default: return "the peer does not offer what this case needs";
  }
}

std::string missing(std::uint32_t lacking) {
  for (std::uint32_t bit = 1; bit != 0; bit <<= 1U) {
    if ((lacking & bit) != 0) return std::string(words_of(bit));
  }
  return {};
}

// An ordinary connection, used and closed. A sentence where it did not work, and what crossed the wire then. One that
// was not tried to the end tells nothing.
struct Visit {
  std::string wrong{};
  std::vector<Exchange> exchanges{};
};
Visit visit(Way& way) {
  Scene scene(way, 0);
  try {
    scene.expect_alive(scene.connect());
  } catch (const Judgement& judgement) {
    if (judgement.verdict != Verdict::kNotApplicable) return {judgement.what(), scene.exchanges()};
  }
  return {};
}

class Run {
 public:
  Run(Way& way, const RunOptions& options) : way_(way), options_(options) {
    for (const Case* const one : selected_cases(way, options)) results_.push_back({.what = one});
    quiet_used_.resize(results_.size());
    quiet_before_.resize(results_.size());
    // Where the time is short, each rule has had some of its combinations.
    std::map<std::string_view, std::size_t> of_rule;
    std::vector<std::size_t> turns, order;
    for (std::size_t i = 0; i < results_.size(); ++i) {
      turns.push_back(results_[i].what->planned ? ++of_rule[rule_of(*results_[i].what)] : 0);
      order.push_back(i);
    }
    std::ranges::sort(order, {}, [&](std::size_t i) { return std::pair(turns[i], i); });
    // Cases that wait for the peer's timeouts begin first, and the others run beside them.
    // What may end the peer comes last, so that it hides nothing of what the others find.
    for (const std::size_t i : order) {
      const Case& one = *results_[i].what;
      (one.slow ? slow_ : one.last ? last_ : quick_).push_back(i);
    }
  }

  std::vector<CaseResult> all() {
    ordinary_ = visit(way_).wrong.empty();
    if (!ordinary_) {
      if (const auto there = check_reachable(way_); !there) lost(nullptr, there.error());
    }
    const unsigned allowed = options_.at_a_time != 0 ? options_.at_a_time : way_.most_at_a_time();
    const unsigned most = way_.learned->one_at_a_time() ? 1 : allowed;
    const bool alone = most == 1;
    std::vector<std::jthread> slow;
    for (const std::size_t index : slow_) {
      if (alone)
        quick_.push_back(index);
      else
        slow.emplace_back([this, index] { one(index); });
    }
    const auto all_of = [&](std::vector<std::size_t> which) {
      todo_ = std::move(which);
      next_ = 0;
      std::vector<std::jthread> threads;
      for (unsigned i = 0; i < most; ++i) threads.emplace_back([this] { work(); });
    };
    all_of(quick_);
    all_of(last_);
    slow.clear();
    all_of(judged_too_early());
    return std::move(results_);
  }
  [[nodiscard]] const std::optional<PeerGone>& lost_peer() const noexcept { return lost_; }

 private:
  void work() {
    for (std::size_t next = next_++; next < todo_.size(); next = next_++) one(todo_[next]);
  }

  // Cases that took a time for silence that was too short, as the run has learned since: they run once more. So does
  // what found something wrong.
  std::vector<std::size_t> judged_too_early() const {
    std::vector<std::size_t> out;
    for (std::size_t i = 0; i < results_.size() && !gone_; ++i) {
      const CaseResult& one = results_[i];
      const bool matters = one.verdict == Verdict::kFail || one.verdict == Verdict::kWarn || quiet_used_[i];
      const Duration then = quiet_used_[i].value_or(quiet_before_[i]);
      if (one.ran && matters && 2 * then < way_.quiet_now()) out.push_back(i);
    }
    return out;
  }

  void one(std::size_t index) {
    if (options_.stop != nullptr && *options_.stop) return;
    CaseResult& result = results_[index];
    const bool again = result.ran;
    if (again) result = {.what = result.what};
    result.ran = true;
    const Instant began = now();
    quiet_before_[index] = way_.quiet_now();
    quiet_used_[index] = conduct(result);
    result.took = std::chrono::duration_cast<std::chrono::milliseconds>(now() - began);
    const std::scoped_lock lock(telling_);
    if (!again) ++done_;
    if (options_.on_result) options_.on_result(result, done_, results_.size());
  }

  // Returns the time that the case took for silence, if it did.
  std::optional<Duration> conduct(CaseResult& result) {
    result.verdict = Verdict::kNotApplicable;
    result.reason = missing(way_.lacks(result.what->needs));
    if (!result.reason.empty()) return std::nullopt;
    if (gone_) {
      result.reason = "the peer had stopped accepting connections";
      return std::nullopt;
    }
    if (result.what->planned && limited_ && now() > planned_until_) {
      result.out_of_time = true;
      result.reason = fmt::format("the time for combinations of depth {} was over", name(options_.depth));
      return std::nullopt;
    }
    const auto quiet = play(result);
    if (result.verdict != Verdict::kNotApplicable) look_after(result);
    if (result.what->planned && !options_.keeps_all) forget(result);
    return quiet;
  }

  // The scene, and with it a peer that was started for the case, is over before the next one begins.
  std::optional<Duration> play(CaseResult& result) {
    Scene scene(way_, seed_for(result.what->name, options_.seed), result.what->slow ? Scene::kSlowTime : Scene::kTime);
    try {
      result.what->run(scene);
      result.verdict = Verdict::kPass;
    } catch (const Judgement& judgement) {
      result.verdict = judgement.verdict;
      result.reason = judgement.what();
    }
    if (const auto warnings = scene.warnings(); result.verdict == Verdict::kPass && !warnings.empty()) {
      result.verdict = Verdict::kWarn;
      result.reason = warnings.front();
    }
    result.exchanges = scene.exchanges();
    return scene.quiet_used();
  }

  // After a case a fresh connection still works, if one ever did. A peer that is gone breaks no clause: what a failed
  // case saw may have been its end.
  void look_after(CaseResult& result) {
    if (!ordinary_ && result.verdict != Verdict::kFail) return;
    const Visit fresh = ordinary_ ? visit(way_) : Visit{};
    if (ordinary_ && fresh.wrong.empty()) return;
    if (const auto there = check_reachable(way_); !there) {
      lost(result.what, there.error());
      if (result.verdict != Verdict::kFail) return;
      result.peer_ended = true;
      result.verdict = Verdict::kNotApplicable;
      result.reason = "the peer stopped accepting connections; the case had seen: " + result.reason;
      return;
    }
    if (!ordinary_ || result.verdict == Verdict::kFail) return;
    result.exchanges.insert(result.exchanges.end(), fresh.exchanges.begin(), fresh.exchanges.end());
    result.verdict = Verdict::kFail;
    result.reason = "after it, a fresh connection did not work: " + fresh.wrong;
  }

  // Thousands of combinations that passed have nothing to show, but for what the peer's octets break.
  void forget(CaseResult& result) const {
    if (result.verdict != Verdict::kPass && result.verdict != Verdict::kNotApplicable) return;
    const auto rules = judge({result});
    const auto broken = [](const RuleResult& rule) { return rule.breaches != 0; };
    if (std::ranges::any_of(rules, broken)) return;
    for (const Exchange& exchange : result.exchanges) {
      for (const Part& part : exchange.parts) way_.learned->gave_up(part.octets.size());
    }
    result.exchanges = {};
  }

  void lost(const Case* after, const std::string& reason) {
    const std::scoped_lock lock(telling_);
    if (!lost_) lost_ = PeerGone{.after = after, .finished = done_ + (after == nullptr ? 0 : 1), .reason = reason};
    gone_ = true;
  }

  Way& way_;
  const RunOptions& options_;
  std::vector<CaseResult> results_{};
  std::vector<std::size_t> slow_{}, quick_{}, last_{};  // places in results_
  std::vector<std::size_t> todo_{};                     // the same, of the threads that are running
  // As results_: the time that each case took for silence, and what it was when the case began.
  std::vector<std::optional<Duration>> quiet_used_{};
  std::vector<Duration> quiet_before_{};
  std::atomic<std::size_t> next_ = 0;
  std::mutex telling_{};
  std::size_t done_ = 0;  // under telling_
  bool ordinary_ = true;  // an ordinary connection works
  std::atomic<bool> gone_ = false;
  std::optional<PeerGone> lost_{};  // under telling_
  bool limited_ = std::ranges::none_of(options_.filter.only, names_combinations);
  Instant planned_until_ = now() + options_.planned_time.value_or(time_of(options_.depth));
};

// A word that is the whole name of a case means that one, and not those whose names are longer.
bool meant(const Case& one, const std::string& word) {
  if (names_combinations(word)) return one.planned && (one.name == word || one.name.starts_with(word + '.'));
  if (std::ranges::find(all_cases(), word, &Case::name) != all_cases().end()) return one.name == word;
  if (one.name.starts_with(word) || one.clause.starts_with(word)) return true;
  return std::ranges::any_of(one.also, [&](std::string_view clause) { return clause.starts_with(word); });
}

}  // namespace

bool CaseFilter::allows(const Case& one) const {
  const auto means = [&](const std::string& word) { return meant(one, word); };
  return (only.empty() || std::ranges::any_of(only, means)) && std::ranges::none_of(skip, means);
}

bool names_combinations(std::string_view word) noexcept {
  return !word.empty() && word.front() >= 'a' && word.front() <= 'z' && word.find('.') != std::string_view::npos;
}

std::vector<const Case*> selected_cases(const Way& way, const RunOptions& options) {
  std::vector<const Case*> out;
  const auto add = [&](const Case& one) {
    if (options.filter.allows(one)) out.push_back(&one);
  };
  for (const Case& one : all_cases()) add(one);
  for (const Case* const one :
       planned_cases(options.depth, options.seed, [&](std::uint32_t needs) { return way.lacks(needs) == 0; }))
    add(*one);
  for (const std::string& word : options.filter.only) {
    if (!names_combinations(word)) continue;
    for (const Case* const one : planned_cases_of(word)) {
      if (std::ranges::find(out, one) == out.end()) add(*one);
    }
  }
  return out;
}

Report run(Way& way, const RunOptions& options) {
  Report report{.profile = std::string(way.profile()),
                .listens = way.peer_connects(),
                .seed = options.seed,
                .depth = options.depth};
  report.revision = way.revision;
  report.enhanced = way.enhanced;
  report.one_at_a_time = way.learned->one_at_a_time();
  report.started = std::chrono::system_clock::now();
  const Instant began = now();
  Run cases(way, options);
  report.cases = cases.all();
  report.gone = cases.lost_peer();
  report.interrupted = options.stop != nullptr && *options.stop;
  std::erase_if(report.cases, [](const CaseResult& one) { return !one.ran; });
  report.rules = judge(report.cases);
  report.round_trip = std::chrono::duration_cast<std::chrono::microseconds>(way.learned->round_trip());
  report.quiet = std::chrono::duration_cast<std::chrono::milliseconds>(way.quiet_now());
  report.took = std::chrono::duration_cast<std::chrono::milliseconds>(now() - began);
  return report;
}

}  // namespace weft::probe
