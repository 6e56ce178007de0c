// SPDX-License-Identifier: Apache-2.0
#include "verbs/datagram.hpp"

#include <utility>

#include "verbs/datagram/datagram_queue_pair_state.hpp"
#include "verbs/objects/argument_checks.hpp"

namespace weft::verbs {

DatagramQueuePair& DatagramQueuePair::operator=(DatagramQueuePair&& other) noexcept {
  if (this == &other) return *this;
  if (auto* const own = self_.ours()) own->destroy();
  self_ = std::move(other.self_);
  return *this;
}

DatagramQueuePair::~DatagramQueuePair() {
  if (auto* const own = self_.ours()) own->destroy();
}

std::uint32_t DatagramQueuePair::number() const noexcept { return self_->qp_number(); }
std::uint64_t DatagramQueuePair::context() const noexcept { return self_->attributes.context; }
QpState DatagramQueuePair::state() const noexcept { return self_->state(); }
QueuePairQuery DatagramQueuePair::query() const { return self_->query(); }

void DatagramQueuePair::set_qkey(std::uint32_t qkey) {
  if (auto* const own = self_.ours()) own->set_qkey(qkey);
}

Result<void> DatagramQueuePair::modify(QpState to) {
  auto* const own = self_.ours();
  return own != nullptr ? own->modify(to) : detail::not_ours("queue pair");
}

Result<void> DatagramQueuePair::join(const Address& group) {
  auto* const own = self_.ours();
  return own != nullptr ? own->join(group) : detail::not_ours("queue pair");
}

Result<void> DatagramQueuePair::leave(const Address& group) {
  auto* const own = self_.ours();
  return own != nullptr ? own->leave(group) : detail::not_ours("queue pair");
}

PostResult DatagramQueuePair::post_send(std::span<const DatagramRequest> requests) {
  return self_->post_send(requests);
}
PostResult DatagramQueuePair::post_receive(std::span<const ReceiveRequest> requests) {
  return self_->post_receive(requests);
}

}  // namespace weft::verbs
