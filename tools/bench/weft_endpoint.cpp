// SPDX-License-Identifier: Apache-2.0
#include "tools/bench/weft_endpoint.hpp"

#include <algorithm>
#include <atomic>
#include <chrono>
#include <string>

#include "tools/bench/patience.hpp"
#include "tools/cli/pattern.hpp"

namespace weft::tools::bench {
namespace {

using Clock = std::chrono::steady_clock;

}  // namespace

Outcome<void> WeftEndpoint::prepare(Waiting waiting) {
  port_.wait_by(waiting == Waiting::kPoll ? Blocking::kPoll : options_.blocking);
  return port_.top_up_receives();
}

Outcome<RunResult> WeftEndpoint::lead(std::uint64_t messages) {
  RunResult result;
  const Clock::time_point begin = Clock::now();
  const auto done = options_.kind == Kind::kLatency ? lead_latency(messages, result.latency_us) : lead_stream(messages);
  if (!done) return std::unexpected(done.error());
  result.seconds = seconds_since(begin);
  if (options_.op == Op::kRead) {  // the follower does not see reads: tell it that this was all
    if (auto told = port_.send_word(); !told) return std::unexpected(told.error());
  }
  return result;
}

Outcome<void> WeftEndpoint::lead_latency(std::uint64_t messages, std::vector<double>& samples) {
  samples.reserve(messages);
  const double share = options_.op == Op::kRead ? 1.0 : 0.5;
  for (std::uint64_t i = 0; i < messages; ++i) {
    const Clock::time_point start = Clock::now();
    if (auto sent = one_message(); !sent) return sent;
    if (auto back = next_message(); !back) return back;
    samples.push_back(seconds_since(start) * 1e6 * share);
  }
  return {};
}

Outcome<void> WeftEndpoint::one_message() {
  if (options_.op == Op::kWrite) mark(static_cast<std::uint8_t>(round_ + 1));
  return post_message();
}

Outcome<void> WeftEndpoint::post_message() { return port_.post_messages(1, options_.op == Op::kRead); }

// A Write's last octet tells the receiver, who looks at nothing else, that it is there. It may change only when the
// Write before has left this buffer for good. That is so when the peer's next one has come, which answers it, and not
// earlier: a long message is sent from here piece by piece for as long as the peer has not got it all.
void WeftEndpoint::mark(std::uint8_t round) { port_.out().back() = std::byte{round}; }

// Waits for one message.
Outcome<void> WeftEndpoint::next_message() {
  if (completes_receives(options_)) return port_.await_receive();
  switch (options_.op) {
    case Op::kSend: break;
    case Op::kWrite: return await_write();
    case Op::kRead: return port_.poll_until([this] { return port_.outstanding() == 0; });
  }
  return {};
}

bool WeftEndpoint::round_came() {
  const std::atomic_ref<std::byte> last(port_.in().back());
  return last.load(std::memory_order_acquire) == std::byte{round_};
}

Outcome<void> WeftEndpoint::await_write() {
  begin_round();
  return port_.poll_until([this] { return round_came(); });
}

// Completions are reported now and then, and for the last message.
Outcome<void> WeftEndpoint::post_stream(std::uint64_t messages) {
  const std::uint32_t depth = effective_depth(options_);
  for (std::uint64_t left = messages; left > 0;) {
    const auto now = static_cast<std::uint32_t>(std::min<std::uint64_t>(left, list_length(options_)));
    if (auto room = port_.poll_until([&] { return port_.outstanding() + now <= depth; }); !room) return room;
    left -= now;
    if (auto posted = port_.post_messages(now, left == 0); !posted) return posted;
  }
  return {};
}

Outcome<void> WeftEndpoint::lead_stream(std::uint64_t messages) {
  if (auto posted = post_stream(messages); !posted) return posted;
  if (options_.op == Op::kRead) return next_message();
  if (options_.op == Op::kSend) return port_.await_receive();
  return say_and_hear();
}

// A word after the Writes, and the follower's word that it has come.
Outcome<void> WeftEndpoint::say_and_hear() {
  if (auto said = port_.send_word(); !said) return said;
  return port_.await_receive();
}

Outcome<void> WeftEndpoint::follow(std::uint64_t messages) {
  if (options_.op == Op::kRead) return serve_reads();
  if (options_.kind == Kind::kLatency) return follow_ping_pong(messages);
  return options_.op == Op::kSend ? follow_sends(messages) : hear_and_say();
}

// Polling all the while serves the reads; asleep in the application's own poll(2), the progress thread must.
Outcome<void> WeftEndpoint::serve_reads() {
  if (options_.idle_target) port_.wait_by(Blocking::kChannel);
  return port_.await_receive();
}

Outcome<void> WeftEndpoint::follow_ping_pong(std::uint64_t messages) {
  for (std::uint64_t i = 0; i < messages; ++i) {
    if (auto came = next_message(); !came) return came;
    if (options_.op == Op::kWrite) mark(round_);
    if (auto sent = post_message(); !sent) return sent;
  }
  return {};
}

Outcome<void> WeftEndpoint::follow_sends(std::uint64_t messages) {
  for (std::uint64_t count = 0; count < messages;) {
    std::uint64_t more = 0;
    if (auto came = port_.poll_until([&] { return (more = port_.take_received()) > 0; }); !came) return came;
    count += more;
    if (auto posted = port_.top_up_receives(); !posted) return posted;
  }
  return port_.send_word();
}

Outcome<void> WeftEndpoint::hear_and_say() {
  if (auto heard = port_.await_receive(); !heard) return heard;
  return port_.send_word();
}

// Read: the leader's word, the follower's word that its buffer is filled, the Read, and a word that it is over.
Outcome<void> WeftEndpoint::lead_check(std::uint8_t seed) {
  if (options_.op == Op::kRead) {
    if (auto filled = say_and_hear(); !filled) return filled;
    if (auto posted = port_.post_messages(1, true); !posted) return posted;
    if (auto came = next_message(); !came) return came;
    if (auto good = verify(port_.latest(), seed); !good) return good;
    return port_.send_word();
  }
  fill_pattern(port_.out(), seed);
  if (auto posted = port_.post_messages(1, true); !posted) return posted;
  return completes_receives(options_) ? port_.await_receive() : say_and_hear();
}

Outcome<void> WeftEndpoint::follow_check(std::uint8_t seed) {
  if (options_.op == Op::kRead) {
    fill_pattern(port_.out(), seed);
    if (auto heard = hear_and_say(); !heard) return heard;
    return port_.await_receive();
  }
  if (auto heard = port_.await_receive(); !heard) return heard;
  const MutableBytes octets = options_.op == Op::kSend ? port_.latest() : port_.in();
  if (auto good = verify(octets, seed); !good) return good;
  octets.back() = std::byte{round_};  // what the Write ping-pong left there: its next round must not look done
  return port_.send_word();           // only now may the leader go on: what it sends next goes to the same octets
}

Outcome<void> WeftEndpoint::verify(Bytes octets, std::uint8_t seed) {
  const auto at = first_difference(octets, seed);
  if (at)
    return failure("weft: wrong data at octet " + std::to_string(*at) + " of a " + std::string(name(options_.op)) +
                   ".");
  return {};
}

}  // namespace weft::tools::bench
