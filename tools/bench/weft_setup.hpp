// SPDX-License-Identifier: Apache-2.0
// Makes the weft connection between the two processes of a measurement.
#pragma once

#include <memory>

#include "tools/bench/endpoint.hpp"
#include "tools/bench/weft_port.hpp"
#include "tools/link/link.hpp"

namespace weft::tools::bench {

// Receives that an end keeps posted: twice what the peer may have under way, so that it never has to wait for one.
[[nodiscard]] constexpr std::uint32_t receive_depth(const Options& options) noexcept {
  const std::uint32_t wanted = 2 * effective_depth(options);
  return wanted < 64 ? 64 : wanted;
}

// The follower's side.
class WeftListener {
 public:
  static Outcome<WeftListener> open(const Options& options);
  [[nodiscard]] std::uint16_t port() const { return listener_.local().port; }
  Outcome<std::unique_ptr<Endpoint>> accept();

 private:
  Outcome<WeftPort> accept_port(const Options& options, const std::shared_ptr<LinkResources>& shared);
  WeftListener(Listener listener, const Options& options) : listener_(std::move(listener)), options_(options) {}

  Listener listener_;
  Options options_;
};

// The leader's side.
Outcome<std::unique_ptr<Endpoint>> weft_connect(const Options& options, std::uint16_t port);

}  // namespace weft::tools::bench
