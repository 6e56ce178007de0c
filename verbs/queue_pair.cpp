// SPDX-License-Identifier: Apache-2.0
#include "verbs/queue_pair.hpp"

#include <utility>

#include "verbs/objects/argument_checks.hpp"
#include "verbs/objects/queue_pair_state.hpp"
#include "verbs/progress/runtime.hpp"

namespace weft::verbs {

namespace {

Result<void> only(const PostResult& posted) {
  if (!posted) return std::unexpected(posted.error().error);
  return {};
}

}  // namespace

QueuePair& QueuePair::operator=(QueuePair&& other) noexcept {
  if (this == &other) return *this;
  if (auto* const own = self_.ours()) own->destroy();
  self_ = std::move(other.self_);
  return *this;
}

QueuePair::~QueuePair() {
  if (auto* const own = self_.ours()) own->destroy();
}

std::uint32_t QueuePair::number() const noexcept { return self_->number; }
std::uint64_t QueuePair::context() const noexcept { return self_->attributes.context; }
QpState QueuePair::state() const noexcept { return self_->state(); }
QueuePairQuery QueuePair::query() const { return self_->query(); }
std::uint32_t QueuePair::send_room() const { return self_->send_room(); }
Result<void> QueuePair::modify(QpState to, bool tell_drained) {
  auto* const own = self_.ours();
  return own != nullptr ? own->modify(to, tell_drained) : detail::not_ours("queue pair");
}
void QueuePair::accept_early_sends() {
  if (auto* const own = self_.ours()) own->accept_early_sends();
}

void QueuePair::combine_immediate() {
  if (auto* const own = self_.ours()) own->extend({.combine_immediate = true});
}

void QueuePair::confirm_writes() {
  if (auto* const own = self_.ours()) own->extend({.confirm_writes = true});
}

void QueuePair::limit_peer(Access rights) {
  if (auto* const own = self_.ours()) own->extend({.peer_rights = rights});
}

void QueuePair::leave_peer() {
  if (auto* const own = self_.ours()) own->leave_peer();
}

void QueuePair::give_up_connecting() {
  if (auto* const own = self_.ours()) own->give_up_connecting();
}

Result<void> QueuePair::post_send(const SendRequest& request) { return only(post_send(std::span(&request, 1))); }
PostResult QueuePair::post_send(std::span<const SendRequest> requests) {
  for (std::size_t i = 0; i < requests.size(); ++i) {
    const auto sound = detail::check(requests[i]);
    if (sound) continue;
    auto posted = self_->post_send(requests.first(i));
    if (posted) posted = std::unexpected(PostFailure{sound.error(), i});
    return posted;
  }
  return self_->post_send(requests);
}

Result<void> QueuePair::post_receive(const ReceiveRequest& request) {
  return only(post_receive(std::span(&request, 1)));
}
PostResult QueuePair::post_receive(std::span<const ReceiveRequest> requests) { return self_->post_receive(requests); }

}  // namespace weft::verbs
