// SPDX-License-Identifier: Apache-2.0
// How the prober connects: the kind of peer (its profile), and which end opens the TCP connection.
#pragma once

#include <memory>
#include <string>
#include <string_view>

#include "probe/case.hpp"
#include "probe/conversation.hpp"
#include "probe/peer_protocol.hpp"
#include "probe/scene.hpp"

namespace weft::probe {

// Thread-safe: cases run concurrently.
class Way {
 public:
  virtual ~Way() = default;

  [[nodiscard]] virtual std::string_view profile() const = 0;
  [[nodiscard]] virtual std::uint32_t offers() const = 0;  // of Need, but for kEnhanced
  // What of these needs the peer does not have.
  [[nodiscard]] std::uint32_t lacks(std::uint32_t needs) const {
    const std::uint32_t has = offers() | (enhanced ? std::uint32_t{kEnhanced} : 0U);
    return needs & ~(learned->one_at_a_time() ? has & ~std::uint32_t{kSessions} : has);
  }
  [[nodiscard]] bool peer_connects() const { return (offers() & kConnects) != 0; }
  // Returns how many concurrent connections the peer supports.
  [[nodiscard]] virtual unsigned most_at_a_time() const = 0;
  // Returns how many of them one case may hold open. A peer that connects has no more than it opens by itself.
  [[nodiscard]] virtual unsigned most_held() const { return 64; }

  // A TCP connection, no octet sent; a Judgement where there is none.
  virtual std::unique_ptr<Conversation> dial(const SocketWish& wish) = 0;
  // Performs the startup of a new connection, up to full operation. Returns what the peer offers there, if known. `by`
  // is set before the first octet, so that a failed startup is reported, too.
  virtual Advert open(const Opening& opening, std::unique_ptr<Conversation>& by) = 0;
  // The same startup, as far as the peer's revision of MPA has it.
  [[nodiscard]] StartUp spoken(StartUp start_up) const;

  // Checks that the stream still works.
  virtual void expect_alive(Conversation& by) = 0;
  // Makes the peer read prober memory at kOwnStag; see Scene::provoke_read().
  virtual void ask_to_read(Conversation& by, ddp::TaggedOffset offset, std::uint32_t size);

  std::string place{};        // where the prober listens; empty where the peer does
  std::uint8_t revision = 2;  // of MPA, in ordinary startups with this peer: meet() finds it out
  bool enhanced = true;       // and whether they are those of RFC 6581
  // With a peer that answers at once: how long a reaction is waited for, and how long silence has to last. Longer by
  // what `learned` says of the round trip.
  Duration patience = std::chrono::seconds(5);
  Duration quiet = std::chrono::milliseconds(150);
  [[nodiscard]] Duration patience_now() const noexcept { return learned->patience(patience); }
  [[nodiscard]] Duration quiet_now() const noexcept { return learned->quiet(quiet); }
  // Notes how long the peer took for its last answer on this conversation, which it owed at once.
  void learn_from(const Conversation& by) const noexcept {
    if (const auto took = by.answered_in()) learned->saw_round_trip(*took);
  }
  std::shared_ptr<Learned> learned = std::make_shared<Learned>();
  // Between a listening peer's Reply and our first FPDU: Linux's siw may leave one unread that follows at once.
  Duration first_fpdu_delay{};
};

// Where the peer listens. `profile`: "weft", "raw", "rping"; empty where there is none of that name.
[[nodiscard]] std::unique_ptr<Way> way_to_listener(std::string_view profile, const transport::Endpoint& peer);

}  // namespace weft::probe
