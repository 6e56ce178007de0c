// SPDX-License-Identifier: Apache-2.0
#include <netinet/tcp.h>

#include <algorithm>
#include <chrono>
#include <deque>
#include <map>
#include <set>
#include <span>

#include "probe/from_peer.hpp"
#include "probe/peer_program.hpp"

namespace weft::probe {
namespace {

// `weft probe-peer -c`: it keeps some connections open. Each that ends is followed by another, of which the Reply to
// the ended one could wish something.
class FromPeerProgram final : public FromPeer {
 public:
  using FromPeer::FromPeer;
  [[nodiscard]] std::string_view profile() const override { return kPeerProgram; }
  [[nodiscard]] std::uint32_t offers() const override { return kConnects | kPeerProgramOffers; }
  [[nodiscard]] unsigned most_at_a_time() const override { return 4; }
  // Leaves the rest of the peer's 64 or 32 connections to the other cases.
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
    by.expect_end_sometime("the prober closed it", patience_now());
    return of_session(wish.session, opening.socket);
  }

 private:
  struct Arrived {
    std::uint32_t session{};
    std::unique_ptr<Conversation> conversation{};
    bool kept{};
  };
  static constexpr Duration kLongestWait = std::chrono::seconds(3);  // programs give a startup 5 s or more
  static constexpr Duration kLook = std::chrono::milliseconds(10);   // another thread may have accepted what we want

  // A connection whose session no case has used.
  Arrived fresh(const SocketWish& wish) {
    const Instant began = now();
    // While other cases hold connections, the peer may have no further one: what they need may take its time.
    const auto limit = [&] {
      if (!heard_ && !listening_.start) return listening_.wait;
      return held_.use_count() > 1 ? kOthersTime * patience_now() : patience_now();
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
    const Instant deadline = now() + patience_now();
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

  // Returns whether another case waits for it, or no case can use it; then it is gone from `one`.
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

  // It waited too long for us, or for so long that it may give up before the Reply arrives. The octets of its Request
  // were its last ones.
  static bool over(Conversation& by) {
    tcp_info info{};
    static_cast<void>(by.socket().tcp_info(std::as_writable_bytes(std::span(&info, 1))));
    if (std::chrono::milliseconds(info.tcpi_last_data_recv) > kLongestWait) return true;
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
  std::mutex starting_{};
  std::unique_ptr<StartedPeer> process_{};  // under starting_
  std::mutex mutex_{};
  std::map<std::uint32_t, unsigned> awaited_{};  // under mutex_: sessions of which a connection is to come
  std::multimap<std::uint32_t, std::unique_ptr<Conversation>> parked_{};  // under mutex_
  std::set<std::uint32_t> used_{};                                        // under mutex_
  Kept fresh_{};
  std::atomic<bool> heard_ = false;
};

}  // namespace

std::unique_ptr<Way> way_from_peer_program(Listening listening) {
  return std::make_unique<FromPeerProgram>(std::move(listening));
}

}  // namespace weft::probe
