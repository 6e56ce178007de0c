// SPDX-License-Identifier: Apache-2.0
// The common part of the drivers for peers that connect: the wait for a connection, a matching Reply, and the
// initiator's first FPDU.
#pragma once

#include <atomic>
#include <memory>
#include <mutex>
#include <string>
#include <utility>
#include <vector>

#include "probe/peer_protocol.hpp"
#include "probe/socket.hpp"
#include "probe/way_listening.hpp"

namespace weft::probe {

inline constexpr const char* kNoneCame = "no connection of the peer came";

class FromPeer : public Way {
 public:
  explicit FromPeer(Listening listening) : listening_(std::move(listening)) {}

  std::unique_ptr<Conversation> dial(const SocketWish& wish) override { return arrival(wish); }

  Advert open(const Opening& opening, std::unique_ptr<Conversation>& conversation) override {
    conversation = arrival_for(opening);
    Conversation& by = *conversation;
    const PeerFrame request = by.expect_frame(mpa::FrameKind::kRequest);
    Advert advert = parse_advert(request.frame.private_data).value_or(Advert{});
    answer(by, request, opening.start_up, {});
    return advert;
  }

  void expect_alive(Conversation& by) override { by.expect_empty_read(); }

 protected:
  // Sends a Reply that matches the Request, then waits for what the initiator must send before the prober may
  // (MPA-7.1.2-17).
  void answer(Conversation& by, const PeerFrame& request, StartUp reply, const Wish& next) {
    const auto& asked = request.frame.enhanced;
    reply = fitting_reply(request.frame, std::move(reply));
    if (reply.private_data.empty()) reply.private_data = private_data(next);
    by.send_frame(reply);
    by.start_fpdus(reply, request.frame);
    if (asked && asked->peer_to_peer) take_first(by, true);
    if ((!asked || !asked->peer_to_peer || speaks_besides()) && !listening_.leaves_first) take_first(by, false);
  }

  [[nodiscard]] virtual std::vector<std::byte> private_data(const Wish&) const { return {}; }
  // Returns whether the peer sends something of its own once connected, after the RTR if there is one.
  [[nodiscard]] virtual bool speaks_besides() const { return false; }
  // A connection that has what the opening wishes.
  virtual std::unique_ptr<Conversation> arrival_for(const Opening& opening) { return arrival(opening.socket); }
  // The next connection.
  virtual std::unique_ptr<Conversation> arrival(const SocketWish& wish) {
    const std::scoped_lock lock(starting_);  // so that each process has the connection that it has made
    // A peer may try again with revision 1 when its Request found no answer (MPA2-10-12): no case waits for that.
    while (listening_.start && listening_.socket->accept(now())) {
    }
    std::shared_ptr<StartedPeer> peer;
    if (listening_.start) peer = listening_.start();
    if (!peer && listening_.tell_waiting) listening_.tell_waiting();
    auto socket = awaited(now() + (peer ? patience : listening_.wait));
    if (!socket) fail(kNoneCame);
    auto by = conversation(std::move(socket), wish);
    by->keep(std::move(peer));
    return by;
  }

  // Ends the case where the wait is given up: nothing is known of the peer then.
  void go_on_waiting() const {
    if (listening_.stopped && listening_.stopped()) not_applicable("interrupted before the peer's connection came");
  }
  std::unique_ptr<Socket> awaited(Instant deadline) {
    constexpr Duration kLook = std::chrono::milliseconds(50);
    do {
      go_on_waiting();
      if (auto socket = listening_.socket->accept(std::min(deadline, now() + kLook))) return socket;
    } while (now() < deadline);
    return nullptr;
  }

  [[nodiscard]] std::unique_ptr<Conversation> conversation(std::unique_ptr<Socket> socket,
                                                           const SocketWish& wish) const {
    if (wish.segment) socket->segment_at_most(*wish.segment);
    if (wish.window) socket->window_of(*wish.window);
    return std::make_unique<Conversation>(std::move(socket), true, patience);
  }

  Listening listening_;
  std::mutex starting_{};

 private:
  // Where several connections came to no first FPDU, and none to one, the peer does not send it: further cases wait less.
  static constexpr unsigned kWithout = 4;
  static constexpr int kShare = 10;  // of the patience, from then on

  PeerFpdu expect_first(Conversation& by, const std::string& what) {
    const bool hopeless = !first_came_ && without_first_ >= kWithout;
    try {
      PeerFpdu first = by.expect_fpdu(what, hopeless ? patience / kShare : patience);
      first_came_ = true;
      return first;
    } catch (const Judgement&) {
      ++without_first_;
      throw;
    }
  }

  void take_first(Conversation& by, bool ready_to_receive) {
    const PeerFpdu first = expect_first(by, ready_to_receive ? "the ready-to-receive FPDU (RFC 6581)"
                                                             : "the initiator's first FPDU, before which the prober "
                                                               "may send none");
    if (!ready_to_receive || first.opcode() != std::to_underlying(rdmap::Opcode::kReadRequest)) return;
    const auto request = rdmap::parse_read_request(first.payload());
    if (!request) fail("the peer's Read Request is malformed");
    by.send_ulpdu(by.make().read_response(request->sink_stag, request->sink_offset, {}));
  }

  std::atomic<unsigned> without_first_ = 0;  // connections
  std::atomic<bool> first_came_ = false;
};

// The way to `weft probe-peer -c`.
[[nodiscard]] std::unique_ptr<Way> way_from_peer_program(Listening listening);

}  // namespace weft::probe
