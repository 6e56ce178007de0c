// SPDX-License-Identifier: Apache-2.0
// A TCP connection as the auditor's TCP layer would tell of it: packets of each end, in order.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "conformance/connection_audit.hpp"
#include "tests/conformance/octets.hpp"

namespace weft::conformance::test {

inline constexpr std::uint32_t kPayloadAt = 66;  // Ethernet, IPv4, TCP with timestamps

class Script {
 public:
  // With the handshake: the usual. Without: the capture begins in mid-connection.
  static Script with_handshake(std::uint16_t mss = 1460);
  static Script mid_connection() { return {}; }

  // One packet, which acknowledges everything before it.
  Script& send(End from, const Octets& octets);
  // One packet, which acknowledges so many octets of the other end; nothing: that is unknown.
  Script& send(End from, const Octets& octets, std::optional<std::uint64_t> acknowledged);
  // How many octets this end has sent.
  [[nodiscard]] std::uint64_t sent(End from) const { return next_[static_cast<std::size_t>(from)]; }
  Script& gap(End from, std::uint64_t octets);  // these are missing here
  Script& close(End from, Closing how = Closing::kFin);

  // Every packet's octets in pieces of at most `size`.
  [[nodiscard]] Script chopped(std::size_t size) const;
  // Without the first `count` octets of each direction and without the handshake.
  [[nodiscard]] Script beheaded(std::size_t count) const;

  [[nodiscard]] ConnectionAudit audit() const;
  // What the walk makes of it, as text.
  [[nodiscard]] std::vector<std::string> walk() const;

 private:
  struct Step {
    TcpEvent event{};
    Octets octets{};  // of TcpOctets
  };

  std::vector<Step> steps_{};
  std::uint64_t packet_ = 0;
  std::uint64_t next_[2]{};
};

// "MPA-4.1-03 initiator packet 5 offset 60", one for each finding, in order.
std::vector<std::string> listed(const ConnectionAudit& audit);
// "MPA-4.1-03", in order; without warnings.
std::vector<std::string> violations(const ConnectionAudit& audit);
std::vector<std::string> warnings(const ConnectionAudit& audit);

}  // namespace weft::conformance::test
