// SPDX-License-Identifier: Apache-2.0
// The numbers of queue pairs that a program may connect itself. A number says where the queue pair's process listens,
// so that no daemon has to be asked: see number_of(). A port serves 255 queue pairs of one device; the next one is
// reserved when they are in use. Not thread-safe.
#pragma once

#include <bitset>
#include <cstdint>
#include <map>
#include <optional>
#include <utility>

#include "compat/direct/greeting.hpp"
#include "verbs/configuration.hpp"
#include "verbs/connection.hpp"

namespace weft::compat::direct {

class Numbers {
 public:
  static constexpr std::size_t kIndexes = 256;
  struct Port {
    verbs::ConnectionId listener;
    verbs::Address local{};
    bool listens = false;
    std::bitset<kIndexes> taken{};
    std::uint8_t next = 0;  // counted up, so that a number that was given back rests
  };
  using Ports = std::map<std::uint16_t, Port>;

  explicit Numbers(verbs::PortRange range) noexcept : range_(range) {}

  // A free one, of a port at this address. The port is reserved, and nothing listens yet.
  [[nodiscard]] verbs::Result<std::uint32_t> take(const verbs::EventChannel& channel, const verbs::Address& local);
  void give_back(std::uint32_t number) noexcept;
  // All ports, for when no number is taken. Whoever drops them closes them, which may wait for the engine.
  [[nodiscard]] Ports release() noexcept;
  // From now on peers can connect to the port of this number.
  [[nodiscard]] verbs::Result<void> listen(std::uint32_t number, const verbs::Policy& policy);

 private:
  [[nodiscard]] verbs::Result<std::uint16_t> reserve(const verbs::EventChannel& channel, const verbs::Address& local);
  [[nodiscard]] verbs::Result<std::uint16_t> bind(const verbs::EventChannel& channel, const verbs::Endpoint& local);

  const verbs::PortRange range_;
  Ports ports_{};
};

}  // namespace weft::compat::direct
