// SPDX-License-Identifier: Apache-2.0
// Admission of connections by a listener: by address, by the rate of new connections of one peer, and by their number.
// Refused connections are reset at accept, before an octet is read. Connections without a complete Request do not count
// here, because a silent peer could otherwise exclude others that share its address: they have a limit of their own
// (half_open.hpp). A connection whose Request arrives when the limit is reached is rejected then (SEC-6.4.1-03).
//
// Thread-safe; its lock is a leaf. Time is an argument.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <map>
#include <memory>
#include <mutex>
#include <optional>
#include <string>
#include <utility>

#include "common/instant.hpp"
#include "transport/endpoint.hpp"
#include "verbs/access_list.hpp"
#include "verbs/base/token_bucket.hpp"
#include "verbs/policy.hpp"

namespace weft::verbs::detail {

class Admission {
  struct Peer {
    std::size_t seats = 0;
    std::optional<TokenBucket> rate{};  // of its new connections
  };
  using Peers = std::map<transport::Address, Peer>;

 public:
  struct Limits {  // 0: none
    AccessList access{};
    std::uint32_t rate_per_peer{};  // new connections in a second, and as many at once
    std::uint32_t per_peer{};       // connections that have asked
    std::uint32_t per_listener{};
    std::uint32_t per_process{};  // of all listeners together
  };
  [[nodiscard]] static Limits limits_of(const Policy& policy);

  enum class Refusal : std::uint8_t { kDenied, kTooFast, kTooMany };
  static constexpr std::size_t kRefusals = 3;
  struct Counts {
    std::size_t seats{};
    std::array<std::uint64_t, kRefusals> refused{};  // by Refusal
  };

  // The place of a connection that has asked, until it ends.
  class Seat {
   public:
    Seat() = default;  // nowhere
    Seat(Seat&& other) noexcept : at_(std::move(other.at_)), peer_(other.peer_) {}
    Seat& operator=(Seat&& other) noexcept {
      if (this != &other) leave(), at_ = std::move(other.at_), peer_ = other.peer_;
      return *this;
    }
    ~Seat() { leave(); }
    void leave() noexcept;

   private:
    friend class Admission;
    Seat(std::shared_ptr<Admission> at, Peers::iterator peer) noexcept : at_(std::move(at)), peer_(peer) {}
    std::shared_ptr<Admission> at_{};
    Peers::iterator peer_{};
  };

  explicit Admission(Limits limits) : limits_(std::move(limits)) {}
  Admission(const Admission&) = delete;
  Admission& operator=(const Admission&) = delete;

  // Returns why a connection that TCP has made may not come in, which is counted. Without an address its peer has gone.
  [[nodiscard]] std::optional<Refusal> refuses(const std::optional<transport::Address>& peer, Instant now);
  // For one that asks. Nothing when there is none, which is counted.
  [[nodiscard]] static std::optional<Seat> take_seat(const std::shared_ptr<Admission>& at,
                                                     const transport::Address& peer);
  // The line to be logged about what was refused last, at times.
  [[nodiscard]] std::optional<std::string> line(Instant now);
  [[nodiscard]] Counts counts() const;
  // For tests: the peers that are remembered.
  [[nodiscard]] std::size_t peers() const;

 private:
  Refusal count(Refusal why, const transport::Address& peer);
  [[nodiscard]] bool is_full_for(const transport::Address& one) const;
  [[nodiscard]] bool comes_too_fast(const transport::Address& one, Instant now);
  void forget_the_calm(Instant now);

  static constexpr std::size_t kFewPeers = 1024;

  const Limits limits_;
  mutable std::mutex mutex_{};
  Peers peers_{};                       // with a seat, or that came within the last second
  std::size_t most_peers_ = kFewPeers;  // then the calm ones are forgotten
  Counts counts_{};
  Counts told_{};
  transport::Address last_refused_{};
  TokenBucket lines_{{.burst = 1, .each = std::chrono::seconds(10)}};
};

}  // namespace weft::verbs::detail
