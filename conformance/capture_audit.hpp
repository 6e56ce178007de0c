// SPDX-License-Identifier: Apache-2.0
// Judges a whole capture: packets in, one report per iWARP connection out.
#pragma once

#include <array>
#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <unordered_map>
#include <vector>

#include "conformance/connection_audit.hpp"
#include "conformance/tcp_connections.hpp"

namespace weft::conformance {

// Which rules count. Ids and prefixes of ids: "MPA-4.4" chooses all rules of that section, "DDP" all of DDP.
struct RuleFilter {
  std::vector<std::string> only{};  // empty: all
  std::vector<std::string> skip{};
  [[nodiscard]] bool takes(const Rule& rule) const noexcept;
};

struct ConnectionReport {
  ConnectionInfo info{};
  bool evicted{};  // too many connections at a time: what followed was not looked at
  bool roles_known{};
  End initiator{};  // kFirst when the roles are not known
  std::optional<mpa::Rtr> rtr{};
  Facts facts{};
  std::array<Tally, 2> tallies{};  // by Direction
  std::vector<Finding> findings{};
  std::vector<Findings::Suppressed> suppressed{};

  [[nodiscard]] const Tally& tally(Direction from) const noexcept { return tallies[static_cast<std::size_t>(from)]; }
  [[nodiscard]] const ConnectionEnd& end(Direction direction) const noexcept {
    const bool first = (direction == Direction::kFromInitiator) == (initiator == End::kFirst);
    return first ? info.first : info.second;
  }
};

class CaptureAudit {
 public:
  explicit CaptureAudit(RuleFilter filter = {}, const TcpLimits& limits = {});

  void take(const Packet& packet);
  // The capture is over.
  void finish();
  // Connections that are over and speak iWARP, in the order of their ends; each is given once.
  [[nodiscard]] std::optional<ConnectionReport> next();

  [[nodiscard]] std::uint64_t packets() const noexcept { return packets_; }
  [[nodiscard]] std::size_t tcp_connections() const noexcept { return connections_seen_; }
  [[nodiscard]] const PacketCounts& counts() const noexcept { return tcp_.counts(); }

 private:
  void drain();
  void over(std::size_t connection, const ConnectionOver& over);

  RuleFilter filter_;
  TcpConnections tcp_;
  std::unordered_map<std::size_t, std::unique_ptr<ConnectionAudit>> live_{};
  std::vector<ConnectionReport> done_{};
  std::size_t given_ = 0;
  std::uint64_t packets_ = 0;
  std::size_t connections_seen_ = 0;
};

}  // namespace weft::conformance
