// SPDX-License-Identifier: Apache-2.0
// One process's ends of all the connections of a measurement.
#pragma once

#include <array>
#include <memory>
#include <optional>
#include <utility>

#include "tools/bench/control.hpp"
#include "tools/bench/tcp_setup.hpp"
#include "tools/bench/weft_setup.hpp"

namespace weft::tools::bench {

class Ends {
 public:
  [[nodiscard]] Endpoint& of(Transport transport) { return *all_[std::to_underlying(transport)]; }
  void add(Transport transport, std::unique_ptr<Endpoint> end) { all_[std::to_underlying(transport)] = std::move(end); }

 private:
  std::array<std::unique_ptr<Endpoint>, kTransports.size()> all_{};  // none: it takes no part
};

// The follower's.
class Listeners {
 public:
  static Outcome<Listeners> open(const Options& options);
  [[nodiscard]] Ports ports() const;
  // The transports one after the other, as connect_all() makes them.
  Outcome<Ends> accept_all();

 private:
  struct One {
    std::optional<WeftListener> weft{};
    std::optional<TcpListener> tcp{};
  };
  explicit Listeners(const Options& options) : options_(options) {}
  Outcome<void> listen_for(Transport transport);
  Outcome<std::unique_ptr<Endpoint>> accept(Transport transport);

  Options options_;
  std::array<One, kTransports.size()> all_{};
};

// The leader's.
Outcome<Ends> connect_all(const Options& options, const Ports& ports);

}  // namespace weft::tools::bench
