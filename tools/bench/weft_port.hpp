// SPDX-License-Identifier: Apache-2.0
// A weft connection as the measured patterns use it: registered buffers, messages posted singly or in lists,
// completions polled for. It knows how many messages are under way and how many have arrived, and nothing of patterns.
#pragma once

#include <sched.h>

#include <array>
#include <chrono>
#include <memory>
#include <optional>
#include <unordered_map>
#include <utility>
#include <vector>

#include "tools/bench/endpoint.hpp"
#include "tools/link/advertisement.hpp"
#include "tools/link/link.hpp"

namespace weft::tools::bench {

class WeftPort;

// The connections that share a completion queue, by the number of their queue pair.
using Siblings = std::unordered_map<std::uint32_t, WeftPort*>;

class WeftPort {
 public:
  WeftPort(Link link, const Options& options);

  // Before the connection: registers the buffers and posts the receives.
  Outcome<void> set_up();
  // What the peer must know of our buffers, as private data; and what it told us of its own.
  [[nodiscard]] std::vector<std::byte> description() const;
  Outcome<void> learn(Bytes peers_description);
  // What was negotiated must be what is to be measured.
  Outcome<void> check_negotiated();
  [[nodiscard]] Link& link() noexcept { return link_; }

  // The message that is sent, written, or read by the peer.
  [[nodiscard]] MutableBytes out() noexcept { return out_; }
  // Where the peer writes to.
  [[nodiscard]] MutableBytes in() noexcept { return slot(0); }
  // What the latest receive or read brought.
  [[nodiscard]] MutableBytes latest() noexcept { return slot(slots_.latest); }

  // Posts `count` messages (or reads) in one list. With `report` the last one's completion is reported, so that
  // outstanding() comes down to 0; else that happens now and then.
  Outcome<void> post_messages(std::uint32_t count, bool report);
  // One octet that opens or ends something; it arrives after all that was posted before.
  Outcome<void> send_word();
  // Waits for one message or word, and counts it off.
  Outcome<void> await_receive();
  // Posts receives until as many are posted as ever will be.
  Outcome<void> top_up_receives();

  [[nodiscard]] std::uint64_t outstanding() const noexcept { return messages_.outstanding; }
  // Returns how many messages have arrived since the last call.
  [[nodiscard]] std::uint64_t take_received() noexcept { return std::exchange(messages_.received, 0); }

  // Completions are handed to whom they belong from now on.
  void join(std::shared_ptr<const Siblings> siblings) noexcept { siblings_ = std::move(siblings); }
  // Takes the completions that there are and drives the connections that share the queue; how many they were.
  Outcome<std::size_t> take_completions();
  // How poll_until() waits from now on.
  void wait_by(Blocking blocking) noexcept { blocking_ = blocking; }
  // Takes the completions that there are and drives the connection. An error when one of them failed.
  Outcome<void> poll();
  // Polls, or sleeps, until `condition()` holds; an error when that takes very long. In perftest's pattern without
  // yielding.
  template <typename Condition>
  Outcome<void> poll_until(Condition condition) {
    if (blocking_ != Blocking::kPoll) return until(condition, [this] { return poll_or_sleep(); });
    return until(condition, [this] { return poll(); });
  }
  // The same without polling: whatever makes the condition true is brought by the progress thread.
  template <typename Condition>
  Outcome<void> spin_until(Condition condition) {
    return until(condition, [] { return Outcome<void>{}; });
  }

 private:
  template <typename Condition, typename Step>
  Outcome<void> until(Condition condition, Step step) {
    std::optional<Clock::time_point> started;  // the first look at the clock
    for (std::uint32_t spins = 1; !condition(); ++spins) {
      if (auto stepped = step(); !stepped) return stepped;
      if (spins % kSpinsBeforeYield == 0 && options_.pattern == Pattern::kOwn) ::sched_yield();
      if (spins % 65536 == 0 && out_of_patience(started)) return failure("weft: no answer from the other process.");
    }
    return {};
  }

  [[nodiscard]] MutableBytes slot(std::uint32_t index) noexcept {
    return MutableBytes(in_).subspan(static_cast<std::size_t>(index) * options_.size, options_.size);
  }
  [[nodiscard]] bool takes_messages() const noexcept { return options_.op == Op::kSend; }
  [[nodiscard]] verbs::Sge receive_segment(std::uint32_t index) const;
  [[nodiscard]] verbs::SendRequest message_request() const;
  void make_list(std::uint32_t count);
  Outcome<void> post(std::span<verbs::SendRequest> requests, bool report);
  Outcome<void> dispatch(const verbs::WorkCompletion& completion);
  Outcome<void> poll_or_sleep();
  Outcome<void> take(const verbs::WorkCompletion& completion);
  using Clock = std::chrono::steady_clock;
  [[nodiscard]] static bool out_of_patience(std::optional<Clock::time_point>& started);

  // Receive buffers, or sinks of reads, used in turn.
  struct Slots {
    std::uint32_t count;
    std::uint32_t next_receive = 0;
    std::uint32_t next_sink = 0;
    std::uint32_t latest = 0;

    [[nodiscard]] std::uint32_t behind(std::uint32_t index) const noexcept { return (index + 1) % count; }
  };
  struct Regions {
    verbs::MemoryRegion out, in, word;
  };
  struct List {  // that is posted again and again
    std::vector<verbs::Sge> segments{};
    std::vector<verbs::SendRequest> requests{};
  };
  struct Messages {
    std::uint64_t outstanding = 0;  // posted and not known to be complete
    std::uint64_t unreported = 0;   // of these, posted since the last one that reports
    std::uint64_t received = 0;
    std::uint32_t receives = 0;  // posted
  };

  Options options_;
  Slots slots_;
  std::uint32_t report_every_;  // messages; fewer completions cost less
  std::vector<std::byte> out_;
  std::vector<std::byte> in_;  // a message for each slot
  std::vector<std::byte> word_;
  Link link_;  // after the buffers: memory outlives its registration
  std::optional<Regions> regions_{};
  std::shared_ptr<const Siblings> siblings_{};  // none: all completions are ours
  Advertisement peer_in_{};
  Advertisement peer_out_{};
  List list_{};
  std::array<verbs::WorkCompletion, 32> completions_{};  // room for a poll: to clear it for each costs 20 ns
  Messages messages_{};
  Blocking blocking_ = Blocking::kPoll;
  bool armed_ = false;  // the next completion raises an event
};

}  // namespace weft::tools::bench
