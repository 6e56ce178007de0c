// SPDX-License-Identifier: Apache-2.0
#include "probe/way_listening.hpp"

#include <algorithm>
#include <atomic>
#include <deque>
#include <map>
#include <mutex>
#include <set>

#include "probe/peer_program.hpp"
#include "probe/socket.hpp"

namespace weft::probe {
namespace {

constexpr const char* kNoneCame = "no connection of the peer came";

class FromPeer : public Way {
 public:
  explicit FromPeer(Listening listening) : listening_(std::move(listening)) {}

  std::unique_ptr<Conversation> dial(const SocketWish& wish) override { return arrival(wish); }

  Opened open(const Opening& opening, bool) override {
    Opened out{.conversation = arrival_for(opening)};
    Conversation& by = *out.conversation;
    const PeerFrame request = by.expect_frame(mpa::FrameKind::kRequest);
    out.advert = parse_advert(request.frame.private_data).value_or(Advert{});
    answer(by, request, opening.start_up, {});
    return out;
  }

  void expect_alive(Conversation& by) override { by.expect_empty_read(); }

 protected:
  // A Reply that fits the Request, then what the initiator has to send before the prober may (MPA-7.1.2-17).
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
  // Whether it sends something of its own when the connection is there, behind the RTR where there is one.
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
  // A peer of which several connections came to no first FPDU, and none to one, does not send it: no further case waits so long.
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

// A peer of which nothing is known but that it connects.
class FromRaw : public FromPeer {
 public:
  using FromPeer::FromPeer;
  [[nodiscard]] std::string_view profile() const override { return "raw"; }
  [[nodiscard]] std::uint32_t offers() const override { return kConnects | kStream; }
  [[nodiscard]] unsigned most_at_a_time() const override { return 1; }
};

// `rping -c`: its first FPDU is a Send that names its buffer.
class FromRping final : public FromRaw {
 public:
  using FromRaw::FromRaw;
  [[nodiscard]] std::string_view profile() const override { return "rping"; }

 protected:
  [[nodiscard]] bool speaks_besides() const override { return true; }
};

// `weft probe-peer -c`: it keeps some connections open. Each that ends is followed by another, of which the Reply to the
// ended one could wish something.
class FromPeerProgram final : public FromPeer {
 public:
  using FromPeer::FromPeer;
  [[nodiscard]] std::string_view profile() const override { return kPeerProgram; }
  [[nodiscard]] std::uint32_t offers() const override { return kConnects | kPeerProgramOffers; }
  [[nodiscard]] unsigned most_at_a_time() const override { return 4; }
  // Of the peer's 64, or 32, connections: what the other cases have goes off.
  [[nodiscard]] unsigned most_held() const override { return 8; }
  void expect_alive(Conversation& by) override { expect_program_alive(by); }
  void ask_to_read(Conversation& by, ddp::TaggedOffset offset, std::uint32_t size) override {
    ask_program_to_read(by, offset, size);
  }

 protected:
  [[nodiscard]] std::vector<std::byte> private_data(const Wish& next) const override { return serialize(next); }
  [[nodiscard]] bool speaks_besides() const override { return true; }

  std::unique_ptr<Conversation> arrival(const SocketWish& wish) override { return fresh(wish).conversation; }

  // A Reply's wish holds for the next connection. So one connection is spent to have another as it is wished.
  std::unique_ptr<Conversation> arrival_for(const Opening& opening) override {
    Wish wish = opening.wish;
    wish.flags = static_cast<std::uint16_t>(wish.flags & ~Wish::kRejectMe);  // of a Request alone
    if (wish == Wish{}) return arrival(opening.socket);
    const Arrived spent = fresh({});
    if (wish.session == 0) wish.session = spent.session;
    {
      const std::scoped_lock lock(mutex_);
      ++awaited_[wish.session];
    }
    Conversation& by = *spent.conversation;
    answer(by, by.expect_frame(mpa::FrameKind::kRequest), {}, wish);
    by.shut();
    by.expect_end_sometime("the prober closed it", patience);
    return of_session(wish.session, opening.socket);
  }

 private:
  struct Arrived {
    std::uint32_t session{};
    std::unique_ptr<Conversation> conversation{};
    bool kept{};
  };
  static constexpr Duration kLook = std::chrono::milliseconds(10);  // another thread may have accepted what we want

  // A connection whose session no case has used.
  Arrived fresh(const SocketWish& wish) {
    const Instant began = now();
    // While other cases hold connections, the peer may have no further one: what they need may take its time.
    const auto limit = [&] {
      if (!heard_ && !listening_.start) return listening_.wait;
      return held_.use_count() > 1 ? kOthersTime * patience : patience;
    };
    while (now() < began + limit()) {
      go_on_waiting();
      auto one = fresh_.take();
      if (!one.conversation) one = next(wish);
      if (one.conversation && (one.kept || !park(one)) && !over(*one.conversation)) return one;
    }
    fail(kNoneCame);
  }
  static constexpr int kOthersTime = 4;

  // The next connection of a session that a Reply has asked for.
  std::unique_ptr<Conversation> of_session(std::uint32_t session, const SocketWish& wish) {
    const Instant deadline = now() + patience;
    while (now() < deadline) {
      {
        const std::scoped_lock lock(mutex_);
        if (auto parked = parked_.extract(session)) return std::move(parked.mapped());
      }
      if (auto one = next(wish); one.conversation && !park(one)) fresh_.give(std::move(one));
    }
    fail("no further connection came of a session that the prober wished for");
  }

  // One that comes now, its Request read. Its session is 0 where it is of no use.
  Arrived next(const SocketWish& wish) {
    see_to_the_process();
    auto socket = listening_.socket->accept(now() + kLook);
    if (!socket) return {};
    heard_ = true;
    Arrived out{.conversation = conversation(std::move(socket), wish)};
    PeerFrame request;
    try {
      request = out.conversation->expect_frame(mpa::FrameKind::kRequest);
    } catch (const Judgement&) {
      if (out.conversation->exchange().parts.empty() ||
          out.conversation->exchange().parts.front().kind == Part::kOctets)
        throw;
      return {};  // it waited too long for us, and its Request went with it
    }
    const auto advert = parse_advert(request.frame.private_data);
    if (!advert || advert->session == 0)
      fail("the peer's Request has no advert: it is no weft probe-peer (--profile raw takes any peer)");
    out.session = advert->session;
    out.conversation->keep(held_);
    out.conversation->give_back(std::move(request));
    return out;
  }

  // Whether another case waits for it, or no case can use it; then it is gone from `one`.
  bool park(Arrived& one) {
    const std::scoped_lock lock(mutex_);
    if (const auto wanted = awaited_.find(one.session); wanted != awaited_.end()) {
      if (--wanted->second == 0) awaited_.erase(wanted);
      parked_.emplace(one.session, std::move(one.conversation));
      return true;
    }
    if (used_.insert(one.session).second) return false;
    const PeerFrame request = one.conversation->expect_frame(mpa::FrameKind::kRequest);
    one.conversation->send_frame(
        fitting_reply(request.frame, {.private_data = serialize(Wish{})}));  // the successor's session is new
    one.conversation.reset();
    return true;
  }

  // It waited too long for us.
  static bool over(Conversation& by) {
    try {
      PeerFrame request = by.expect_frame(mpa::FrameKind::kRequest);
      by.expect_silence({}, "it waits for the Reply");
      by.give_back(std::move(request));
    } catch (const Judgement&) {
      return true;
    }
    return false;
  }

  // Started once, and again if it has ended.
  void see_to_the_process() {
    if (!listening_.start) return;
    const std::scoped_lock lock(starting_);
    if (!process_ || !process_->running()) process_ = listening_.start();
  }

  // Fresh ones that came while one of a session was waited for.
  class Kept {
   public:
    void give(Arrived one) {
      one.kept = true;
      const std::scoped_lock lock(mutex_);
      kept_.push_back(std::move(one));
      if (kept_.size() > kMost) kept_.pop_front();  // it has waited the longest
    }
    Arrived take() {
      const std::scoped_lock lock(mutex_);
      if (kept_.empty()) return {};
      Arrived out = std::move(kept_.back());
      kept_.pop_back();
      return out;
    }

   private:
    static constexpr std::size_t kMost = 64;
    std::mutex mutex_{};
    std::deque<Arrived> kept_{};
  };

  std::shared_ptr<int> held_ = std::make_shared<int>();  // each connection that lives has it, too
  std::unique_ptr<StartedPeer> process_{};               // under starting_
  std::mutex mutex_{};
  std::map<std::uint32_t, unsigned> awaited_{};  // under mutex_: sessions of which a connection is to come
  std::multimap<std::uint32_t, std::unique_ptr<Conversation>> parked_{};  // under mutex_
  std::set<std::uint32_t> used_{};                                        // under mutex_
  Kept fresh_{};
  std::atomic<bool> heard_ = false;
};

}  // namespace

StartUp fitting_reply(const mpa::StartupFrame& request, StartUp wanted) {
  if (!request.enhanced) {  // MPA2-10-06
    wanted.enhanced.reset();
    wanted.revision = 1;
    return wanted;
  }
  wanted.revision = 2;
  if (!wanted.enhanced) wanted.enhanced = mpa::EnhancedData{.ird = 16, .ord = 16};
  mpa::EnhancedData& ours = *wanted.enhanced;
  ours.peer_to_peer = request.enhanced->peer_to_peer;
  ours.rtr = ours.peer_to_peer ? request.enhanced->rtr : mpa::RtrTypes{};
  const bool negotiated = request.enhanced->ird != mpa::kNoNegotiation && ours.ord != mpa::kNoNegotiation;
  if (negotiated) ours.ord = std::min(ours.ord, request.enhanced->ird);  // MPA2-9.1-10
  return wanted;
}

std::unique_ptr<Way> way_from_peer(std::string_view profile, Listening listening) {
  if (profile == "weft") return std::make_unique<FromPeerProgram>(std::move(listening));
  if (profile == "raw") return std::make_unique<FromRaw>(std::move(listening));
  if (profile == "rping") return std::make_unique<FromRping>(std::move(listening));
  return nullptr;
}

}  // namespace weft::probe
