// SPDX-License-Identifier: Apache-2.0
#include "tools/dissect/wanted.hpp"

#include <fmt/format.h>

#include <algorithm>

#include "tools/audit/report.hpp"

namespace weft::tools::dissect {
namespace {

constexpr std::size_t kNamed = 10;  // connections

}  // namespace

void Wanted::note(const Watched& watched, const conformance::TcpSegment& segment) {
  if (asked_.packet != segment.packet) return;
  if (carried_ && carried_->connection == watched.connection && carried_->segment.from == segment.from) {
    auto& known = carried_->segment;  // of several records in one packet
    known.size = static_cast<std::uint32_t>(segment.stream_offset + segment.size - known.stream_offset);
    return;
  }
  carried_ = {watched.connection, segment, false, {}};
}

void Wanted::note_over(const Watched& watched) {
  if (!watched.walk.iwarp()) return;
  if (carried_ && carried_->connection == watched.connection) {
    carried_->iwarp = true;
    carried_->from = watched.direction(carried_->segment.from);
  }
  if (asked_.connection == watched.connection && !asked_.packet) found_ = true;
  if (spoke_iwarp_.size() < kNamed) {
    spoke_iwarp_.push_back(watched.connection);
  } else {
    ++more_spoke_;
  }
}

bool Wanted::piece(const Watched& watched, const conformance::Piece& piece) {
  if (!asked_.packet) return true;
  if (!carried_ || carried_->connection != watched.connection) return false;
  const auto& segment = carried_->segment;
  const bool inside = watched.direction(segment.from) == piece.from &&
                      piece.stream_offset < segment.stream_offset + segment.size &&
                      segment.stream_offset < piece.stream_offset + piece.octets.size();
  found_ = found_ || inside;
  return inside;
}

bool Wanted::remark(std::uint64_t packet) {
  if (!asked_.packet) return true;
  found_ = found_ || *asked_.packet == packet;
  return *asked_.packet == packet;
}

std::optional<std::string> Wanted::nothing_found() const {
  if (found_ || (!asked_.packet && !asked_.connection)) return std::nullopt;
  return asked_.packet ? why_no_packet() : why_no_connection();
}

std::string Wanted::why_no_packet() const {
  const std::uint64_t number = *asked_.packet;
  if (number == 0 || number > packets_)
    return fmt::format("there is no packet {}: the capture has 1 to {}.", number, packets_);
  if (!carried_ || !carried_->iwarp) return fmt::format("packet {} carries no octet of an iWARP connection.", number);
  if (!connection(carried_->connection))
    return fmt::format("packet {} is of connection {}, not of connection {}.", number, carried_->connection,
                       *asked_.connection);
  const auto& segment = carried_->segment;
  const std::string octets =
      fmt::format("octets {} to {} of the {}'s stream in connection {}", segment.stream_offset,
                  segment.stream_offset + segment.size - 1, audit::who(carried_->from), carried_->connection);
  return segment.retransmission
             ? fmt::format("packet {} repeats {}, which an earlier packet carried.", number, octets)
             : fmt::format("packet {} carries {}: none of them are of a startup frame or FPDU.", number, octets);
}

std::string Wanted::why_no_connection() const {
  if (spoke_iwarp_.empty())
    return fmt::format("there is no iWARP connection {}: the capture has only datagrams.", *asked_.connection);
  std::vector<std::size_t> numbers = spoke_iwarp_;
  std::ranges::sort(numbers);
  const std::string more = more_spoke_ == 0 ? "" : fmt::format(" and {} more", more_spoke_);
  const char* const those = numbers.size() == 1 ? "that of the capture is" : "those of the capture are";
  return fmt::format("there is no iWARP connection {}: {} {}{}.", *asked_.connection, those, fmt::join(numbers, ", "),
                     more);
}

}  // namespace weft::tools::dissect
