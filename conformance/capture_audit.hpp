// SPDX-License-Identifier: Apache-2.0
/// @file
/// The auditor of a capture: packets in, one report per iWARP connection out.
#pragma once

#include <array>
#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <unordered_map>
#include <utility>
#include <vector>

#include "conformance/connection_audit.hpp"
#include "conformance/connection_filter.hpp"
#include "conformance/tcp_connections.hpp"
#include "conformance/tls_layer.hpp"

namespace weft::conformance {

/// Selects rules by ids and prefixes of ids: "MPA-4.4" selects all rules of that section, and "DDP" all rules of DDP.
struct RuleFilter {
  std::vector<std::string> only{};  ///< rules to check; empty: all
  std::vector<std::string> skip{};  ///< rules to skip among them
  /// Returns whether the filter selects a rule.
  [[nodiscard]] bool takes(const Rule& rule) const noexcept;
};

/// Reports on one connection that uses iWARP.
struct ConnectionReport {
  ConnectionInfo info{};  ///< ends, packets and times
  bool evicted{};         ///< the connection was dropped because there were too many; later packets were not checked
  bool roles_known{};     ///< a startup frame determined the Initiator
  End initiator{};        ///< Initiator; kFirst if unknown
  std::optional<mpa::Rtr> rtr{};                   ///< ready-to-receive indication of a peer-to-peer connection
  Facts facts{};                                   ///< content of the startup frames
  std::optional<TlsFacts> tls{};                   ///< TLS properties, if MPA was inside TLS
  std::array<Tally, 2> tallies{};                  ///< statistics by Direction
  std::vector<Finding> findings{};                 ///< findings in the order of the capture
  std::vector<Findings::Suppressed> suppressed{};  ///< counts of findings beyond Findings::kMost

  /// Returns the statistics of a direction.
  [[nodiscard]] const Tally& tally(Direction from) const noexcept { return tallies[static_cast<std::size_t>(from)]; }
  /// Returns the address and port of the sender of a direction.
  [[nodiscard]] const ConnectionEnd& end(Direction direction) const noexcept {
    const bool first = (direction == Direction::kFromInitiator) == (initiator == End::kFirst);
    return first ? info.first : info.second;
  }
};

/// Reports on one connection that uses TLS and in which no iWARP was found.
struct TlsReport {
  ConnectionInfo info{};  ///< ends, packets and times
  TlsFacts facts{};       ///< cipher, and why the connection could not be decrypted
};

/// Receives a finding of a connection that is not over.
using TellFinding = std::function<void(const Finding& finding, const ConnectionInfo& info)>;

/// Checks one capture. Not thread-safe.
/// Memory is bounded by the TcpLimits, and by the reports that next() has not returned.
class CaptureAudit {
 public:
  static constexpr std::size_t kMostTls = 1000;  ///< maximum of connections in tls()
  /// Maximum of octets of all connections that wait for others after TCP reassembly: for the rest of an FPDU, a TLS
  /// record or a startup frame, or for secrets. Beyond it, the connection that adds more is dropped
  /// (ConnectionReport::evicted).
  static constexpr std::size_t kMostHeld = std::size_t{256} << 20;

  /// Creates an auditor. With a key log, connections inside TLS are checked too. The key log must outlive the auditor.
  explicit CaptureAudit(RuleFilter filter = {}, const TcpLimits& limits = {}, KeyLog* keys = nullptr);

  /// Enables early reports, for captures of long duration. Call it before the first packet.
  /// Each finding is passed to `tell` as soon as it is certain. next() returns a connection once both ends have closed
  /// it, without waiting for late copies of its packets.
  void report_as_it_goes(TellFinding tell) { tell_ = std::move(tell); }

  /// Selects connections; call it before the first packet. The others keep their numbers and are not checked.
  void select(ConnectionFilter filter) { selection_ = std::move(filter); }

  /// Sets the bound that is kMostHeld by default, in octets.
  void hold_at_most(std::size_t octets) noexcept { most_held_ = octets; }

  /// Takes a packet, in the order of the capture. Its octets are not used after the call.
  void take(const Packet& packet);
  /// Ends the capture.
  void finish();
  /// Returns the next finished connection that uses iWARP, in the order in which they ended. Each is returned once.
  [[nodiscard]] std::optional<ConnectionReport> next();

  /// Returns finished connections that use TLS and contain no iWARP or were not decrypted, in the order in which they
  /// ended. At most the first kMostTls.
  [[nodiscard]] const std::vector<TlsReport>& tls() const noexcept { return tls_; }
  /// Returns the number of all such connections.
  [[nodiscard]] std::size_t tls_connections() const noexcept { return tls_seen_; }

  /// Returns the number of packets taken.
  [[nodiscard]] std::uint64_t packets() const noexcept { return packets_; }
  /// Returns the number of selected TCP connections seen, whatever their protocol.
  [[nodiscard]] std::size_t tcp_connections() const noexcept { return connections_seen_; }
  /// Returns how many of them are between one address and itself, are captured from their beginning, and carry no
  /// octets, as those of two weft ends do that exchange their octets through shared memory.
  [[nodiscard]] std::size_t silent_connections() const noexcept { return silent_seen_; }
  /// Returns the counts of packets by kind.
  [[nodiscard]] const PacketCounts& counts() const noexcept { return tcp_.counts(); }

 private:
  struct Live {
    std::unique_ptr<ConnectionAudit> audit{};  // null once it was reported
    TlsLayer tls;
    std::size_t told{};  // of its findings
    bool decided{};
    bool whole{};        // from its beginning
    bool has_octets{};   // or gaps
    std::size_t held{};  // octets, as counted in held_
    int ends_closed{};

    void judge();  // what the layer below has
  };

  void drain();
  void bound_octets(Live& live, std::size_t connection);
  void decide(Live& live, const ConnectionInfo& info);
  void on(std::size_t connection, const TcpEvent& event);
  void tell(Live& live, const ConnectionInfo& info) const;
  void report(Live& live, const ConnectionOver& over);

  RuleFilter filter_;
  ConnectionFilter selection_{};
  TcpConnections tcp_;
  KeyLog* keys_;
  TellFinding tell_{};
  std::unordered_map<std::size_t, Live> live_{};
  std::vector<ConnectionReport> done_{};
  std::size_t given_ = 0;
  std::size_t held_ = 0;
  std::size_t most_held_ = kMostHeld;
  std::vector<TlsReport> tls_{};
  std::size_t tls_seen_ = 0;
  std::uint64_t packets_ = 0;
  std::size_t connections_seen_ = 0;
  std::size_t silent_seen_ = 0;
};

}  // namespace weft::conformance
