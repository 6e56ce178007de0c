// SPDX-License-Identifier: Apache-2.0
#include "tools/bench/leader.hpp"

#include <algorithm>
#include <mutex>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "tools/bench/allocations.hpp"
#include "tools/bench/contestants.hpp"
#include "tools/bench/control.hpp"
#include "tools/bench/ends.hpp"
#include "tools/bench/pinning.hpp"
#include "tools/bench/rival_run.hpp"
#include "tools/bench/statistics.hpp"
#include "tools/cli/child_process.hpp"
#include "tools/cli/interruption.hpp"
#include "tools/cli/progress_line.hpp"

namespace weft::tools::bench {
namespace {

class Leader {
 public:
  Leader(const Options& options, const Onlooker& onlooker, int channel, Ends ends)
      : options_(options),
        onlooker_(onlooker),
        channel_(channel),
        ends_(std::move(ends)),
        contestants_(contestants(options)) {
    add_rivals();
  }

  Outcome<Report> measure() {
    std::optional<InterruptionWatch> watch;
    if (onlooker_.at_interruption) watch.emplace([this] { tell_what_is_complete(); });
    progress_.show(onlooker_.title + "finding out how many messages make a repetition");
    if (auto good = check_all(17); !good) return std::unexpected(good.error());
    for (Rival& rival : rivals_) find_rivals_length(rival);
    for (Contestant& contestant : contestants_) {
      if (auto sized = find_length(contestant); !sized) return std::unexpected(sized.error());
    }
    for (std::uint32_t i = 0; i < options_.repetitions; ++i) {
      show_progress(i + 1);
      if (auto done = repeat(); !done) return std::unexpected(done.error());
    }
    if (auto good = check_all(91); !good) return std::unexpected(good.error());
    if (auto told = tell(channel_, Command{.verb = Verb::kQuit}); !told) return std::unexpected(told.error());
    const auto last = hear<LastWord>(channel_);
    if (!last) return std::unexpected(last.error());
    return report(allocations() + last->allocations);
  }

 private:
  struct Rival {
    RivalTest test{};
    RivalSeries result{};
  };

  void show_progress(std::uint32_t repetition) {
    const std::scoped_lock lock(figures_);
    progress_.show(onlooker_.title + "repetition " + std::to_string(repetition) + " of " +
                   std::to_string(options_.repetitions));
  }

  // The figures stay locked: what is measured beside this finds no place any more.
  void tell_what_is_complete() {
    const std::scoped_lock lock(figures_);
    progress_.clear();
    const bool any = !contestants_.front().series.figures.empty();
    Report whole = any ? report(0) : Report{.options = options_};
    whole.complete = false;
    onlooker_.at_interruption(whole);
  }

  void add_rivals() {
    for (const RivalPlan& plan : plan_rivals(options_)) {
      if (plan.tests.empty()) rivals_.push_back({.result = {.name = plan.name, .reason = plan.reason}});
      for (const RivalTest& test : plan.tests) {
        rivals_.push_back({.test = test, .result = {.name = test.name, .reason = why_missing(test)}});
      }
    }
  }

  // What goes wrong with a rival is told in its place, and the others go on.
  Outcome<RivalFigure> run_rivals(Rival& rival) {
    const Waiting waiting = sleeps(options_) ? Waiting::kSleep : Waiting::kPoll;
    const auto result = run_rival(rival.test, rival.result.series.messages, {placement_, followers_}, waiting);
    if (result) return result;
    const std::scoped_lock lock(figures_);
    rival.result.reason = result.error().sentence;
    return result;
  }

  void find_rivals_length(Rival& rival) {
    std::uint64_t& messages = rival.result.series.messages;
    messages = options_.iterations != 0 ? options_.iterations : first_guess(options_);
    if (options_.iterations != 0 || !rival.result.reason.empty()) return;
    if (const auto result = run_rivals(rival)) messages = scaled(messages, result->seconds, repetition_seconds());
  }

  [[nodiscard]] double repetition_seconds() const {
    return options_.duration / static_cast<double>(contestants_.size() * options_.repetitions);
  }

  // The figure of each rival that has one.
  std::vector<std::optional<double>> repeat_rivals() {
    std::vector<std::optional<double>> figures(rivals_.size());
    for (std::size_t i = 0; i < rivals_.size(); ++i) {
      if (!rivals_[i].result.reason.empty()) continue;
      if (const auto result = run_rivals(rivals_[i])) figures[i] = result->figure;
    }
    return figures;
  }

  [[nodiscard]] Report report(std::uint64_t allocations) const {
    Report whole = report_of(options_, contestants_);
    const bool placed = options_.kind != Kind::kSetup && placement_.possible();
    whole.pinned = with_tcp(options_) ? placed : options_.pinned && on_one_processor();
    whole.allocations = allocations;
    for (const Rival& rival : rivals_) whole.rivals.push_back(rival.result);
    return whole;
  }

  // Tells the follower, does our part, waits for the follower's word.
  template <typename Part>
  auto together(const Command& command, Part part) -> decltype(part()) {
    if (auto told = tell(channel_, command); !told) return std::unexpected(told.error());
    if (auto ready = hear<Answer>(channel_); !ready) return std::unexpected(ready.error());
    auto done = part();
    if (!done) return done;
    if (auto answer = hear<Answer>(channel_); !answer) return std::unexpected(answer.error());
    return done;
  }

  Outcome<RunResult> run(const Contestant& contestant, std::uint64_t messages) {
    Endpoint& ours = ends_.of(contestant.transport);
    if (auto ready = ours.prepare(contestant.waiting); !ready) return std::unexpected(ready.error());
    placement_.place(seating(options_, contestant.transport, contestant.waiting));
    const Command command{.verb = Verb::kRun,
                          .transport = contestant.transport,
                          .waiting = sleeps(options_) ? Waiting::kSleep : contestant.waiting,
                          .messages = messages};
    return together(command, [&] { return ours.lead(messages); });
  }

  Outcome<void> check_all(std::uint8_t seed) {
    for (const Transport transport : kTransports) {
      if (!takes_part(options_, transport)) continue;
      Endpoint& ours = ends_.of(transport);
      if (auto ready = ours.prepare(Waiting::kPoll); !ready) return ready;
      const Command command{.verb = Verb::kCheck, .transport = transport, .seed = seed};
      if (auto good = together(command, [&] { return ours.lead_check(seed); }); !good) return good;
    }
    return {};
  }

  // Runs longer and longer until one lasts about as long as a repetition should; this also warms everything up.
  Outcome<void> find_length(Contestant& contestant) {
    const double target = repetition_seconds();
    std::uint64_t& messages = contestant.series.messages;
    messages = dealt(options_,
                     options_.iterations != 0 ? options_.iterations : std::max(first_guess(options_), least(options_)));
    if (options_.iterations != 0 && options_.pattern == Pattern::kPerftest)
      return {};  // which measures the first ones too
    for (;;) {
      const auto result = run(contestant, messages);
      if (!result) return std::unexpected(result.error());
      if (options_.iterations != 0) return {};
      const std::uint64_t better = scaled(messages, result->seconds, target);
      messages = result->seconds >= target / 2 ? better : std::clamp(better, messages + 1, messages * 8);
      messages = dealt(options_, std::clamp(messages, least(options_), most(options_)));
      if (result->seconds >= target / 2 || messages >= most(options_)) return {};
    }
  }

  // One repetition of each; next time another one comes first.
  Outcome<void> repeat() {
    std::vector<RunResult> results(contestants_.size());
    for (std::size_t i = 0; i < contestants_.size(); ++i) {
      const std::size_t which = (first_ + i) % contestants_.size();
      auto result = run(contestants_[which], contestants_[which].series.messages);
      if (!result) return std::unexpected(result.error());
      results[which] = std::move(*result);
    }
    ++first_;
    note(results, repeat_rivals());
    return {};
  }

  // All of a repetition at once: ^C finds the same number of each.
  void note(const std::vector<RunResult>& results, const std::vector<std::optional<double>>& rivals) {
    const std::scoped_lock lock(figures_);
    for (std::size_t i = 0; i < contestants_.size(); ++i) {
      Series& series = contestants_[i].series;
      series.figures.push_back(figure(options_, series.messages, results[i]));
      series.latency_us.insert(series.latency_us.end(), results[i].latency_us.begin(), results[i].latency_us.end());
    }
    for (std::size_t i = 0; i < rivals_.size(); ++i) {
      if (rivals[i]) rivals_[i].result.series.figures.push_back(*rivals[i]);
    }
  }

  Options options_;
  const Onlooker& onlooker_;
  int channel_;
  std::mutex figures_{};  // of contestants and rivals, and the line on the terminal
  ProgressLine progress_{};
  Placement placement_{Seat::kLeader};
  Ends ends_;
  Placement followers_{Seat::kFollower};  // for rivals
  std::vector<Contestant> contestants_;
  std::vector<Rival> rivals_{};
  std::size_t first_ = 0;
};

}  // namespace

Outcome<Report> lead_measurement(const Options& options, const Onlooker& onlooker, int channel) {
  const auto ports = hear<Ports>(channel);
  if (!ports) return std::unexpected(ports.error());
  auto ends = connect_all(options, *ports);
  if (!ends) return std::unexpected(ends.error());
  return Leader(options, onlooker, channel, std::move(*ends)).measure();
}

}  // namespace weft::tools::bench
