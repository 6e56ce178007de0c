// SPDX-License-Identifier: Apache-2.0
// A connection of this process whose peer is the test's: it does nothing by itself.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>
#include <stdexcept>

#include "hand_peer.hpp"
#include "loopback.hpp"

namespace weft::verbs::test {

struct Served {
  static constexpr std::size_t kMuch = std::size_t{1} << 26;  // octets: more than both kernels keep
  static constexpr std::uint32_t kDepth = 2;                  // Reads that wait for their answer

  explicit Served(const Policy& policy = {}, std::size_t octets = 64) : buffer(end, octets) {
    must(listener.set_policy(over_tested_pipe(policy)), "set_policy");
    must(listener.bind_address(loopback("127.0.0.1")), "bind_address");
    must(listener.listen(), "listen");
    peer.emplace(listener.local_address());
    auto request = expect_event(events, ConnectionEventType::kConnectRequest);
    end.id = std::move(*request.request);
    must(end.id->accept(*end.qp, {.ord = kDepth}), "accept");
    peer->wait_for<engine::Established>();
    expect_event(events, ConnectionEventType::kEstablished);
    write_nothing();
    peer->write();  // a responder's work waits for the initiator's first message (MPA-7.1.2-17)
  }
  // An RDMA Write of the peer, without octets.
  void write_nothing() {
    if (!peer->engine.post({.operation = engine::Operation::kWrite})) throw std::runtime_error("post");
  }
  void send_all() {
    const Sge all = buffer.sge();
    must(end.qp->post_send({.opcode = SendOpcode::kSend, .flags = SendFlags::kSignaled, .segments = {&all, 1}}),
         "post_send");
  }
  void read() {
    const Sge sink = buffer.sge(0, 8);
    must(end.qp->post_send({.opcode = SendOpcode::kRdmaRead, .segments = {&sink, 1}}), "post_send");
  }
  // Requests that have come to the peer, which does not answer.
  void wait_for_requests(std::size_t count) const {
    constexpr std::size_t kOctets = 40;  // fewer than those of one
    wait_until([&] { return peer->waiting_octets() > kOctets * count; }, "Read Requests");
  }

  EventChannel events = must(EventChannel::create(), "EventChannel");
  ConnectionId listener = must(ConnectionId::create(events), "ConnectionId");
  End end;
  Buffer buffer;
  std::optional<HandPeer> peer;
};

}  // namespace weft::verbs::test
