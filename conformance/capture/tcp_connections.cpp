// SPDX-License-Identifier: Apache-2.0
#include "conformance/tcp_connections.hpp"

#include <algorithm>
#include <deque>
#include <iterator>
#include <list>
#include <map>
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
    const Place place = find(*tcp, packet.time);
    place->connection.take(*tcp, packet.time, out_);
    if (place->connection.closed() && !std::exchange(place->closed, true)) has_closed(*place);
    return true;
  }

  void finish() noexcept { finishing_ = true; }

  std::optional<ConnectionEvent> next() {
    if (auto event = out_.pop()) return event;
    out_.reset();
    if (finishing_ && !by_number_.empty()) end(by_number_.begin()->second, false);
    return out_.pop();
  }

  [[nodiscard]] const ConnectionInfo* info(std::size_t number) const noexcept {
    const auto found = by_number_.find(number);
    return found == by_number_.end() ? nullptr : &found->second->connection.info();
  }
  [[nodiscard]] const PacketCounts& counts() const noexcept { return counts_; }

 private:
  // Both directions have the same key.
  using Key = std::pair<capture::Endpoint, capture::Endpoint>;
  struct Live {
    Live(const Key& its_key, std::size_t number, const capture::TcpPacket& first, std::int64_t time,
         capture::BufferBudget& budget)
        : key(its_key), connection(number, first, time, budget) {}
    Key key;
    capture::TcpConnection connection;
    bool closed = false;  // and known as such
  };
  using Place = std::list<Live>::iterator;

  void count(capture::Unread why) noexcept {
    switch (why) {
      case capture::Unread::kNotTcp: ++counts_.not_tcp; return;
      case capture::Unread::kMalformed: ++counts_.malformed; return;
      case capture::Unread::kFragment: ++counts_.fragments; return;
    }
  }

  Place find(const capture::TcpPacket& packet, std::int64_t time) {
    const auto [low, high] = std::minmax({source(packet), destination(packet)});
    const Key key{low, high};
    if (!live_.empty() && live_.back().key == key && !live_.back().connection.is_other(packet)) {
      return std::prev(live_.end());  // as most often
    }
    if (const auto known = by_key_.find(key); known != by_key_.end()) {
      if (!known->second->connection.is_other(packet)) {
        live_.splice(live_.end(), live_, known->second);
        return known->second;
      }
      end(known->second, false);
    }
    if (live_.size() >= most_) end(live_.begin(), true);
    return begin(key, packet, time);
  }

  Place begin(const Key& key, const capture::TcpPacket& packet, std::int64_t time) {
    const std::size_t number = connections_++;
    const Place place = live_.emplace(live_.end(), key, number, packet, time, budget_);
    by_key_.emplace(key, place);
    by_number_.emplace(number, place);
    return place;
  }

  // A connection behind which most_closed_ others have closed is over: its memory is worth more than a late copy of a
  // packet.
  void has_closed(const Live& one) {
    closed_.push_back(one.connection.info().number);
    if (closed_.size() <= most_closed_) return;
    const auto oldest = by_number_.find(closed_.front());
    closed_.pop_front();
    if (oldest != by_number_.end()) end(oldest->second, false);
  }

  void end(Place place, bool evicted) {
    place->connection.finish(evicted, out_);
    by_key_.erase(place->key);
    by_number_.erase(place->connection.info().number);
    live_.erase(place);
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
