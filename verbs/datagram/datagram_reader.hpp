// SPDX-License-Identifier: Apache-2.0
// One UDP socket from which a queue pair receives, as drivers see it: that of its own port, or of a multicast group
// that it has joined. What comes is the queue pair's, and so is the lock that protects the reader.
#pragma once

#include <cstdint>
#include <memory>
#include <optional>

#include "transport/datagram_socket.hpp"
#include "transport/pcap_tap.hpp"
#include "verbs/progress/driven.hpp"
#include "verbs/progress/socket_watch.hpp"

namespace weft::verbs::detail {

class DatagramQueuePairState;

// A part of its queue pair and shared with it: whoever drives it keeps the queue pair alive. So it exists as long as
// that does, although its socket may be closed earlier.
class DatagramReader final : public Driven {
 public:
  static constexpr int kMostAtOnce = 64;        // datagrams of one drive; then it is another socket's turn
  static constexpr int kMostDropped = 1 << 16;  // more than a socket's buffer holds, unless they keep coming

  // `destination`: the number of a queue pair that datagrams from this socket are for.
  DatagramReader(DatagramQueuePairState& owner, transport::DatagramSocket socket, std::uint32_t destination);

  // --- The queue pair, with its lock
  [[nodiscard]] const transport::Address& address() const noexcept { return socket_.local().address; }
  [[nodiscard]] std::uint32_t destination() const noexcept { return destination_; }
  [[nodiscard]] bool is_open() const noexcept { return socket_.socket().is_open(); }
  [[nodiscard]] bool is_watched() const noexcept { return watch_.has_value(); }
  // Drivers read the socket from here on. `self`: this one, shared. Without memory nothing has changed.
  void join(const std::shared_ptr<Driven>& self, const QueueDrivers& drivers);
  void leave();
  void close();
  // In place of a socket that was closed.
  void reopen(transport::DatagramSocket socket);
  [[nodiscard]] std::optional<transport::DatagramSocket::Arrived> receive(MutableBytes into);
  // What the kernel does not take is lost, as on any network.
  void send(Bytes datagram, const transport::Endpoint& to, std::uint8_t hop_limit);
  // After each look: what drivers that sleep are to wake for. False if nobody would look at the socket again.
  [[nodiscard]] bool settle(bool stalled);

  // --- Driven
  [[nodiscard]] std::uint64_t number() const noexcept override { return number_; }
  bool drive(bool hangup) override;
  bool drive_if_free(Poller& by) override;
  void waited_for_by(Waiter& waiter) override;
  void is_over(const Driver& owner) override;
  void deadline_passed() override;
  void end_waiting() override {}
  void abandon() override;
  void leave_to_parent(int nowhere) noexcept override;
  [[nodiscard]] std::optional<std::uint64_t> moved_if_unserved() override;
  [[nodiscard]] std::optional<LiveStream> describe() override { return std::nullopt; }  // it is no stream

 private:
  void drop_waiting();
  bool unwatch();  // false if drivers did not read it

  DatagramQueuePairState& owner_;
  transport::DatagramSocket socket_;
  transport::PcapDatagrams capture_;  // of what the kernel took and gave, also of what the queue pair drops
  const std::uint32_t destination_;
  const std::uint64_t number_ = next_driven_number();
  std::optional<SocketWatch> watch_{};
  std::uint64_t received_ = 0;  // for the watchdog
  static constexpr int kRow = 4;
  int in_a_row_ = 0;  // of a poller's looks, those that found something; as many as kRow are a burst
};

}  // namespace weft::verbs::detail
