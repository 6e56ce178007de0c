// SPDX-License-Identifier: Apache-2.0
// Takes packets to what there is to see on each connection: a walk for each, and what those who watch make of it.
#pragma once

#include <functional>
#include <map>
#include <optional>

#include "conformance/capture_audit.hpp"
#include "conformance/tcp_connections.hpp"
#include "conformance/tls_layer.hpp"
#include "conformance/walk.hpp"

namespace weft::tools::dissect {

// A connection, while something of it is told.
struct Watched {
  std::size_t connection{};
  const conformance::Walk& walk;
  const conformance::ConnectionInfo& info;  // without addresses where only its end tells them

  [[nodiscard]] conformance::Direction direction(conformance::End end) const noexcept {
    return walk.initiator() == end ? conformance::Direction::kFromInitiator : conformance::Direction::kFromResponder;
  }
};

struct Watcher {
  std::function<void(const Watched&, const conformance::TcpSegment&)> segment{};
  std::function<void(const Watched&, const conformance::Seen&)> seen{};
  std::function<void(const Watched&)> over{};  // nothing of this connection follows
};

class Reading {
 public:
  // Without a key log `keys` is null.
  Reading(Watcher watcher, conformance::KeyLog* keys) : watcher_(std::move(watcher)), keys_(keys) {}

  void take(const conformance::Packet& packet);
  void finish();
  // A connection spoke iWARP. Once finish() was called, none of the capture is left out of this.
  [[nodiscard]] bool iwarp() const noexcept { return iwarp_; }
  // The first connection with TLS of which not all was shown, or which has no iWARP.
  [[nodiscard]] const std::optional<conformance::TlsReport>& tls() const noexcept { return tls_; }

 private:
  void drain();
  struct Connection {
    conformance::TlsLayer tls;
    conformance::Walk walk{};
    conformance::ConnectionInfo info{};  // of a connection that is over only the last event has it
  };
  void take(const conformance::ConnectionEvent& event);
  void show(const Watched& watched, Connection& connection);
  void note_segment(const Watched& watched, const Connection& connection, const conformance::TcpEvent& clear);
  void note_tls(const Connection& connection);

  Watcher watcher_;
  conformance::KeyLog* keys_;
  conformance::TcpConnections tcp_{};
  std::map<std::size_t, Connection> connections_{};
  bool iwarp_ = false;
  std::optional<conformance::TlsReport> tls_{};
};

}  // namespace weft::tools::dissect
