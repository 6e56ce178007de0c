// SPDX-License-Identifier: Apache-2.0
// Judges a whole capture: packets in, one report per iWARP connection out.
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
#include "conformance/tcp_connections.hpp"
#include "conformance/tls_layer.hpp"

namespace weft::conformance {

// Which rules count. Ids and prefixes of ids: "MPA-4.4" chooses all rules of that section, "DDP" all of DDP.
struct RuleFilter {
  std::vector<std::string> only{};                            // empty: all
  std::vector<std::string> skip{};                            // of those that `only` takes
  [[nodiscard]] bool takes(const Rule& rule) const noexcept;  // whether this filter counts it
};

// What is said of one connection that speaks iWARP.
struct ConnectionReport {
  ConnectionInfo info{};                           // its ends, packets and times
  bool evicted{};                                  // too many connections at a time: what followed was not looked at
  bool roles_known{};                              // a startup frame told who the Initiator is
  End initiator{};                                 // kFirst when the roles are not known
  std::optional<mpa::Rtr> rtr{};                   // the ready-to-receive indication of a peer-to-peer connection
  Facts facts{};                                   // what its startup frames agreed on
  std::optional<TlsFacts> tls{};                   // where MPA was inside TLS
  std::array<Tally, 2> tallies{};                  // by Direction
  std::vector<Finding> findings{};                 // what was broken, in the order of the capture
  std::vector<Findings::Suppressed> suppressed{};  // findings beyond Findings::kMost of a rule: how many

  // What this end sent.
  [[nodiscard]] const Tally& tally(Direction from) const noexcept { return tallies[static_cast<std::size_t>(from)]; }
  // Its address and port.
  [[nodiscard]] const ConnectionEnd& end(Direction direction) const noexcept {
    const bool first = (direction == Direction::kFromInitiator) == (initiator == End::kFirst);
    return first ? info.first : info.second;
  }
};

// A connection that speaks TLS, and in which no iWARP was found.
struct TlsReport {
  ConnectionInfo info{};  // its ends, packets and times
  TlsFacts facts{};       // its cipher, and why it could not be read
};

// A finding of a connection that is not over.
using TellFinding = std::function<void(const Finding& finding, const ConnectionInfo& info)>;

// The auditor of one capture. Not safe for threads. Its memory is bounded by the TcpLimits, and by the reports that
// next() has not given yet.
class CaptureAudit {
 public:
  static constexpr std::size_t kMostTls = 1000;  // connections that tls() has

  // With a key log, which has to outlive this, connections inside TLS are judged as well.
  explicit CaptureAudit(RuleFilter filter = {}, const TcpLimits& limits = {}, KeyLog* keys = nullptr);

  // For captures that go on for hours: each finding is told when it is known, and next() gives a connection when both
  // ends have closed it, not only when no late copies of its packets are expected any more. Before the first packet.
  void report_as_it_goes(TellFinding tell) { tell_ = std::move(tell); }

  void take(const Packet& packet);  // in the order of the capture; its octets are not needed afterwards
  // The capture is over.
  void finish();
  // Connections that are over and speak iWARP, in the order of their ends; each is given once.
  [[nodiscard]] std::optional<ConnectionReport> next();

  // Connections that are over and speak TLS, without iWARP or unread, in the order of their ends: the first kMostTls, and how
  // many there were.
  [[nodiscard]] const std::vector<TlsReport>& tls() const noexcept { return tls_; }
  // Of connections as in tls(), all of them.
  [[nodiscard]] std::size_t tls_connections() const noexcept { return tls_seen_; }

  // How many were taken.
  [[nodiscard]] std::uint64_t packets() const noexcept { return packets_; }
  // How many of those were seen, whatever they speak.
  [[nodiscard]] std::size_t tcp_connections() const noexcept { return connections_seen_; }
  // What became of the packets.
  [[nodiscard]] const PacketCounts& counts() const noexcept { return tcp_.counts(); }

 private:
  struct Live {
    std::unique_ptr<ConnectionAudit> audit{};  // null once it was reported
    TlsLayer tls;
    std::size_t told{};  // of its findings
    int ends_closed{};

    void judge();  // what the layer below has
  };

  void drain();
  void on(std::size_t connection, const TcpEvent& event);
  void tell(Live& live, const ConnectionInfo& info) const;
  void report(Live& live, const ConnectionOver& over);

  RuleFilter filter_;
  TcpConnections tcp_;
  KeyLog* keys_;
  TellFinding tell_{};
  std::unordered_map<std::size_t, Live> live_{};
  std::vector<ConnectionReport> done_{};
  std::size_t given_ = 0;
  std::vector<TlsReport> tls_{};
  std::size_t tls_seen_ = 0;
  std::uint64_t packets_ = 0;
  std::size_t connections_seen_ = 0;
};

}  // namespace weft::conformance
