// SPDX-License-Identifier: Apache-2.0
#include "compat/rsockets/acceptor.hpp"

#include <poll.h>
#include <sys/epoll.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <atomic>
#include <cerrno>
#include <span>
#include <thread>
#include <utility>

#include "compat/objects/report.hpp"
#include "compat/one_of_process.hpp"
#include "compat/rsockets/call.hpp"
#include "transport/blocked_signals.hpp"
#include "transport/own_descriptors.hpp"

namespace weft::compat::rsockets {

namespace {

constexpr std::string_view kCall = "raccept";
constexpr int kPauseWithoutResources = 100;  // ms

std::atomic<Acceptor*>& acceptor_of_process() {
  static std::atomic<Acceptor*> one{nullptr};
  return one;
}

bool is_readable(int descriptor) {
  pollfd one{.fd = descriptor, .events = POLLIN, .revents = 0};
  return ::poll(&one, 1, 0) == 1;
}

// Returns the peer's data. Returns nothing if this listener does not take the request: it is then rejected, and the
// program keeps waiting for another.
std::optional<ConnectData> acceptable(const Socket& made, const verbs::ConnectionEvent& event) {
  const auto from = event.request->remote_address().address.family;
  if (made.domain == AF_INET6 && made.options.v6_only && from == transport::Family::kIpv4) return std::nullopt;
  const auto peer = decode_connect(event.private_data);
  if (!peer) refused(kCall, EPROTO, "a request that is no rsocket's of version 1 is rejected");
  return peer;
}

// Returns 0 or an errno.
int establish(Socket& self, verbs::ConnectionId request, const ConnectData& peer) {
  if (const auto moved = request.migrate(*self.events); !moved) return refused(kCall, moved.error());
  if (const int error = self.make_stream(request); error != 0) return error;
  Endpoint& endpoint = self.stream->endpoint();
  const auto offer = encode(endpoint.offer());
  if (const auto done = request.accept(endpoint.pair, {.private_data = offer}); !done) {
    return refused(kCall, done.error());
  }
  self.stream->begin(peer);
  self.phase = Phase::kConnected;
  self.id.emplace(std::move(request));
  return 0;
}

// Its peer is told; false: the request is rejected, by whoever drops it.
bool answer(Socket& made, verbs::ConnectionEvent event) {
  const auto peer = acceptable(made, event);
  if (!peer) return false;
  const std::lock_guard lock(made.mutex);
  return establish(made, std::move(*event.request), *peer) == 0;
}

}  // namespace

Acceptor& Acceptor::of_process() {
  return one_of_process(acceptor_of_process(), [] { return new Acceptor; });
}

void Acceptor::leave_to_parent() noexcept {
  if (const Acceptor* const parents = acceptor_of_process().exchange(nullptr)) ::close(parents->set_);
}

Acceptor::Acceptor() : set_(transport::move_up(::epoll_create1(EPOLL_CLOEXEC))) {}

void Acceptor::watch(const std::shared_ptr<Socket>& listener) {
  if (!listener) return;  // closed meanwhile
  const int channel = listener->listening->incoming.descriptor();
  const std::lock_guard lock(mutex_);
  if (!runs_) std::thread([this] { run(); }).detach();
  runs_ = true;
  listeners_[channel] = listener;
  epoll_event interest{.events = EPOLLIN | EPOLLONESHOT, .data = {.fd = channel}};
  ::epoll_ctl(set_, EPOLL_CTL_ADD, channel, &interest);
}

void Acceptor::resume(Socket& listener) noexcept {
  if (std::exchange(listener.listening->acceptor_waits, false)) arm(listener.listening->incoming.descriptor());
}

void Acceptor::forget(int channel) {
  const std::lock_guard lock(mutex_);
  listeners_.erase(channel);
}

// By level: what came since the thread looked makes the set readable now.
void Acceptor::arm(int channel) const noexcept {
  epoll_event interest{.events = EPOLLIN | EPOLLONESHOT, .data = {.fd = channel}};
  ::epoll_ctl(set_, EPOLL_CTL_MOD, channel, &interest);
}

void Acceptor::run() noexcept {
  transport::block_signals();
  const Inside until_the_end;
  std::array<epoll_event, 16> ready{};
  for (;;) {
    const int count = ::epoll_wait(set_, ready.data(), static_cast<int>(ready.size()), -1);
    for (const auto& one : std::span(ready).first(static_cast<std::size_t>(std::max(count, 0)))) serve(one.data.fd);
  }
}

// Without descriptors or memory there is a pause: the requests wait for better times.
void Acceptor::serve(int channel) {
  const int done = guarded_minus_one([&] {
    auto request = take(channel);
    for (; request; request = take(channel)) {
      if (answer(*request->connection, std::move(request->event))) give(channel, std::move(request->connection));
    }
    return request.error() == Nothing::kToTakeItWith ? -1 : 0;
  });
  if (done == 0) return;
  ::poll(nullptr, 0, kPauseWithoutResources);
  arm(channel);
}

// Where there is nothing to take, the channel is armed, or will be by resume().
std::expected<Acceptor::Request, Acceptor::Nothing> Acceptor::take(int channel) {
  const std::lock_guard lock(mutex_);
  const auto found = listeners_.find(channel);
  const auto listener = found != listeners_.end() ? found->second.lock() : nullptr;
  if (!listener) return std::unexpected(Nothing::kToTake);
  const std::lock_guard at_listener(listener->mutex);
  Socket::Listening& own = *listener->listening;
  if (own.accepted.size() >= own.most) {
    own.acceptor_waits = true;
    return std::unexpected(Nothing::kToTake);
  }
  while (is_readable(channel)) {
    auto made = Socket::make_like(*listener);
    if (!made) return std::unexpected(Nothing::kToTakeItWith);
    auto event = own.incoming.get_event();
    if (event && event->request) return Request{std::move(made), std::move(*event)};
  }
  arm(channel);
  return std::unexpected(Nothing::kToTake);
}

void Acceptor::give(int channel, std::shared_ptr<Socket> connection) {
  const std::lock_guard lock(mutex_);
  const auto found = listeners_.find(channel);
  const auto listener = found != listeners_.end() ? found->second.lock() : nullptr;
  if (!listener) return;
  const std::lock_guard at_listener(listener->mutex);
  listener->add_accepted(std::move(connection));
}

}  // namespace weft::compat::rsockets
