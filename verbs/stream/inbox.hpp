// SPDX-License-Identifier: Apache-2.0
// The octets that a stream has read from its socket and the engine has not taken yet, and the size of the next read.
// Borrows a buffer while octets move; an idle connection holds none.
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <utility>
#include <vector>

#include "ddp/header.hpp"
#include "mpa/fpdu.hpp"
#include "verbs/memory/buffer_pool.hpp"

namespace weft::verbs::detail {

class Inbox {
 public:
  // Limit of one drive of a connection, after which others are served: octets, of which a long message needs many, or
  // FPDUs (about 100 us), because a peer may send empty ones: 256 KiB hold 13,000 of them and take as long as 20 MiB.
  static constexpr std::size_t kMostRead = 4 * Staging::kOctets;
  static constexpr std::uint32_t kMostFrames = 1024;
  // After a payload that lands, so that the next one can land as well.
  static constexpr std::size_t kNextHeader = mpa::kLengthSize + ddp::UntaggedLayout::kSize;

  // --- The buffer, which the functions below need.
  void open(BufferPool& pool);
  // What is staged keeps its buffer while there are enough, for the rest of the frame is on its way; else, or when it
  // waits for the application, the octets move to memory of their own size.
  void park(BufferPool& pool);
  void close(BufferPool& pool);
  [[nodiscard]] bool is_open() const noexcept { return staging_ != nullptr; }

  // --- The octets
  [[nodiscard]] bool empty() const noexcept { return staged_ == 0; }
  [[nodiscard]] MutableBytes staged() noexcept { return staging_->octets().first(staged_); }
  [[nodiscard]] MutableBytes room() noexcept { return staging_->octets().subspan(staged_); }
  // The front of it that a read may fill. After a payload that landed only the frame under way, so that what follows
  // can land as well.
  [[nodiscard]] MutableBytes room_to_read() noexcept;
  void add(std::size_t octets) noexcept { staged_ += octets, octets_so_far_ += octets; }
  void take(std::size_t octets) noexcept;  // from the front
  void clear() noexcept { staged_ = 0; }

  // --- How much to read
  void misses(std::size_t octets) noexcept {
    missing_ = static_cast<std::uint32_t>(octets);
  }  // of the frame under way, at least
  void has_landed() noexcept { landed_ = true; }  // the last payload did
  // All that one read brings is looked at, so where the last one brought many small FPDUs the next one takes fewer
  // octets: no more of such FPDUs than a turn may have. It grows step by step, with reads that bring all they may and
  // few FPDUs: for a burst of small ones a peer has to send half a megabyte of others before.
  void learn(std::size_t octets, std::uint32_t frames) noexcept;

  std::uint32_t reads_so_far = 0;  // that found something
  [[nodiscard]] std::uint64_t octets_so_far() const noexcept { return octets_so_far_; }

  // --- Whether to read
  [[nodiscard]] bool reads() const noexcept { return !stalled && !is_over(); }
  bool stalled = false;  // a Send waits for a receive
  // After such a Send the peer has closed its direction.
  void see_fin() noexcept { peer_ = std::max(peer_, Peer::kFinSeen); }
  [[nodiscard]] bool fin_seen() const noexcept { return peer_ >= Peer::kFinSeen; }
  void end() noexcept { peer_ = Peer::kOver; }  // end of stream, or lost
  [[nodiscard]] bool is_over() const noexcept { return peer_ == Peer::kOver; }

  bool part = false;  // the engine knows of a part of a TLS record

 private:
  enum class Peer : std::uint8_t { kSends, kFinSeen, kOver };

  Peer peer_{};
  bool landed_ = false;
  std::uint32_t missing_ = 0;
  std::uint32_t most_of_read_ = Staging::kOctets / 8;  // octets: see learn()
  std::unique_ptr<Staging> staging_;  // what is staged lies at its front, or in carry_ when it was given back
  std::vector<std::byte> carry_;
  std::size_t staged_ = 0;
  std::uint64_t octets_so_far_ = 0;
};

}  // namespace weft::verbs::detail
