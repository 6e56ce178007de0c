// SPDX-License-Identifier: Apache-2.0
#include "tools/link/completions.hpp"

#include <poll.h>

#include <cerrno>
#include <cstring>
#include <utility>

#include "tools/cli/interruption.hpp"

namespace weft::tools {

Failure to_failure(std::string_view doing, const verbs::Error& error) {
  return Failure{std::string(doing) + ": " + error.message() + "."};
}

std::string describe(const verbs::WorkCompletion& completion) {
  return std::string(to_string(completion.opcode)) + " failed: " + std::string(to_string(completion.status));
}

Outcome<Completions> Completions::create(verbs::Device& device, std::uint32_t capacity) {
  auto channel = verbs::CompletionChannel::create();
  if (!channel) return std::unexpected(to_failure("completion channel", channel.error()));
  auto queue = device.create_completion_queue({.capacity = capacity, .channel = &*channel});
  if (!queue) return std::unexpected(to_failure("completion queue", queue.error()));
  return Completions(std::move(*channel), std::move(*queue));
}

Outcome<std::size_t> Completions::poll(std::span<verbs::WorkCompletion> out) {
  const auto count = queue_.poll(out);
  if (!count) return std::unexpected(to_failure("poll", count.error()));
  return *count;
}

Outcome<verbs::WorkCompletion> Completions::next(std::chrono::milliseconds grace) {
  for (bool armed = false;; armed = !armed) {
    verbs::WorkCompletion completion;
    const auto count = poll({&completion, 1});
    if (!count) return std::unexpected(count.error());
    if (*count == 1) return completion;
    if (!armed) {  // what comes between the poll and the arm raises no event: poll once more before sleeping
      if (auto done = arm(); !done) return std::unexpected(done.error());
      continue;
    }
    if (interruptions_are_caught()) {
      if (auto ready = wait_readable(channel_.descriptor(), grace); !ready) return std::unexpected(ready.error());
    }
    if (auto done = wait_event(); !done) return std::unexpected(done.error());
  }
}

Outcome<void> Completions::arm() {
  if (auto done = queue_.arm(verbs::Arm::kAll); !done) return std::unexpected(to_failure("arm", done.error()));
  return {};
}

Outcome<void> Completions::wait_event() {
  const auto event = channel_.get_event();
  if (!event && event.error().code != verbs::Errc::kInterrupted) {
    return std::unexpected(to_failure("completion channel", event.error()));
  }
  queue_.acknowledge_events(event ? 1 : 0);
  return {};
}

Outcome<void> Completions::poll_descriptor(std::chrono::milliseconds at_most) {
  pollfd descriptor{.fd = channel_.descriptor(), .events = POLLIN, .revents = 0};
  const int ready = ::poll(&descriptor, 1, static_cast<int>(at_most.count()));
  if (ready < 0 && errno == EINTR) return {};
  if (ready < 0) return failure(std::string("poll: ") + std::strerror(errno) + ".");
  if (ready == 0) return failure("no completion for " + std::to_string(at_most.count()) + " ms.");
  return wait_event();
}

}  // namespace weft::tools
