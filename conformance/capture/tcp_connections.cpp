// SPDX-License-Identifier: Apache-2.0
#include "conformance/tcp_connections.hpp"

#include <algorithm>
#include <deque>
#include <iterator>
#include <list>
#include <map>
#include <memory>
#include <optional>
#include <utility>

#include "conformance/capture/tcp_connection.hpp"

namespace weft::conformance {

class TcpConnections::Table {
 public:
  explicit Table(const TcpLimits& limits)
      : most_(std::max<std::size_t>(limits.connections, 1)),
        most_closed_(limits.closed),
        budget_{.per_direction = limits.buffered_per_direction, .total = limits.buffered} {}

  bool take(const Packet& packet) {
    if (!out_.empty()) return false;
    out_.reset();
    const auto tcp = decoder_.decode(packet);
    if (!tcp) {
      count(tcp.error());
      return true;
    }
    ++counts_.tcp;
    if (const auto place = find(*tcp, packet.time)) give(*place, *tcp, packet.time);
    return true;
  }

  void finish() noexcept { finishing_ = true; }

  std::optional<ConnectionEvent> next() {
    if (auto event = out_.pop()) return event;
    out_.reset();
    if (finishing_ && !by_number_.empty()) end_last(by_number_.begin()->second);
    return out_.pop();
  }

  [[nodiscard]] const ConnectionInfo* info(std::size_t number) const noexcept {
    const auto found = by_number_.find(number);
    return found == by_number_.end() ? nullptr : &found->second->connection.info();
  }
  [[nodiscard]] const PacketCounts& counts() const noexcept { return counts_; }

 private:
  // Both directions have the same key.
  using Key = std::pair<packet::Endpoint, packet::Endpoint>;
  // A SYN with another number on a connection that is open. If the other end accepts it, it opens a new connection. If
  // not (RFC 5961 section 4: a challenge ACK), the old one goes on.
  struct Attempt {
    capture::KeptPacket syn;
    std::int64_t time{};
  };
  struct Live {
    Live(const Key& its_key, std::size_t number, const capture::TcpPacket& first, std::int64_t time,
         capture::BufferBudget& budget)
        : key(its_key), connection(number, first, time, budget) {}
    Key key;
    capture::TcpConnection connection;
    bool closed = false;  // and known as such
    bool current = true;  // the newest one between these ends
    std::unique_ptr<Attempt> attempt{};
    std::optional<std::size_t> previous{};  // number of the connection before it, whose packets may still come
  };
  using Place = std::list<Live>::iterator;
  static constexpr std::uint64_t kPreviousFor = 64;  // packets of a connection, for which the one before it is kept

  void count(packet::Unread why) noexcept {
    switch (why) {
      case packet::Unread::kNotTcp: ++counts_.not_tcp; return;
      case packet::Unread::kMalformed: ++counts_.malformed; return;
      case packet::Unread::kFragment: ++counts_.fragments; return;
    }
  }

  // Returns nothing if the packet is an attempt, or says no more about one.
  std::optional<Place> find(const capture::TcpPacket& packet, std::int64_t time) {
    const auto [low, high] = std::minmax({packet.source, packet.destination});
    const Key key{low, high};
    if (!live_.empty() && live_.back().key == key && is_ordinary(live_.back(), packet)) {
      return std::prev(live_.end());  // as most often
    }
    const auto known = by_key_.find(key);
    if (known == by_key_.end()) return begin(key, packet, time, std::nullopt);
    const Place place = known->second;
    live_.splice(live_.end(), live_, place);
    if (place->attempt) return find_during_attempt(place, packet, time);
    if (place->connection.is_other(packet)) {
      if (packet.header.ack || place->connection.closed()) return begin_after(place, packet, time);
      place->attempt = std::make_unique<Attempt>(Attempt{capture::KeptPacket(packet), time});
      return std::nullopt;
    }
    return place->previous ? of_either(place, packet) : place;
  }

  static bool is_ordinary(const Live& live, const capture::TcpPacket& packet) {
    return live.current && !live.attempt && !live.previous && !live.connection.is_other(packet);
  }

  std::optional<Place> find_during_attempt(Place place, const capture::TcpPacket& packet, std::int64_t time) {
    const capture::TcpPacket syn = place->attempt->syn.packet();
    const bool again = packet.header.syn && !packet.header.ack && packet.source == syn.source;
    if (again) {
      const bool same = packet.header.sequence == syn.header.sequence;
      if (!same || packet.payload_size > syn.payload_size) {
        place->attempt = std::make_unique<Attempt>(Attempt{capture::KeptPacket(packet), time});
      }
      return std::nullopt;
    }
    if (!goes_on(syn, packet)) return place;
    const std::unique_ptr<Attempt> attempt = std::move(place->attempt);
    const Place begun = begin_after(place, syn, attempt->time);
    give(begun, attempt->syn.give(out_), attempt->time);
    return begun;
  }

  // The packet belongs to the connection that the SYN opens.
  static bool goes_on(const capture::TcpPacket& syn, const capture::TcpPacket& packet) {
    const std::uint32_t first = syn.header.sequence + 1;
    const auto size = static_cast<std::uint32_t>(syn.payload_size);
    if (packet.source == syn.source) return !packet.header.rst && packet.header.sequence - first <= size;
    return packet.header.ack && packet.header.acknowledgement - first <= size;
  }

  Place begin_after(Place old, const capture::TcpPacket& packet, std::int64_t time) {
    const Key key = old->key;
    const std::size_t number = old->connection.info().number;
    if (old->previous) end(by_number_.at(*old->previous), false);
    by_key_.erase(key);
    old->current = false;
    return begin(key, packet, time, number);
  }

  Place of_either(Place place, const capture::TcpPacket& packet) {
    const Place previous = by_number_.at(*place->previous);
    if (place->connection.info().packets >= kPreviousFor) {
      end(previous, false);
      return place;
    }
    const bool late = !place->connection.claims(packet) && previous->connection.claims(packet);
    return late ? previous : place;
  }

  Place begin(const Key& key, const capture::TcpPacket& packet, std::int64_t time,
              std::optional<std::size_t> previous) {
    while (live_.size() >= most_) end(live_.begin(), true);
    const std::size_t number = connections_++;
    const Place place = live_.emplace(live_.end(), key, number, packet, time, budget_);
    if (previous && by_number_.contains(*previous)) place->previous = previous;
    by_key_.emplace(key, place);
    by_number_.emplace(number, place);
    return place;
  }

  void give(Place place, const capture::TcpPacket& packet, std::int64_t time) {
    place->connection.take(packet, time, out_);
    if (place->connection.closed() && !std::exchange(place->closed, true)) has_closed(*place);
  }

  // A connection after which most_closed_ others have closed is over: its memory is worth more than a late copy of a
  // packet.
  void has_closed(const Live& one) {
    closed_.push_back(one.connection.info().number);
    if (closed_.size() <= most_closed_) return;
    const auto oldest = by_number_.find(closed_.front());
    closed_.pop_front();
    if (oldest != by_number_.end()) end(oldest->second, false);
  }

  void end(Place place, bool evicted) {
    const auto newest = by_key_.find(place->key);
    if (place->current) {
      if (place->previous) end(by_number_.at(*place->previous), false);
      by_key_.erase(newest);
    } else if (newest != by_key_.end() && newest->second->previous == place->connection.info().number) {
      newest->second->previous.reset();
    }
    place->connection.finish(evicted, out_);
    by_number_.erase(place->connection.info().number);
    live_.erase(place);
  }

  // At the end of the capture. An attempt that nobody answered is a connection of one packet.
  void end_last(Place place) {
    const Key key = place->key;
    const std::unique_ptr<Attempt> attempt = std::move(place->attempt);
    end(place, false);
    if (!attempt) return;
    const capture::TcpPacket syn = attempt->syn.packet();
    give(begin(key, syn, attempt->time, std::nullopt), syn, attempt->time);
  }

  std::size_t most_;
  std::size_t most_closed_;
  capture::BufferBudget budget_;
  capture::PacketDecoder decoder_{};
  capture::EventQueue out_{};
  std::list<Live> live_{};  // the one heard of last at the end
  // Trees, not hash tables: a hostile capture cannot choose addresses that make them slow.
  std::map<Key, Place> by_key_{};
  std::map<std::size_t, Place> by_number_{};
  std::deque<std::size_t> closed_{};  // numbers, in the order of their ends; some are over since
  std::size_t connections_ = 0;
  PacketCounts counts_{};
  bool finishing_ = false;
};

TcpConnections::TcpConnections(const TcpLimits& limits) : table_(std::make_unique<Table>(limits)) {}
TcpConnections::~TcpConnections() = default;
TcpConnections::TcpConnections(TcpConnections&&) noexcept = default;
TcpConnections& TcpConnections::operator=(TcpConnections&&) noexcept = default;

bool TcpConnections::take(const Packet& packet) { return table_->take(packet); }
void TcpConnections::finish() { table_->finish(); }
std::optional<ConnectionEvent> TcpConnections::next() { return table_->next(); }
const ConnectionInfo* TcpConnections::info(std::size_t connection) const noexcept { return table_->info(connection); }
const PacketCounts& TcpConnections::counts() const noexcept { return table_->counts(); }

}  // namespace weft::conformance
