// SPDX-License-Identifier: Apache-2.0
// A listener's part of a Socket: its queue of accepted connections, and its passing to a child of fork().
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <utility>

#include "compat/objects/report.hpp"
#include "compat/objects/settings.hpp"
#include "compat/rsockets/socket.hpp"
#include "transport/descriptor_limit.hpp"

namespace weft::compat::rsockets {

// The queue of a kernel's listener overflows softly: a client's SYN is repeated, for minutes. Here a client gives up
// after startup-timeout, so the queue is not short, but takes a quarter of the process's descriptors at most.
std::size_t Socket::most_waiting(int backlog) noexcept {
  constexpr int kLeast = 128;
  constexpr std::size_t kDescriptorsOfOne = 7;
  const auto wanted = static_cast<std::size_t>(std::max(backlog, kLeast));
  const std::size_t possible = transport::part_of_descriptors(4, kDescriptorsOfOne * wanted) / kDescriptorsOfOne;
  return std::clamp<std::size_t>(possible, 1, wanted);
}

// Without shared memory: a child of fork() may accept the connection, and its parent the offer that belongs to it.
int Socket::listen(std::size_t most) {
  auto policy = connection_policy();
  policy.startup.same_host = verbs::SameHost::kOff;
  if (const auto set = id->set_policy(policy); !set) return refused("rlisten", set.error());
  auto incoming = open_events();
  if (!incoming) return errno;
  auto fresh = std::make_unique<Listening>(std::move(*incoming), most);
  if (fresh->flag.descriptor() < 0) return refused("rlisten", EMFILE, "no descriptor is left");
  if (const auto moved = id->migrate(fresh->incoming); !moved) return refused("rlisten", moved.error());
  if (const auto done = id->listen(static_cast<int>(most)); !done) {
    static_cast<void>(id->migrate(*events));
    return refused("rlisten", done.error());
  }
  listening = std::move(fresh);
  watch(listening->flag.descriptor());
  phase = Phase::kListening;
  return 0;
}

std::optional<InheritedListener> Socket::duplicate_for_child() {
  if (phase != Phase::kListening || accepted_count() != 0) return std::nullopt;
  const auto copy = id->duplicate_listener();
  if (!copy) return std::nullopt;
  return InheritedListener{.listening = *copy,
                           .domain = domain,
                           .nonblocking = nonblocking,
                           .most_accepted = listening->most,
                           .sizes = sizes,
                           .options = options};
}

std::shared_ptr<Socket> Socket::make_of(InheritedListener listener, int number) {
  auto made = make(listener.domain);
  const bool fits = made && made->renew_id() == 0 && ::dup3(made->number_, number, O_CLOEXEC) == number;
  if (!fits) return ::close(listener.listening), nullptr;
  ::close(std::exchange(made->number_, number));
  made->nonblocking = listener.nonblocking;
  made->sizes = listener.sizes;
  made->options = listener.options;
  if (const auto bound = made->id->bind_socket(listener.listening); !bound)
    return refused_null("rlisten", bound.error());
  return made->listen(listener.most_accepted) == 0 ? made : nullptr;
}

void Socket::hold_requests() {
  listening->held = !awaited();
  if (listening->held) static_cast<void>(id->hold_requests(true));
}

void Socket::add_accepted(std::shared_ptr<Socket> connection) {
  listening->accepted.push_back(std::move(connection));
  listening->flag.raise(true);
  ++counts_.accepted;
  wake_waiters();
}

std::shared_ptr<Socket> Socket::take_accepted() {
  if (accepted_count() == 0) return nullptr;
  auto first = std::move(listening->accepted.front());
  listening->accepted.pop_front();
  listening->flag.raise(!listening->accepted.empty());
  return first;
}

}  // namespace weft::compat::rsockets
