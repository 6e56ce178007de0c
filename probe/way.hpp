// SPDX-License-Identifier: Apache-2.0
// How the prober comes to a connection: what the peer is (its profile), and which end opens TCP.
#pragma once

#include <memory>
#include <string>
#include <string_view>

#include "probe/case.hpp"
#include "probe/conversation.hpp"
#include "probe/peer_protocol.hpp"
#include "probe/scene.hpp"

namespace weft::probe {

// Safe for threads: cases run side by side.
class Way {
 public:
  virtual ~Way() = default;

  [[nodiscard]] virtual std::string_view profile() const = 0;
  [[nodiscard]] virtual std::uint32_t offers() const = 0;  // of Need, but for kEnhanced
  // What of these needs the peer does not have.
  [[nodiscard]] std::uint32_t lacks(std::uint32_t needs) const {
    return needs & ~(offers() | (enhanced ? std::uint32_t{kEnhanced} : 0U));
  }
  [[nodiscard]] bool peer_connects() const { return (offers() & kConnects) != 0; }
  // How many conversations the peer can have at a time.
  [[nodiscard]] virtual unsigned most_at_a_time() const = 0;
  // How many of them one case may hold open. A peer that connects has no more than it opens by itself.
  [[nodiscard]] virtual unsigned most_held() const { return 64; }

  // A TCP connection, no octet sent; a Judgement where there is none.
  virtual std::unique_ptr<Conversation> dial(const SocketWish& wish) = 0;
  // Leads a new connection through the start-up into full operation. What the peer offers there, as far as it tells. `by` is the
  // connection from its first octet on, so that a start-up that fails is told, too.
  virtual Advert open(const Opening& opening, std::unique_ptr<Conversation>& by) = 0;
  // The same start-up, as far as the peer's revision of MPA has it.
  [[nodiscard]] StartUp spoken(StartUp start_up) const;

  // Whether the stream is as good as before.
  virtual void expect_alive(Conversation& by) = 0;
  // Brings the peer to read our memory at kOwnStag; see Scene::provoke_read().
  virtual void ask_to_read(Conversation& by, ddp::TaggedOffset offset, std::uint32_t size);

  std::string place{};        // where the prober listens; empty where the peer does
  std::uint8_t revision = 2;  // of MPA, in ordinary start-ups with this peer: meet() finds it out
  bool enhanced = true;       // and whether they are those of RFC 6581
  Duration patience = std::chrono::seconds(5);
  Duration quiet = std::chrono::milliseconds(150);
  // Between a listening peer's Reply and our first FPDU: Linux's siw may leave one unread that follows at once.
  Duration first_fpdu_delay{};
};

// Where the peer listens. `profile`: "weft", "raw", "rping"; empty where there is none of that name.
[[nodiscard]] std::unique_ptr<Way> way_to_listener(std::string_view profile, const transport::Endpoint& peer);

}  // namespace weft::probe
