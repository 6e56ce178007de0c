// SPDX-License-Identifier: Apache-2.0
// What --connection and --packet ask for, and why there may be none of it.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "conformance/packet.hpp"
#include "tools/dissect/reading.hpp"

namespace weft::tools::dissect {

struct Asked {
  std::optional<std::size_t> connection{};
  std::optional<std::uint64_t> packet{};
};

class Wanted {
 public:
  explicit Wanted(const Asked& asked) : asked_(asked) {}

  // What the capture holds, in order.
  void note(const conformance::Packet& packet) noexcept { packets_ = packet.number; }
  void note(const Watched& watched, const conformance::TcpSegment& segment);
  void note_over(const Watched& watched);

  [[nodiscard]] bool connection(std::size_t number) const noexcept {
    return !asked_.connection || *asked_.connection == number;
  }
  // Returns whether a piece of a wanted connection is shown: with --packet, every piece with octets in that packet,
  // wherever it ends.
  [[nodiscard]] bool piece(const Watched& watched, const conformance::Piece& piece);
  // No datagram is of a connection.
  [[nodiscard]] bool datagrams() const noexcept { return !asked_.connection; }
  [[nodiscard]] bool datagram(std::uint64_t packet) { return datagrams() && remark(packet); }
  [[nodiscard]] bool remark(std::uint64_t packet);

  // Once all was noted: a sentence when nothing was found of what was asked for.
  [[nodiscard]] std::optional<std::string> nothing_found() const;

 private:
  struct Carried {  // the octets of the packet
    std::size_t connection{};
    conformance::TcpSegment segment{};
    bool iwarp{};
    conformance::Direction from{};
  };
  [[nodiscard]] std::string why_no_packet() const;
  [[nodiscard]] std::string why_no_connection() const;

  Asked asked_;
  bool found_ = false;
  std::uint64_t packets_ = 0;
  std::optional<Carried> carried_{};
  std::vector<std::size_t> spoke_iwarp_{};  // the first kNamed connections
  std::size_t more_spoke_ = 0;
};

}  // namespace weft::tools::dissect
