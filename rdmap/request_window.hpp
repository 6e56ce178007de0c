// SPDX-License-Identifier: Apache-2.0
// Our own RDMA Reads and atomics that wait for a response: at most ORD of them (RDMAP-6.1-08), answered in the order of
// asking. A response is only accepted for the oldest, so a peer cannot place what was not asked for (RDMAP-5.2.2-08).
#pragma once

#include <cstdint>
#include <expected>
#include <optional>
#include <variant>

#include "common/bounded_ring.hpp"
#include "ddp/header.hpp"
#include "rdmap/atomic_messages.hpp"
#include "rdmap/errors.hpp"

namespace weft::rdmap {

struct ReadExpected {
  ddp::Stag sink_stag{};  // as in the request: the response names the same (RDMAP-4.4-03)
  ddp::TaggedOffset sink_offset{};
  std::uint32_t size{};
};

struct AtomicExpected {
  std::uint32_t request_id{};
};

struct OutstandingRequest {
  std::uint64_t cookie{};  // names the work request to its owner
  std::variant<ReadExpected, AtomicExpected> expected{};
};

// Where a segment of a Read Response belongs: from octet `offset` of the sink of request `cookie`.
struct ResponsePiece {
  std::uint64_t cookie{};
  std::uint32_t offset{};
  bool complete{};  // the last one: the Read is done (RDMAP-5.5-26), and its place in the window is free
};

class RequestWindow {
 public:
  explicit RequestWindow(std::uint32_t ord) : outstanding_(ord) {}

  [[nodiscard]] std::uint32_t ord() const noexcept { return static_cast<std::uint32_t>(outstanding_.bound()); }
  [[nodiscard]] std::uint32_t outstanding() const noexcept { return static_cast<std::uint32_t>(outstanding_.size()); }

  // A request is handed to DDP. False, and nothing changed, when ORD are outstanding already.
  bool start(const OutstandingRequest& request) { return outstanding_.push(request); }

  // One segment of a Read Response, checked before it is placed.
  std::expected<ResponsePiece, ErrorCode> read_response(const ddp::TaggedHeader& header, std::size_t payload) noexcept;

  // The same before all of it is there, and before it was verified: read_response() has the last word. Empty unless the
  // segment only goes on with the response.
  [[nodiscard]] std::optional<ResponsePiece> landing(const ddp::TaggedHeader& header,
                                                     std::size_t payload) const noexcept;

  // A delivered Atomic Response: the cookie of the request that it completes.
  std::expected<std::uint64_t, ErrorCode> atomic_response(const AtomicResponse& response) noexcept;

  // Gives back what is still outstanding, oldest first, when the stream has ended.
  std::optional<OutstandingRequest> take_unfinished() noexcept;

 private:
  [[nodiscard]] const ReadExpected* oldest_read() const noexcept;  // null when a Read is not what is answered next

  BoundedRing<OutstandingRequest> outstanding_;
  std::uint64_t received_ = 0;  // octets of the oldest Read's response
  std::uint64_t furthest_ = 0;  // the end of its furthest segment
};

}  // namespace weft::rdmap
