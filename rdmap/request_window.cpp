// SPDX-License-Identifier: Apache-2.0
#include "rdmap/request_window.hpp"

#include <algorithm>
#include <utility>

#include "ddp/tagged.hpp"

namespace weft::rdmap {

namespace {

// A response that answers no request: no RFC names the code (RDMAP-5.2.2-05, RDMAPX-5.2.2-10).
constexpr ErrorCode kUnsolicited = error_code(OperationError::kUnexpectedOpcode);

// The offset of a segment in its Read. Offsets may come in any order, rising is only a SHOULD (DDP-5.3-03).
std::expected<std::uint32_t, ErrorCode> offset_of(const ddp::TaggedHeader& header, std::size_t payload,
                                                  const ReadExpected& read) noexcept {
  if (payload == 0) return 0;  // DDP-5.2-13: STag and TO are not looked at
  if (header.stag != read.sink_stag) return std::unexpected(error_code(ddp::TaggedError::kInvalidStag));
  if (ddp::offset_wraps(header.offset, payload)) {  // RDMAP-4.4-06
    return std::unexpected(error_code(ddp::TaggedError::kOffsetWrap));
  }
  const std::uint64_t offset = header.offset.value - read.sink_offset.value;
  if (offset > read.size || payload > read.size - offset) {
    return std::unexpected(error_code(ddp::TaggedError::kBaseOrBounds));
  }
  return static_cast<std::uint32_t>(offset);
}

}  // namespace

const ReadExpected* RequestWindow::oldest_read() const noexcept {
  return outstanding_.empty() ? nullptr : std::get_if<ReadExpected>(&outstanding_.front().expected);
}

std::expected<ResponsePiece, ErrorCode> RequestWindow::read_response(const ddp::TaggedHeader& header,
                                                                     std::size_t payload) noexcept {
  const auto* read = oldest_read();
  if (read == nullptr) return std::unexpected(kUnsolicited);
  const auto offset = offset_of(header, payload, *read);
  if (!offset) return std::unexpected(offset.error());
  // Octets that come twice may hide from the count that others never came. While there is no hole they are found at
  // once; two of them beside holes may be missed, and a receiver need not look for them at all (DDP-5.2-14).
  const bool again = *offset < furthest_ && received_ == furthest_ && payload != 0;
  received_ += payload;
  furthest_ = std::max<std::uint64_t>(furthest_, *offset + payload);
  const ResponsePiece piece{outstanding_.front().cookie, *offset, header.last};
  if (!again && !header.last) return piece;
  const bool whole = std::exchange(received_, 0) == read->size && std::exchange(furthest_, 0) == read->size;
  if (again || !whole) return std::unexpected(error_code(ddp::TaggedError::kBaseOrBounds));
  outstanding_.pop();
  return piece;
}

std::optional<ResponsePiece> RequestWindow::landing(const ddp::TaggedHeader& header,
                                                    std::size_t payload) const noexcept {
  const auto* read = oldest_read();
  if (read == nullptr) return std::nullopt;
  const auto offset = offset_of(header, payload, *read);
  if (!offset || *offset != received_ || received_ != furthest_) return std::nullopt;
  return ResponsePiece{outstanding_.front().cookie, *offset, header.last};
}

std::expected<std::uint64_t, ErrorCode> RequestWindow::atomic_response(const AtomicResponse& response) noexcept {
  const auto* atomic = outstanding_.empty() ? nullptr : std::get_if<AtomicExpected>(&outstanding_.front().expected);
  if (atomic == nullptr || atomic->request_id != response.request_id) return std::unexpected(kUnsolicited);
  return outstanding_.pop().cookie;
}

std::optional<OutstandingRequest> RequestWindow::take_unfinished() noexcept {
  if (outstanding_.empty()) return std::nullopt;
  return outstanding_.pop();
}

}  // namespace weft::rdmap
