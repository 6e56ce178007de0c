// SPDX-License-Identifier: Apache-2.0
// A connected rsocket's two directions, over the queue pair: takes completions, answers the peer's messages, and turns
// the program's octets into RDMA Writes and Sends. Not thread-safe: the rsocket's lock is held. Nothing waits in here.
#pragma once

#include <array>
#include <memory>
#include <optional>
#include <span>
#include <string_view>

#include "compat/rsockets/endpoint.hpp"
#include "compat/rsockets/mappings.hpp"
#include "compat/rsockets/receiver.hpp"
#include "compat/rsockets/sender.hpp"

namespace weft::compat::rsockets {

class Stream {
 public:
  explicit Stream(std::unique_ptr<Endpoint> endpoint);

  [[nodiscard]] Endpoint& endpoint() noexcept { return *endpoint_; }
  // The peer's private data is known: octets may flow.
  void begin(const ConnectData& peer);
  [[nodiscard]] bool begun() const noexcept { return sides_.has_value(); }

  // Takes what has completed and sends what is due. True when anything happened: there may be more then.
  bool progress();
  // The next completion makes the channel's descriptor readable.
  void arm();
  // The connection is over: whatever is said here about it, no more will come.
  void connection_lost();

  // --- Receiving
  [[nodiscard]] std::size_t unread() const noexcept { return sides_ ? sides_->receiver.unread() : 0; }
  [[nodiscard]] std::size_t peek(std::span<std::byte> into, std::size_t skip) const;
  std::size_t take(std::span<std::byte> into);
  // Counts what the peer has said: data, and the end. For edge-triggered epoll sets.
  [[nodiscard]] std::uint64_t arrivals() const noexcept { return arrivals_; }
  // No more will come after what is unread.
  [[nodiscard]] bool inbound_over() const noexcept { return peer_shut_ || lost_; }

  // --- Sending. The number of octets that were taken; 0: there is no room now, or never any more (outbound_over).
  std::size_t send(std::span<const std::byte> octets);
  [[nodiscard]] bool may_send() const noexcept;
  [[nodiscard]] bool outbound_over() const noexcept { return shut_ || shut_due_ || peer_gone_ || lost_; }

  // --- The end
  // Says that no more data comes from here; with `both`, that none is taken any more either. False: no room in the send
  // queue now, try again after some progress.
  bool shut_down(bool both);
  // The same without a second try of the caller's: progress() says it as soon as there is room.
  void shut_down_soon(bool both);
  [[nodiscard]] bool disconnect_sent() const noexcept { return disconnect_sent_; }
  [[nodiscard]] bool lost() const noexcept { return lost_; }
  // It ended without a word of the peer's, or the peer broke the protocol: an error, once.
  [[nodiscard]] bool take_failure() noexcept { return std::exchange(failed_, false); }
  [[nodiscard]] bool failed() const noexcept { return failed_; }
  [[nodiscard]] bool all_sent() const noexcept;

  // --- Direct data placement (stream_iomap.cpp)
  [[nodiscard]] Mappings* mappings() noexcept { return sides_ ? &sides_->mappings : nullptr; }
  // The octets at the front of which were written to what the peer mapped at `offset`; 0: no room now. Nothing: nothing
  // is mapped there.
  std::optional<std::size_t> write_mapped(std::span<const std::byte> octets, std::uint64_t offset);

 private:
  struct Sides {
    ConnectData peer;
    Receiver receiver;
    Sender sender;
    Mappings mappings;
    std::size_t sgl_entry = 1;  // of the peer's target SGL, which is next
  };

  bool take_completions();
  void on(const verbs::WorkCompletion& completion);
  void on(const Message& message);
  void on_control(std::uint32_t what);
  void violated(std::string_view what);

  bool give_credits();
  bool tell_mappings();
  bool post(std::span<const verbs::SendRequest> requests);
  [[nodiscard]] bool sends_left(std::uint32_t wanted) const;
  // A write of a few octets to the peer's tables, and the message about it.
  bool post_update(std::span<const std::byte> octets, std::uint64_t address, std::uint32_t stag, Message message);
  bool post_message(Message message);
  // Octets for a write: from the program's memory if they fit inline, else staged in the ring. `held`: how many are.
  struct Source {
    std::array<verbs::Sge, 2> segments{};
    std::size_t count = 0;
    verbs::SendFlags flags{};
    std::uint32_t held = 0;
  };
  Source source(std::span<const std::byte> octets);

  std::unique_ptr<Endpoint> endpoint_;
  std::optional<Sides> sides_{};
  std::uint64_t arrivals_ = 0;
  bool armed_ = false;
  bool shut_ = false;             // we said that no more data comes
  bool shut_due_ = false;         // we are to say so
  bool disconnect_due_ = false;   // or the other thing
  bool disconnect_sent_ = false;  // nor is taken
  bool peer_shut_ = false;        // the peer said the one
  bool peer_gone_ = false;        // or the other
  bool lost_ = false;             // the connection is over
  bool failed_ = false;           // and that was a surprise
};

}  // namespace weft::compat::rsockets
