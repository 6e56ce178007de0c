// SPDX-License-Identifier: Apache-2.0
// The state of a queue pair for datagrams. Its readers are the UDP socket of its port and those of multicast groups.
// One lock for all of them; it is held while leaf locks are taken (completion queue, receive queue, socket watch).
#pragma once

#include <array>
#include <atomic>
#include <cstdint>
#include <memory>
#include <optional>

#include "transport/datagram_socket.hpp"
#include "verbs/base/compact_mutex.hpp"
#include "verbs/datagram.hpp"
#include "verbs/datagram/datagram_header.hpp"
#include "verbs/datagram/datagram_reader.hpp"
#include "verbs/memory/stream_memory.hpp"
#include "verbs/objects/completion_queue_state.hpp"

namespace weft::verbs::detail {

class DatagramQueuePairState final : public ReceiveWaiter, public std::enable_shared_from_this<DatagramQueuePairState> {
 public:
  struct Parts {
    Runtime& runtime;
    std::shared_ptr<ProtectionDomainState> domain{};
    std::shared_ptr<CompletionQueueState> send_cq{};
    std::shared_ptr<CompletionQueueState> receive_cq{};
    std::shared_ptr<ReceiveQueue> receives{};
  };
  DatagramQueuePairState(Parts parts, const QueuePairAttributes& wanted, transport::DatagramSocket socket,
                         Quota::Share share);
  ~DatagramQueuePairState() override;

  // --- The application
  Result<void> modify(QpState to);
  void set_qkey(std::uint32_t qkey);
  PostResult post_send(std::span<const DatagramRequest> requests);
  PostResult post_receive(std::span<const ReceiveRequest> requests);
  [[nodiscard]] QueuePairQuery query() const;
  [[nodiscard]] QpState state() const noexcept { return state_.load(); }
  [[nodiscard]] std::uint32_t qp_number() const noexcept { return qp_number_; }
  void destroy();
  const QueuePairAttributes attributes;

  Result<void> join(const transport::Address& group);
  Result<void> leave(const transport::Address& group);

  // --- Its readers, with the lock
  [[nodiscard]] CompactMutex& mutex() noexcept { return mutex_; }
  [[nodiscard]] Runtime& runtime() noexcept { return parts_.runtime; }
  // Reads what has come, `most` datagrams at most, if it may now; true if something has.
  bool look(DatagramReader& reader, int most);
  void settle();
  [[nodiscard]] bool reads_now() const noexcept { return receives_now() && !waiting_; }
  // In a child after fork().
  void is_of_parent() noexcept { state_ = QpState::kError; }

  // --- ReceiveWaiter
  void receives_available() override;

 private:
  [[nodiscard]] bool shares_receives() const noexcept { return attributes.srq != nullptr; }
  [[nodiscard]] bool receives_now() const noexcept {
    const QpState now = state_;
    return own_.is_watched() && (now == QpState::kRtr || now == QpState::kRts || now == QpState::kSqe);
  }
  // With the lock:
  template <typename Call>
  void for_each_reader(Call call);
  void begin(DatagramReader& reader);
  void begin();
  void end();
  [[nodiscard]] DatagramReader* reader_of(const transport::Address& group) noexcept;
  [[nodiscard]] Result<DatagramReader*> open_reader(transport::DatagramSocket socket);
  void fail();
  void discard();
  void discard_completions();
  bool look();
  [[nodiscard]] bool is_for_us(const DatagramHeader& header, const transport::Endpoint& from,
                               const DatagramReader& reader) const noexcept;
  void deliver();
  [[nodiscard]] WcStatus place(const ddp::ReceiveBuffer& buffer);
  void complete_receive(const WorkCompletion& completion);
  void flush_receives();
  Result<void> send_one(const DatagramRequest& request);
  [[nodiscard]] Result<Bytes> payload_of(const SendRequest& request, WcStatus& status);
  void complete_send(const SendRequest& request, WcStatus status);

  const Parts parts_;
  const QueueDrivers drivers_;
  mutable CompactMutex mutex_;
  const std::uint32_t qp_number_;
  DatagramReader own_;  // its port; watched from RTR on
  // Closed when a group is left, and opened again for the next one.
  std::array<std::unique_ptr<DatagramReader>, DatagramQueuePair::kMaxGroups> groups_{};
  StreamMemory memory_;
  Quota::Share share_;
  HeldPlaces* const shared_places_;  // of the shared receive queue; null if there is none
  HeldPlaces receive_places_;
  HeldPlaces send_places_;
  std::atomic<QpState> state_{QpState::kReset};
  std::uint32_t qkey_ = 0;
  struct Arrived {
    DatagramHeader header{};
    transport::Address from{};
    transport::Address to{};
  };
  std::optional<Arrived> waiting_{};  // in arrived_, and for a receive: nothing else is read meanwhile
  // One octet more than the largest datagram, so that a longer one shows.
  std::array<std::byte, DatagramLayout::kSize + DatagramQueuePair::kMaxPayload + 1> arrived_{};
  std::array<std::byte, DatagramLayout::kSize + DatagramQueuePair::kMaxPayload> leaving_{};
};

template <typename Call>
void DatagramQueuePairState::for_each_reader(Call call) {
  call(own_);
  for (const auto& one : groups_) {
    if (one) call(*one);
  }
}
}  // namespace weft::verbs::detail
