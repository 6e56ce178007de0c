// SPDX-License-Identifier: Apache-2.0
#include "verbs/connecting/offers.hpp"

#include <algorithm>
#include <utility>

#include "verbs/connecting/connection_state.hpp"
#include "verbs/log/log.hpp"

namespace weft::verbs::detail {

std::error_code Offers::listen(std::uint64_t listener, const transport::Endpoint& local, int backlog) {
  auto listening = transport::same_host::listen_for_offers(local, backlog);
  if (!listening) return listening.error();
  const auto on_accept = [weak = weak_from_this()](std::expected<transport::Socket, std::error_code> socket) {
    const auto self = weak.lock();
    if (!self || !socket || self->waiting_ >= kMostWaiting) return;
    ++self->waiting_;
    auto waiting = std::make_shared<Waiting>();
    waiting->socket = std::move(*socket);
    waiting->end = now() + kPatience;
    self->come(std::move(waiting));
  };
  auto accepting = transport::Listener::create(runtime_.resting_reactor(), runtime_.progress_threads().of(listener),
                                               std::move(*listening), local, transport::ListenOptions{}, on_accept);
  if (!accepting) return accepting.error();
  listener_ = std::make_shared<transport::Listener>(std::move(*accepting));
  runtime_.add(number_, listener_);
  return {};
}

void Offers::close() {
  if (!listener_) return;
  runtime_.forget_listener(number_);
  listener_.reset();
}

void Offers::refuse(const transport::Endpoint& peer) {
  const std::lock_guard lock(mutex_);
  if (refused_.size() == kMostRefused) refused_.pop_front();
  refused_.push_back({peer, now()});
}

bool Offers::was_refused(const transport::Endpoint& peer) {
  const std::lock_guard lock(mutex_);
  const Instant at = now();
  std::erase_if(refused_, [at](const Refused& one) { return at - one.at > kRefusedFor; });
  return std::erase_if(refused_, [&peer](const Refused& one) { return one.peer == peer; }) != 0;
}

void Offers::come(std::shared_ptr<Waiting> waiting) {
  if (is_done(*waiting)) {
    --waiting_;
    return;
  }
  const auto pause = std::exchange(waiting->pause, std::min(2 * waiting->pause, kLongestPause));
  runtime_.reactor().post_later(
      [weak = weak_from_this(), waiting = std::move(waiting)] {
        if (const auto self = weak.lock()) self->come(waiting);
      },
      pause);
}

// What is done with is destroyed, and the peer told by the end of its socket.
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
  if (was_refused(waiting.offer->from)) return true;
  if (const auto connection = backlog_->find(waiting.offer->from)) {
    connection->share(waiting.offer->session);
    return true;
  }
  return now() >= waiting.end || waiting.offer->session->has_ended();
}

}  // namespace weft::verbs::detail
