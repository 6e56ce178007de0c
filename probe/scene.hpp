// SPDX-License-Identifier: Apache-2.0
// The context of a case: connections to the peer, and what the peer offers there.
#pragma once

#include <chrono>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "probe/conversation.hpp"
#include "probe/peer_protocol.hpp"
#include "probe/socket.hpp"

namespace weft::probe {

class Way;  // probe/way.hpp: how connections come about

// How the prober's startup frame is, and what the peer is asked for by it. Profiles fill in what they need.
struct Opening {
  SocketWish socket{};
  StartUp start_up{};
  Wish wish{};               // profile weft
  bool prober_first = true;  // as initiator: an empty Write after the Reply, so that the peer may send (MPA-7.1.2-17)
};

// The view of the peer for one case. Not thread-safe.
class Scene {
 public:
  // What a case may take, and one that waits for a timeout of the peer (slow).
  static constexpr Duration kTime = std::chrono::seconds(60);
  static constexpr Duration kSlowTime = std::chrono::seconds(120);

  // `time`: more than that is a failure. Where the peer connects, the wait for its connections does not count.
  Scene(Way& way, std::uint64_t seed, Duration time = kTime) noexcept;
  ~Scene();
  Scene(const Scene&) = delete;
  Scene& operator=(const Scene&) = delete;

  // A connection in full operation, or a Judgement.
  Conversation& connect(const Opening& opening = {});
  // As connect(), joining the session of the last connection: sees its regions and its report (kSessions).
  Conversation& rejoin(Opening opening = {});
  // A TCP connection and no octet sent. Where the peer connects: one that it has opened, its Request unread.
  Conversation& dial(const SocketWish& wish = {});
  // What the peer offers on the connection that connect() or rejoin() made last.
  [[nodiscard]] const Advert& advert() const;
  // A region of it; not applicable where there is none. A window (kind 3) is bound when the peer has answered an order
  // on that connection: before that a case may not ask for one (std::logic_error), so that no slow peer is accused.
  [[nodiscard]] const Region& region(Region::Kind kind, std::uint8_t rights) const;
  // Octets of the peer's memory, by an RDMA Read on `by`. The region is readable.
  std::vector<std::byte> read_back(Conversation& by, const Region& region, std::size_t from, std::size_t size);
  // Fails unless this part of the region holds its first content. Joins the session for it.
  void expect_untouched(const Region& region, std::size_t from, std::size_t size);
  // What the session's report says now, all completions up to now in it. Joins the session by a new connection, so
  // that it works when the stream is over.
  PeerReport report();
  // The same over a connection that lives.
  PeerReport report(Conversation& by);
  // Checks that the connection still works: previous octets were processed, and the peer answers.
  void expect_alive(Conversation& by);
  // Makes the peer read `size` octets of prober memory (kReads). Returns its Read Request.
  rdmap::ReadRequest provoke_read(Conversation& by, ddp::TaggedOffset offset, std::uint32_t size);
  // Sends an order; with kAnswer waits for the report.
  std::optional<PeerReport> order(Conversation& by, const Order& order);

  static constexpr ddp::Stag kOwnStag = probe::kOwnStag;  // of the prober's memory

  [[nodiscard]] bool peer_connects() const noexcept;
  [[nodiscard]] bool offers(std::uint32_t needs) const noexcept;  // all of these (Need)
  // This number of connections at a time, or as many as the peer lets a case have. Not applicable where that is one.
  [[nodiscard]] unsigned at_most(unsigned connections) const;
  [[nodiscard]] std::uint64_t random();  // by the seed: reruns give the same
  // For how long a reaction is waited for, and for how long silence has to last.
  [[nodiscard]] Duration patience() const noexcept;
  [[nodiscard]] Duration quiet() const noexcept;
  // Returns the shortest time that quiet() has returned; nothing if the case did not call it.
  [[nodiscard]] std::optional<Duration> quiet_used() const noexcept;

  [[nodiscard]] std::size_t conversations() const noexcept;  // begun up to now
  // Returns all exchanges, for the report.
  [[nodiscard]] std::vector<Exchange> exchanges() const;
  // Returns violations that do not decide the case.
  [[nodiscard]] std::vector<std::string> warnings() const;

 private:
  void give_up_earlier() noexcept;
  Conversation& keep(std::unique_ptr<Conversation> conversation, Instant began);

  struct Self;
  std::unique_ptr<Self> self_;
};

}  // namespace weft::probe
