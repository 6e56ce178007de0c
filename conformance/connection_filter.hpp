// SPDX-License-Identifier: Apache-2.0
/// @file
/// Selection of connections by address and port, in a subset of the syntax of pcap-filter(7):
///
///     host 192.0.2.7 and not port 22
///     net 2001:db8::/32 or (host 192.0.2.7 and port 4420-4423)
///
/// The addresses are those between which TCP runs: the innermost ones of encapsulated packets.
#pragma once

#include <array>
#include <cstdint>
#include <expected>
#include <string>
#include <string_view>
#include <vector>

#include "conformance/tcp_connections.hpp"

namespace weft::conformance {

/// Selects connections. Without an expression it selects all.
class ConnectionFilter {
 public:
  static constexpr std::size_t kMostDepth = 64;  ///< maximum of nested parentheses and negations

  /// Selects all connections.
  ConnectionFilter() = default;
  /// Parses an expression. Terms are `host ADDRESS`, `net ADDRESS/LENGTH`, and `port N` or `port N-M`. A term holds if
  /// it holds for either end. `not`, `and` and `or` (also `!`, `&&` and `||`) combine terms, in this order of
  /// precedence; parentheses group them. The error is a clause for people that quotes the wrong word.
  [[nodiscard]] static std::expected<ConnectionFilter, std::string> parse(std::string_view text);

  /// Returns whether a connection is selected.
  [[nodiscard]] bool takes(const ConnectionInfo& info) const;
  /// Returns whether every connection is.
  [[nodiscard]] bool takes_all() const noexcept { return steps_.empty(); }

 private:
  // An expression in postfix order.
  struct Step {
    enum Kind : std::uint8_t { kNet, kPort, kNot, kAnd, kOr } kind{};
    std::array<std::byte, 16> address{};  // an IPv4 address as IPv6 maps it
    unsigned prefix{};                    // bits
    std::uint16_t low{}, high{};          // ports
  };
  class Parser;

  std::vector<Step> steps_{};
};

}  // namespace weft::conformance
