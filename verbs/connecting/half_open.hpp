// SPDX-License-Identifier: Apache-2.0
// The connections of one listener that TCP has made and whose MPA Request is incomplete. The Request of an honest
// client arrives within a round trip, so the connection that has waited longest is the least likely to be honest: when
// all places are taken, the oldest connection is reset, never the newest. So no number of silent or slow connections
// excludes others.
// Not thread-safe. Time is an argument.
#pragma once

#include <cstddef>
#include <cstdint>
#include <map>
#include <memory>
#include <optional>
#include <set>
#include <vector>

#include "common/instant.hpp"
#include "transport/endpoint.hpp"

namespace weft::verbs::detail {

class ConnectionState;

class HalfOpen {
 public:
  struct Limits {
    std::size_t places{};      // of this listener
    std::size_t per_peer{};    // of one remote address; 0: no bound but a fair share of the places, once they are taken
    std::size_t in_process{};  // of all listeners together: descriptors
    Duration patience{};       // the startup's timeout, while there are places enough
    std::size_t octets{};      // that one connection holds at most
  };
  // What a connection may hold before its Request is complete: with TLS, OpenSSL's state and its buffers for half a
  // record and half a message.
  static constexpr std::size_t kOctetsPlain = 2048;
  static constexpr std::size_t kOctetsTls = 80 * 1024;
  // Limit for all listeners of the process together.
  static constexpr std::size_t kMostOctets = std::size_t{64} << 20;
  // As the process's descriptors and kMostOctets allow.
  [[nodiscard]] static Limits limits_of(int backlog, std::uint32_t per_peer, Duration startup_timeout,
                                        bool tls) noexcept;
  // A Request that the application has not taken has a descriptor, too. False: the process has too many. It counts all
  // the same.
  [[nodiscard]] bool ask() noexcept;
  static void leave_request() noexcept;
  // True once after many connections of the process have gone: malloc() keeps their memory until it is asked to return
  // it.
  [[nodiscard]] static bool have_left_memory() noexcept;

  struct Path {
    transport::Endpoint peer{};
    transport::Address local{};
    bool operator==(const Path&) const = default;
  };
  struct Entry {
    std::uint64_t number{};  // of the connection: later ones have higher numbers
    std::weak_ptr<ConnectionState> connection{};
    transport::Address peer{};  // which counts as one with others
    Instant since{};
    Path path{};
  };

  explicit HalfOpen(const Limits& limits) noexcept : limits_(limits) {}
  ~HalfOpen();
  HalfOpen(const HalfOpen&) = delete;
  HalfOpen& operator=(const HalfOpen&) = delete;

  // Takes in a newcomer. Returns those that had to go for it and are out already: those that waited longer than
  // patience(), and one more when there was no place, or none for this peer.
  [[nodiscard]] std::vector<Entry> enter(Entry newcomer);
  bool leave(std::uint64_t number);  // false: it is out already
  [[nodiscard]] std::optional<Entry> take_oldest();
  [[nodiscard]] std::shared_ptr<ConnectionState> find(const Path& path) const;  // null: none
  // Returns how long the oldest may stay at least while there are places: less and less as they fill up.
  [[nodiscard]] Duration patience() const noexcept;

  [[nodiscard]] std::size_t size() const noexcept { return entries_.size(); }
  [[nodiscard]] std::size_t places() const noexcept { return limits_.places; }

 private:
  using Entries = std::map<std::uint64_t, Entry>;  // by age
  [[nodiscard]] std::optional<std::uint64_t> in_the_way_of(const transport::Address& peer) const;
  Entry take(Entries::iterator entry);

  const Limits limits_;
  Entries entries_;
  std::map<transport::Address, std::set<std::uint64_t>> peers_;  // the numbers that each has here
};

}  // namespace weft::verbs::detail
