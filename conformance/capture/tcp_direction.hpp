// SPDX-License-Identifier: Apache-2.0
// One direction of a TCP connection, watched from outside: segments in any order become octets in sequence.
#pragma once

#include <cstdint>
#include <memory>
#include <optional>

#include "conformance/capture/packet_decoder.hpp"
#include "conformance/capture/reorder_buffer.hpp"

namespace weft::conformance::capture {

// What waits in reorder buffers, counted over all connections.
struct BufferBudget {
  std::size_t per_direction{};
  std::size_t total{};
  std::size_t used = 0;
};

class TcpDirection {
 public:
  TcpDirection(std::size_t connection, End from, BufferBudget& budget) noexcept
      : connection_(connection), from_(from), budget_(&budget) {}
  ~TcpDirection();
  TcpDirection(const TcpDirection&) = delete;
  TcpDirection& operator=(const TcpDirection&) = delete;

  // Sequence number of stream offset 0, when it is known.
  [[nodiscard]] std::optional<std::uint32_t> origin() const noexcept { return origin_; }
  void begin_at(std::uint32_t sequence) noexcept { origin_ = sequence; }
  // Its FIN or a RST was told.
  [[nodiscard]] bool closed() const noexcept { return closed_; }
  // Whether a RST with this number can be meant for this connection, and is not left over from an older one.
  [[nodiscard]] bool plausible(std::uint32_t sequence) const noexcept;

  void take(const TcpPacket& packet, EventQueue& out);
  // What the other end says that it has of this direction.
  void acknowledged(std::uint32_t number) noexcept;
  // Once for each packet of the connection, after it has been taken: is a hole one of the capture?
  void doubt(std::uint64_t packet, EventQueue& out);
  // Nothing follows: what waits comes now, and what was acknowledged and not captured is a gap.
  void give_up(std::uint64_t packet, EventQueue& out);
  void close(Closing how, std::uint64_t packet, EventQueue& out);

 private:
  [[nodiscard]] std::int64_t position(std::uint32_t sequence) const noexcept;
  bool find_origin(const TcpPacket& packet) noexcept;
  bool jump(std::int64_t begin, const TcpPacket& packet, EventQueue& out);
  [[nodiscard]] bool held(std::int64_t begin, const TcpPacket& packet) const noexcept;
  void take_payload(std::int64_t begin, std::size_t size, const TcpPacket& packet, EventQueue& out);
  void take_in_order(std::uint64_t skip, std::uint64_t end, const TcpPacket& packet, EventQueue& out);
  void take_to_buffer(std::int64_t begin, std::uint64_t end, const TcpPacket& packet, EventQueue& out);
  void drain(std::uint64_t packet, EventQueue& out);
  void skip_hole(std::uint64_t to, std::uint64_t packet, EventQueue& out);
  void settle(std::uint64_t packet, EventQueue& out);

  std::size_t connection_;
  End from_;
  BufferBudget* budget_;
  std::optional<std::uint32_t> origin_{};
  std::optional<std::uint32_t> idle_at_{};  // origin unknown: sequence number of an acknowledgement without octets
  std::uint64_t next_ = 0;                  // all octets before have been told
  std::uint64_t acknowledged_ = 0;          // as the other end said last
  std::optional<std::uint64_t> fin_at_{};
  bool closed_ = false;
  std::unique_ptr<ReorderBuffer> waiting_{};  // made when it is needed
  std::size_t waiting_cost_ = 0;              // as counted in the budget
  std::optional<std::uint32_t> far_{};        // where a segment was that no window reaches

  // A hole is the capture's when the other end has acknowledged it and yet nothing fills it for a while: the packets of
  // the two directions may have been captured in the wrong order.
  static constexpr unsigned kPatience = 8;  // packets of this connection
  unsigned doubtful_for_ = 0;
  std::uint64_t doubted_from_ = 0;
  std::uint64_t doubted_to_ = 0;
};

}  // namespace weft::conformance::capture
