// SPDX-License-Identifier: Apache-2.0
// One broken rule: who, where, and what the octets were. One cause gives one finding.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "conformance/place.hpp"
#include "conformance/rule.hpp"
#include "conformance/seen.hpp"

namespace weft::conformance {

// A few octets around the ones that are wrong.
struct Excerpt {
  std::vector<std::byte> octets{};  // as they were on the wire
  std::uint64_t stream_offset{};    // of octets[0]
  std::size_t mark{};               // the wrong ones begin at octets[mark] ..
  std::size_t marked{};             // .. and are this many; 0 when nothing is marked
};

// One breach of a rule.
struct Finding {
  const Rule* rule{};                    // static storage
  std::size_t connection{};              // number of the connection in the capture, from 0
  std::optional<Direction> direction{};  // whose octets broke it; absent when both ends did
  Place place{};                         // where it became certain: Wireshark's frame number, octet in it
  std::uint64_t stream_offset{};         // of the first wrong octet, in its direction of the TCP connection
  std::string message{};                 // what was there and what should have been, with the values
  Excerpt excerpt{};                     // the octets; none where nothing was sent
};

// The part of a piece that is wrong: `size` octets from piece.octets[at].
struct Where {
  const Piece* piece{};  // read during the call only
  std::size_t at{};      // of the first wrong octet, in piece.octets
  std::size_t size{};    // octets
};
// Of the first wrong octet. Where a piece lies in several packets only its ends are known exactly; then this is where
// the piece was complete: there it became certain.
[[nodiscard]] Place place_of(const Where& where) noexcept;

// Where the rules put what they find. Bounded: of one rule in one direction of one connection, kMost findings are kept
// and the others counted.
class Findings {
 public:
  static constexpr std::size_t kMost = 20;  // of one rule in one direction

  // `connection`: its number in the capture.
  explicit Findings(std::size_t connection) noexcept : connection_(connection) {}

  // Of octets that were seen. Messages say value and expectation: "PAD is 0a, not 00".
  void add(const Rule& rule, const Where& where, std::string message);
  // The finding by itself, to be added when it is certain.
  [[nodiscard]] Finding prepare(const Rule& rule, const Where& where, std::string message) const;
  // One that prepare() has made.
  void add(Finding finding);
  // Of something that has no octets: a FIN, a statistic over a whole direction.
  void add(const Rule& rule, std::optional<Direction> direction, Place place, std::uint64_t stream_offset,
           std::string message);

  // In the order in which they became certain.
  [[nodiscard]] const std::vector<Finding>& all() const noexcept { return findings_; }
  // How many findings were counted and not kept.
  struct Suppressed {
    const Rule* rule{};                    // static storage
    std::optional<Direction> direction{};  // as Finding::direction
    std::uint64_t count{};                 // beyond kMost
  };
  [[nodiscard]] std::vector<Suppressed> suppressed() const;  // one for each rule and direction that has any

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
