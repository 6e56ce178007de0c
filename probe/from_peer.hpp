// SPDX-License-Identifier: Apache-2.0
// The common part of the drivers for peers that connect: the wait for a connection, a matching Reply, and the
// initiator's first FPDU.
#pragma once

#include <atomic>
#include <deque>
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
    const std::scoped_lock lock(started_->mutex);
    std::shared_ptr<StartedPeer> peer;
    if (listening_.start) {
      host_what_waits();
      peer = started_->add(listening_.start());
    } else if (listening_.tell_waiting) {
      listening_.tell_waiting();
    }
    auto socket = awaited(now() + (listening_.start ? patience_now() : listening_.wait));
    if (!socket) fail(kNoneCame);
    auto by = conversation(std::move(socket), wish);
    if (listening_.start) by->keep(started_->all_running());
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
      auto socket = listening_.socket->accept(std::min(deadline, now() + kLook));
      // A process that the prober has ended leaves its connections behind.
      if (socket && (!listening_.start || !socket->peer_has_closed())) return socket;
    } while (now() < deadline);
    return nullptr;
  }

  [[nodiscard]] std::unique_ptr<Conversation> conversation(std::unique_ptr<Socket> socket,
                                                           const SocketWish& wish) const {
    socket->set(wish);
    return std::make_unique<Conversation>(std::move(socket), true, patience, learned);
  }

  Listening listening_;

 private:
  // The processes that the prober has started. Which of them has made a connection cannot be seen: each conversation
  // keeps all that run when it begins, so that none is ended under a connection that a case uses. No connection is
  // accepted while one of them is being ended.
  struct Started {
    using Keeper = std::shared_ptr<std::vector<std::shared_ptr<StartedPeer>>>;

    std::shared_ptr<StartedPeer> add(std::unique_ptr<StartedPeer> peer) {
      std::shared_ptr<StartedPeer> out(peer.release(), [this](StartedPeer* one) {
        const std::scoped_lock lock(mutex);
        delete one;
      });
      running.push_back(out);
      return out;
    }
    Keeper all_running() {
      auto out = std::make_shared<Keeper::element_type>();
      std::erase_if(running, [&](const std::weak_ptr<StartedPeer>& one) {
        if (auto peer = one.lock()) out->push_back(std::move(peer));
        return one.expired();
      });
      return out;
    }

    std::recursive_mutex mutex{};  // a conversation that ends may be the arrival's own
    std::vector<std::weak_ptr<StartedPeer>> running{};
  };

  // Connections that a process opens beside the one that a case uses, or tries again (MPA2-10-12): each is answered and
  // then left alone, so that the peer goes on. Unanswered ones would end it.
  void host_what_waits() {
    std::erase_if(hosted_, [](const auto& by) { return by->socket().peer_has_closed(); });
    while (auto socket = listening_.socket->accept(now())) {
      if (socket->peer_has_closed()) continue;
      auto by = std::make_unique<Conversation>(std::move(socket), true, quiet_now(), learned);
      try {
        const PeerFrame request = by->expect_frame(mpa::FrameKind::kRequest);
        by->send_frame(fitting_reply(request.frame));
        hosted_.push_back(std::move(by));
      } catch (const Judgement&) {  // it is no case's
      }
    }
  }

  std::unique_ptr<Started> started_ = std::make_unique<Started>();
  std::deque<std::unique_ptr<Conversation>> hosted_{};  // under started_->mutex

  // Where several connections came to no first FPDU, and none to one, the peer does not send it: further cases wait
  // less.
  static constexpr unsigned kWithout = 4;
  static constexpr int kShare = 10;  // of the patience, from then on

  PeerFpdu expect_first(Conversation& by, const std::string& what, bool at_once) {
    const bool hopeless = !first_came_ && without_first_ >= kWithout;
    try {
      PeerFpdu first = by.expect_fpdu(what, hopeless ? learned->quiet(patience / kShare) : patience_now());
      first_came_ = true;
      if (at_once) learn_from(by);
      return first;
    } catch (const Judgement&) {
      ++without_first_;
      throw;
    }
  }

  void take_first(Conversation& by, bool ready_to_receive) {
    const PeerFpdu first = expect_first(by,
                                        ready_to_receive ? "the ready-to-receive FPDU (RFC 6581)"
                                                         : "the initiator's first FPDU, before which the prober "
                                                           "may send none",
                                        ready_to_receive || speaks_besides());
    if (!ready_to_receive) return by.leave(first);
    if (!first.is(rdmap::Opcode::kReadRequest)) return;
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
