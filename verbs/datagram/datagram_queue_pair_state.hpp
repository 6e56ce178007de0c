// SPDX-License-Identifier: Apache-2.0
// The state of a queue pair for datagrams, and its UDP socket, which drivers read as they read the sockets of connections.
// One lock; it is held while leaf locks are taken (completion queue, receive queue, socket watch).
#pragma once

#include <array>
#include <atomic>
#include <cstdint>
#include <memory>
#include <optional>
#include <vector>

#include "transport/datagram_socket.hpp"
#include "transport/pcap_tap.hpp"
#include "verbs/base/compact_mutex.hpp"
#include "verbs/datagram.hpp"
#include "verbs/datagram/datagram_header.hpp"
#include "verbs/memory/stream_memory.hpp"
#include "verbs/objects/completion_queue_state.hpp"
#include "verbs/progress/driven.hpp"
#include "verbs/progress/socket_watch.hpp"

namespace weft::verbs::detail {

class DatagramQueuePairState final : public Driven,
                                     public ReceiveWaiter,
                                     public std::enable_shared_from_this<DatagramQueuePairState> {
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

  // --- Driven
  [[nodiscard]] std::uint64_t number() const noexcept override { return number_; }
  bool drive(bool hangup) override;
  void drive_if_free(Poller& by) override;
  void waited_for_by(Waiter& waiter) override;
  void is_over(const Driver& owner) override;
  void deadline_passed() override;
  void end_waiting() override {}
  void abandon() override;
  void leave_to_parent(int nowhere) noexcept override;
  [[nodiscard]] std::optional<std::uint64_t> moved_if_unserved() override;
  [[nodiscard]] std::optional<LiveStream> describe() override { return std::nullopt; }  // it is no stream

  // --- ReceiveWaiter
  void receives_available() override;

 private:
  [[nodiscard]] bool shares_receives() const noexcept { return attributes.srq != nullptr; }
  [[nodiscard]] bool receives_now() const noexcept {
    return watch_ && (state_ == QpState::kRtr || state_ == QpState::kRts);
  }
  // With the lock:
  void join();
  void leave();
  void fail();
  void discard();
  void discard_completions();
  void settle();
  bool look();
  [[nodiscard]] bool is_for_us(const DatagramHeader& header, const transport::Endpoint& from) const noexcept;
  void deliver();
  [[nodiscard]] WcStatus place(const ddp::ReceiveBuffer& buffer);
  void complete_receive(const WorkCompletion& completion);
  void flush_receives();
  Result<void> send_one(const DatagramRequest& request);
  void send_out(Bytes datagram, const DatagramAddress& to);
  [[nodiscard]] Result<Bytes> payload_of(const SendRequest& request, WcStatus& status);
  void complete_send(const SendRequest& request, WcStatus status);

  const Parts parts_;
  const QueueDrivers drivers_;
  mutable CompactMutex mutex_;
  transport::DatagramSocket socket_;
  transport::PcapDatagrams capture_;  // of what the kernel took and gave, also of what is dropped here
  const std::uint32_t qp_number_;
  const std::uint64_t number_ = next_driven_number();
  std::optional<SocketWatch> watch_{};  // while drivers read the socket: from RTR on
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
  };
  std::optional<Arrived> waiting_{};  // in arrived_, and for a receive: nothing else is read meanwhile
  std::uint64_t received_ = 0;
  // One octet more than the largest datagram, so that a longer one shows.
  std::array<std::byte, DatagramLayout::kSize + DatagramQueuePair::kMaxPayload + 1> arrived_{};
  std::array<std::byte, DatagramLayout::kSize + DatagramQueuePair::kMaxPayload> leaving_{};
};

}  // namespace weft::verbs::detail
