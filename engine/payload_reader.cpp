// SPDX-License-Identifier: Apache-2.0
#include "engine/payload_reader.hpp"

#include <algorithm>

namespace weft::engine {

std::expected<void, PayloadFault> PayloadReader::copy(const PayloadSource& source, std::uint32_t offset,
                                                      MutableBytes out) {
  if (out.empty()) return {};
  return std::visit([&](const auto& from) { return copy_from(from, offset, out); }, source);
}

std::expected<void, PayloadFault> PayloadReader::copy_from(const OwnOctets& own, std::uint32_t offset,
                                                           MutableBytes out) {
  std::ranges::copy(Bytes(own.octets).subspan(offset, out.size()), out.begin());
  return {};
}

std::expected<void, PayloadFault> PayloadReader::copy_from(const FromWorkRequest& from, std::uint32_t offset,
                                                           MutableBytes out) {
  const SendEntry& entry = queue_.at(from.ticket);
  if (entry.is_inline()) {
    std::ranges::copy(entry.inline_octets().subspan(offset, out.size()), out.begin());
    return {};
  }
  const auto gathered = memory_.gather(entry.local(), offset, out);
  if (!gathered) return std::unexpected(gathered.error());
  return {};
}

// Checked again for each segment: the STag may have been revoked since the last one (RDMAP-8.1.1-06).
std::expected<void, PayloadFault> PayloadReader::copy_from(const FromTaggedBuffer& from, std::uint32_t offset,
                                                           MutableBytes out) {
  const auto read = memory_.read_tagged(from.stag, {from.offset.value + offset}, out);
  if (!read) return std::unexpected(read.error());
  return {};
}

std::optional<BorrowedPayload> PayloadReader::borrow(const PayloadSource& source, std::uint32_t offset,
                                                     std::uint32_t length) {
  const auto* from = std::get_if<FromWorkRequest>(&source);
  if (from == nullptr) return std::nullopt;
  const SendEntry& entry = queue_.at(from->ticket);
  if (entry.is_inline()) return std::nullopt;
  std::optional<BorrowedPayload> borrowed(std::in_place);  // returned as it is: a copy would be half a kilobyte
  if (!memory_.borrow(entry.local(), offset, length, borrowed->pieces, borrowed->used)) borrowed.reset();
  return borrowed;
}

}  // namespace weft::engine
