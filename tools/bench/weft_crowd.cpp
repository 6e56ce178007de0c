// SPDX-License-Identifier: Apache-2.0
#include "tools/bench/weft_crowd.hpp"

#include <algorithm>
#include <chrono>

#include "tools/bench/patience.hpp"

namespace weft::tools::bench {

WeftCrowd::WeftCrowd(std::vector<std::unique_ptr<WeftEndpoint>> members, const Options& options)
    : members_(std::move(members)), options_(options) {
  auto siblings = std::make_shared<Siblings>();
  for (const auto& member : members_) siblings->emplace(member->port().link().queue_pair().number(), &member->port());
  for (const auto& member : members_) member->port().join(siblings);
}

Outcome<void> WeftCrowd::prepare(Waiting waiting) {
  for (const auto& member : members_) {
    if (auto ready = member->prepare(waiting); !ready) return ready;
  }
  return {};
}

Outcome<RunResult> WeftCrowd::lead(std::uint64_t messages) {
  const auto begin = std::chrono::steady_clock::now();
  if (auto posted = post_streams(messages / members_.size()); !posted) return std::unexpected(posted.error());
  if (options_.op == Op::kRead) {
    if (auto came = await_reads(); !came) return std::unexpected(came.error());
  } else {
    if (options_.op == Op::kWrite) {  // a word after each one's Writes
      for (const auto& member : members_) {
        if (auto said = member->port().send_word(); !said) return std::unexpected(said.error());
      }
    }
    if (auto heard = spokesman().await_receive(); !heard) return std::unexpected(heard.error());
  }
  const std::chrono::duration<double> taken = std::chrono::steady_clock::now() - begin;
  if (options_.op == Op::kRead) {  // the follower does not see reads: tell it that this was all
    if (auto told = spokesman().send_word(); !told) return std::unexpected(told.error());
  }
  return RunResult{.seconds = taken.count()};
}

Outcome<void> WeftCrowd::post_streams(std::uint64_t share) {
  std::vector<std::uint64_t> left(members_.size(), share);
  for (;;) {
    const auto more = post_where_there_is_room(left);
    if (!more) return std::unexpected(more.error());
    if (!*more) return {};
    if (auto waited = wait_for_more(); !waited) return waited;
  }
}

// False when nothing is left to be posted.
Outcome<bool> WeftCrowd::post_where_there_is_room(std::vector<std::uint64_t>& left) {
  bool more = false;
  for (std::size_t i = 0; i < members_.size(); ++i) {
    if (auto posted = fill(members_[i]->port(), left[i]); !posted) return std::unexpected(posted.error());
    more = more || left[i] != 0;
  }
  return more;
}

// To the depth: only then is it certain that a completion to come is reported.
Outcome<void> WeftCrowd::fill(WeftPort& port, std::uint64_t& left) {
  while (left != 0) {
    const auto now = static_cast<std::uint32_t>(std::min<std::uint64_t>(left, list_length(options_)));
    if (port.outstanding() + now > effective_depth(options_)) return {};
    left -= now;
    if (auto posted = port.post_messages(now, left == 0); !posted) return posted;
  }
  return {};
}

// Polls until there was a completion, whosever it is.
Outcome<void> WeftCrowd::wait_for_more() {
  for (Patience patience;;) {
    const auto taken = spokesman().take_completions();
    if (!taken) return std::unexpected(taken.error());
    if (*taken != 0) return {};
    if (!patience.spin()) return failure("weft: no answer from the other process.");
  }
}

Outcome<void> WeftCrowd::await_reads() {
  const auto pending = [](const auto& member) { return member->port().outstanding() != 0; };
  while (std::ranges::any_of(members_, pending)) {
    if (auto waited = wait_for_more(); !waited) return waited;
  }
  return {};
}

Outcome<void> WeftCrowd::follow(std::uint64_t messages) {
  if (options_.op == Op::kRead) return spokesman().await_receive();  // polling all the while serves the reads
  const auto came = options_.op == Op::kSend ? receive_sends(messages) : hear_all();
  if (!came) return came;
  return spokesman().send_word();
}

Outcome<void> WeftCrowd::receive_sends(std::uint64_t messages) {
  for (std::uint64_t count = 0; count < messages;) {
    if (auto waited = wait_for_more(); !waited) return waited;
    for (const auto& member : members_) {
      const std::uint64_t more = member->port().take_received();
      if (more == 0) continue;
      count += more;
      if (auto posted = member->port().top_up_receives(); !posted) return posted;
    }
  }
  return {};
}

Outcome<void> WeftCrowd::hear_all() {
  for (const auto& member : members_) {
    if (auto heard = member->port().await_receive(); !heard) return heard;
  }
  return {};
}

Outcome<void> WeftCrowd::lead_check(std::uint8_t seed) {
  for (const auto& member : members_) {
    if (auto good = member->lead_check(seed++); !good) return good;
  }
  return {};
}

Outcome<void> WeftCrowd::follow_check(std::uint8_t seed) {
  for (const auto& member : members_) {
    if (auto good = member->follow_check(seed++); !good) return good;
  }
  return {};
}

}  // namespace weft::tools::bench
