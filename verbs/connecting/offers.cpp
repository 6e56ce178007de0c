// SPDX-License-Identifier: Apache-2.0
#include "verbs/connecting/offers.hpp"

#include <algorithm>
#include <new>
#include <set>
#include <utility>

#include "verbs/connecting/connection_state.hpp"
#include "verbs/log/log.hpp"

namespace weft::verbs::detail {

std::error_code Offers::listen(std::uint64_t listener, const transport::Endpoint& local, int backlog,
                               transport::same_host::Families families) {
  auto listening = transport::same_host::listen_for_offers(local, backlog, families);
  if (!listening) return listening.error();
  const auto on_accept = [weak = weak_from_this()](std::expected<transport::Socket, std::error_code> socket) {
    const auto self = weak.lock();
    if (self && socket) self->come(std::move(*socket));
  };
  auto accepting =
      transport::Listener::create(runtime_.resting_reactor(), runtime_.progress_threads().of(listener),
                                  std::move(listening->socket), local, transport::ListenOptions{}, on_accept);
  if (!accepting) return accepting.error();
  name_ = std::move(listening->name);
  listener_ = std::make_shared<transport::Listener>(std::move(*accepting));
  runtime_.add(number_, listener_);
  return {};
}

void Offers::close() {
  if (!listener_) return;
  name_ = {};
  runtime_.forget_listener(number_);
  listener_.reset();
}

void Offers::refuse(const HalfOpen::Path& path) {
  const std::lock_guard lock(mutex_);
  if (refused_.size() == kMostRefused) refused_.pop_front();
  refused_.push_back({path, now()});
}

bool Offers::was_refused(const HalfOpen::Path& path) {
  const std::lock_guard lock(mutex_);
  const Instant at = now();
  std::erase_if(refused_, [at](const Refused& one) { return at - one.at > kRefusedFor; });
  return std::erase_if(refused_, [&path](const Refused& one) { return one.path == path; }) != 0;
}

void Offers::come(transport::Socket socket) {
  const pid_t process = transport::same_host::process_of(socket);
  const std::lock_guard lock(queue_mutex_);
  if (queue_.size() >= kMostWaiting) return;
  queue_.push_back({.socket = std::move(socket), .process = process, .end = now() + kPatience});
  serve();
}

void Offers::look() {
  const std::lock_guard lock(queue_mutex_);
  if (!queue_.empty()) serve();
}

// Without memory, the peers of all offers that wait use TCP.
void Offers::serve() {
  try {
    serve_queue();
    serve_later();
  } catch (const std::bad_alloc&) {
    queue_.clear();
  }
}

// What is done with is destroyed, and the peer told by the end of its socket.
void Offers::serve_queue() {
  std::set<pid_t> held_back;
  for (auto at = queue_.begin(); at != queue_.end();) {
    if (!held_back.contains(at->process) && is_done(*at)) {
      at = queue_.erase(at);
    } else {
      held_back.insert(at->process);
      ++at;
    }
  }
}

void Offers::serve_later() {
  if (queue_.empty()) pause_ = kShortestPause;
  if (queue_.empty() || timed_) return;
  runtime_.reactor().post_later(
      [weak = weak_from_this()] {
        const auto self = weak.lock();
        if (!self) return;
        const std::lock_guard lock(self->queue_mutex_);
        self->timed_ = false;
        self->pause_ = std::min(2 * self->pause_, kLongestPause);
        self->serve();
      },
      pause_);
  timed_ = true;
}

bool Offers::is_done(Waiting& waiting) {
  if (!waiting.offer) {
    auto received = transport::same_host::receive_offer(waiting.socket);
    if (!received) {
      log_connection(LogLevel::kInfo, number_,
                     [&] { return "an offer of shared memory is refused: " + received.error().message(); });
      return true;
    }
    waiting.offer = std::move(*received);
  }
  if (!waiting.offer) return now() >= waiting.end;
  const HalfOpen::Path path{waiting.offer->from, waiting.offer->to.address};
  if (was_refused(path)) return true;
  const auto connection = backlog_->find(path);
  // Asked last: an initiator that gives up ends its session first, and then another connection may come from its port.
  if (waiting.offer->session->peer_has_closed()) return true;
  if (connection) return take(waiting, connection), true;
  return now() >= waiting.end;
}

// A Request that its process wrote before this offer is in the rings by now, perhaps unread.
void Offers::take(Waiting& waiting, const std::shared_ptr<ConnectionState>& connection) {
  for (const auto& taken : last_taken_) {
    const auto earlier = taken.process == waiting.process ? taken.connection.lock() : nullptr;
    if (earlier) static_cast<void>(earlier->look_for_request());
  }
  std::erase_if(last_taken_, [&](const Taken& one) {
    const auto earlier = one.connection.lock();
    return one.process == waiting.process || !earlier || !earlier->is_incoming();
  });
  connection->share(waiting.offer->session);
  if (connection->is_incoming()) last_taken_.push_back({waiting.process, connection});
}

}  // namespace weft::verbs::detail
