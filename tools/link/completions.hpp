// SPDX-License-Identifier: Apache-2.0
// A completion queue with a way to wait for what it brings.
#pragma once

#include <chrono>
#include <cstdint>
#include <span>
#include <string>

#include "tools/cli/outcome.hpp"
#include "verbs/completion.hpp"
#include "verbs/device.hpp"

namespace weft::tools {

// "post_send: the send queue is full (queue full)" as a tool's failure.
[[nodiscard]] Failure to_failure(std::string_view doing, const verbs::Error& error);

// The sentence of a work request that went wrong: "RDMA Read failed: remote access error".
[[nodiscard]] std::string describe(const verbs::WorkCompletion& completion);

// What is under way when the process is asked to end has this long to come to its own end.
inline constexpr auto kGrace = std::chrono::milliseconds(1000);

class Completions {
 public:
  static Outcome<Completions> create(verbs::Device& device, std::uint32_t capacity);

  [[nodiscard]] const verbs::CompletionQueue& queue() const noexcept { return queue_; }

  // What there is, without waiting; drives the connection from this thread.
  Outcome<std::size_t> poll(std::span<verbs::WorkCompletion> out);
  // The next completion, whatever its status. Sleeps while there is none; where interruptions are caught, for no longer
  // than `grace` once the process has been asked to end (tools/cli/interruption.hpp).
  Outcome<verbs::WorkCompletion> next(std::chrono::milliseconds grace = kGrace);

  // The two steps of sleeping, for callers that poll many at a time. The next completion raises an event; what came
  // between the latest poll and this call raises none, so poll once more before sleeping.
  Outcome<void> arm();
  // Sleeps in weft's own call until there is an event, and takes it. A signal ends it too.
  Outcome<void> wait_event();
  // The same, but the application sleeps itself, in poll(2) on the channel's descriptor, and calls weft only then.
  Outcome<void> poll_descriptor(std::chrono::milliseconds at_most);

 private:
  Completions(verbs::CompletionChannel channel, verbs::CompletionQueue queue)
      : channel_(std::move(channel)), queue_(std::move(queue)) {}

  verbs::CompletionChannel channel_;
  verbs::CompletionQueue queue_;
};

}  // namespace weft::tools
