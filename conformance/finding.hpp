// SPDX-License-Identifier: Apache-2.0
/// @file
/// Findings: violations of rules, with direction, place and octets. One cause yields one finding.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "conformance/place.hpp"
#include "conformance/rule.hpp"
#include "conformance/seen.hpp"

namespace weft::conformance {

/// Holds the octets around those that are wrong.
struct Excerpt {
  std::vector<std::byte> octets{};  ///< octets as they were on the wire
  std::uint64_t stream_offset{};    ///< stream offset of octets[0]
  std::size_t mark{};               ///< index of the first wrong octet
  std::size_t marked{};             ///< number of wrong octets; 0 if none is marked
};

/// Describes one violation of a rule.
struct Finding {
  const Rule* rule{};                    ///< rule; static storage
  std::size_t connection{};              ///< number of the connection in the capture, from 0
  std::optional<Direction> direction{};  ///< direction of the octets that violate the rule; absent if both ends do
  Place place{};                  ///< frame number as in Wireshark, and octet, at which the violation became certain
  std::uint64_t stream_offset{};  ///< offset of the first wrong octet in its direction of the TCP connection
  std::string message{};          ///< actual and expected values, for people
  Excerpt excerpt{};              ///< octets; empty if nothing was sent
  std::optional<std::string> known{};  ///< for the caller: why it expects this finding; the auditor leaves it absent
};

/// Identifies the wrong part of a piece: `size` octets from piece->octets[at].
struct Where {
  const Piece* piece{};  ///< piece; used only during the call
  std::size_t at{};      ///< index of the first wrong octet in Piece::octets
  std::size_t size{};    ///< number of wrong octets
};
/// Returns the place of the first wrong octet.
/// For a piece that spans several packets, only the ends have exact places. The result is then the place where the
/// piece was complete and the violation became certain.
[[nodiscard]] Place place_of(const Where& where) noexcept;

/// Collects the findings of one connection. Not thread-safe.
/// Memory is bounded: for each rule and direction, kMost findings are kept, and the others are counted.
class Findings {
 public:
  static constexpr std::size_t kMost = 20;  ///< maximum of kept findings per rule and direction

  /// Creates an empty collection. `connection` is the number of the connection in the capture.
  explicit Findings(std::size_t connection) noexcept : connection_(connection) {}

  /// Adds a finding about octets. The message has the actual and the expected value: "PAD is 0a, not 00".
  void add(const Rule& rule, const Where& where, std::string message);
  /// Returns a finding without adding it, for a violation that is not certain yet.
  [[nodiscard]] Finding prepare(const Rule& rule, const Where& where, std::string message) const;
  /// Adds a finding that prepare() returned.
  void add(Finding finding);
  /// Adds a finding without octets, such as one about a FIN or about a statistic of a whole direction.
  void add(const Rule& rule, std::optional<Direction> direction, Place place, std::uint64_t stream_offset,
           std::string message);

  /// Exchanges the directions of all findings so far, because the ends have the opposite roles.
  void swap_directions() noexcept;

  /// Returns the findings in the order in which they became certain.
  [[nodiscard]] const std::vector<Finding>& all() const noexcept { return findings_; }
  /// Counts the findings of a rule and direction that were not kept.
  struct Suppressed {
    const Rule* rule{};                    ///< rule; static storage
    std::optional<Direction> direction{};  ///< direction, as Finding::direction
    std::uint64_t count{};                 ///< number of findings beyond kMost
    bool known{};                          ///< for the caller, as Finding::known
  };
  /// Returns the counts of findings that were not kept, one per rule and direction.
  [[nodiscard]] std::vector<Suppressed> suppressed() const;

 private:
  struct Count {
    const Rule* rule{};
    std::optional<Direction> direction{};
    std::uint64_t count{};
  };
  bool room_for(const Rule& rule, std::optional<Direction> direction);

  std::size_t connection_;
  std::vector<Finding> findings_{};
  std::vector<Count> counts_{};
};

}  // namespace weft::conformance
