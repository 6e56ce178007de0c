// SPDX-License-Identifier: Apache-2.0
// One direction of a TCP connection, watched from outside: segments in any order become octets in sequence.
#pragma once

#include <cstdint>
#include <memory>
#include <optional>

#include "conformance/capture/packet_decoder.hpp"
#include "conformance/capture/reorder_buffer.hpp"

namespace weft::conformance::capture {

// What waits, counted over all connections.
struct BufferBudget {
  std::size_t per_direction{};
  std::size_t total{};
  std::size_t used = 0;
};

// The part of it that one buffer uses.
class BufferShare {
 public:
  explicit BufferShare(BufferBudget& budget) noexcept : budget_(&budget) {}
  ~BufferShare() { set(0); }
  BufferShare(const BufferShare&) = delete;
  BufferShare& operator=(const BufferShare&) = delete;

  void set(std::size_t octets) noexcept {
    budget_->used += octets - octets_;
    octets_ = octets;
  }
  [[nodiscard]] bool exceeded() const noexcept {
    return octets_ > 0 && (octets_ > budget_->per_direction || budget_->used > budget_->total);
  }

 private:
  BufferBudget* budget_;
  std::size_t octets_ = 0;
};

class TcpDirection {
 public:
  TcpDirection(std::size_t connection, End from, BufferBudget& budget) noexcept
      : connection_(connection), from_(from), waiting_share_(budget) {}

  // Sequence number of stream offset 0, when it is known.
  [[nodiscard]] std::optional<std::uint32_t> origin() const noexcept { return origin_; }
  void begin_at(std::uint32_t sequence) noexcept {
    origin_ = sequence;
    guessed_ = false;
  }
  // As an acknowledgment says, which may count octets that came with a SYN that was not captured, or not yet.
  void guess_origin(std::uint32_t sequence) noexcept {
    origin_ = sequence;
    guessed_ = true;
  }
  // Returns whether a SYN may say that offset 0 is here: `most` octets may have come with it.
  [[nodiscard]] bool may_begin_at(std::uint32_t sequence, std::uint32_t most) const noexcept;
  // All octets before have been told.
  [[nodiscard]] std::uint64_t next() const noexcept { return next_; }
  // Returns how far a sequence number is ahead of next(); nothing while the origin is not known.
  [[nodiscard]] std::optional<std::int64_t> distance(std::uint32_t sequence) const noexcept;
  // The stream offset of an acknowledgment number; nothing while the origin is not certain.
  [[nodiscard]] std::optional<std::uint64_t> offset_of(std::uint32_t number) const noexcept;
  // Octets up to this acknowledgment number have not been seen, nor given up.
  [[nodiscard]] bool lacks(std::uint32_t number) const noexcept;
  // Octets after those that it waits for have been seen.
  [[nodiscard]] bool has_hole() const noexcept { return waiting_ && !waiting_->empty(); }
  // Its FIN or a RST was told.
  [[nodiscard]] bool closed() const noexcept { return closed_; }
  // Returns whether a RST with this number can be meant for this connection, and is not left over from an older one.
  [[nodiscard]] bool plausible(std::uint32_t sequence) const noexcept;

  void take(const TcpPacket& packet, EventQueue& out);
  // What the other end says that it has of this direction.
  void acknowledged(std::uint32_t number) noexcept;
  // The octets before `offset` do not come any more: the other end has them, the capture does not.
  void give_up_to(std::uint64_t offset, std::uint64_t packet, EventQueue& out);
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
  std::optional<std::uint32_t> origin_{};
  bool guessed_ = false;
  std::optional<std::uint32_t> idle_at_{};  // origin unknown: sequence number of an acknowledgement without octets
  std::uint64_t next_ = 0;                  // all octets before have been told
  std::uint64_t acknowledged_ = 0;          // as the other end said last
  std::optional<std::uint64_t> fin_at_{};
  bool closed_ = false;
  std::unique_ptr<ReorderBuffer> waiting_{};  // made when it is needed
  BufferShare waiting_share_;                 // its cost
  std::uint64_t given_up_ = 0;                // nothing before is waited for
  std::optional<std::uint32_t> far_{};        // where a segment was that no window reaches
};

}  // namespace weft::conformance::capture
