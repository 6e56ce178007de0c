// SPDX-License-Identifier: Apache-2.0
/// @file
/// Unreliable datagrams: queue pairs without connections, over UDP. No RFC specifies them: iWARP has only connections.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>

#include "verbs/endpoint.hpp"
#include "verbs/queue_pair.hpp"

namespace weft::verbs {

namespace detail {
class DatagramQueuePairState;
}

/// Identifies the queue pair that a datagram is for.
struct DatagramAddress {
  Address address{};       ///< IP address of its device, or of a multicast group
  std::uint32_t number{};  ///< DatagramQueuePair::number(), or DatagramQueuePair::kMulticastNumber
  /// Its Q_Key: a datagram with another one is dropped. With the highest bit set, the sender's own Q_Key is sent, as in
  /// InfiniBand.
  std::uint32_t qkey{};
  /// IP hop limit (TTL) of a datagram to a multicast group. Values of 0 and 1 keep it on the network of the device. A
  /// datagram to a host has the system's hop limit.
  std::uint8_t hop_limit = 1;
};

/// Describes one datagram to send.
struct DatagramRequest {
  /// SendOpcode::kSend, or kSendWithImmediate with four octets of immediate data. SendFlags::kFence has no effect.
  SendRequest send{};
  DatagramAddress to{};  ///< destination
};

/// Sends and receives datagrams of up to kMaxPayload octets. ProtectionDomain::create_datagram_queue_pair() creates it.
/// Thread-safe.
///
/// A datagram can be lost, duplicated or overtaken, and its sender is not authenticated. It is dropped if its Q_Key or
/// the queue pair's number is wrong. While no receive is posted, datagrams wait in the kernel's buffer, and are lost
/// when that is full. Only memory of posted receives is ever written.
///
/// A receive begins with kHeaderSize octets in the layout of InfiniBand's Global Route Header, with the addresses of
/// sender and receiver; the payload follows. WorkCompletion::byte_len counts both. A receive that is too short
/// completes with WcStatus::kLocalLengthError and receives nothing of the datagram; the queue pair continues.
///
/// A send completes once the kernel has the datagram. Its places are those of QueuePair.
class DatagramQueuePair {
 public:
  static constexpr std::size_t kMaxPayload = 4096;  ///< octets of one datagram
  static constexpr std::size_t kHeaderSize = 40;    ///< octets in front of the payload in a receive
  static constexpr std::size_t kMaxGroups = 16;     ///< multicast groups that a queue pair can join
  /// DatagramAddress::number of a datagram to a multicast group. Its port is 65535, which no queue pair has.
  static constexpr std::uint32_t kMulticastNumber = 0xFFFFFF;

  /// Returns the number of the queue pair that receives at a UDP port. The port is its upper 16 bits of 24.
  [[nodiscard]] static constexpr std::uint32_t number_at(std::uint16_t port) noexcept {
    return std::uint32_t{port} << 8 | 0xFFU;
  }
  /// Returns the UDP port of a queue pair's number.
  [[nodiscard]] static constexpr std::uint16_t port_of(std::uint32_t number) noexcept {
    return static_cast<std::uint16_t>(number >> 8);
  }

  /// Takes over the queue pair of another handle, which becomes empty.
  DatagramQueuePair(DatagramQueuePair&&) noexcept = default;
  /// Replaces this queue pair by `other`. The previous one ends as by the destructor.
  DatagramQueuePair& operator=(DatagramQueuePair&& other) noexcept;
  /// Closes the port and drops posted receives and completions that were not polled.
  ~DatagramQueuePair();

  /// Returns the number that identifies this queue pair to its peers, in completions and in events.
  [[nodiscard]] std::uint32_t number() const noexcept;
  /// Returns QueuePairAttributes::context.
  [[nodiscard]] std::uint64_t context() const noexcept;
  /// Returns the current state.
  [[nodiscard]] QpState state() const noexcept;
  /// Returns the state and the maxima.
  [[nodiscard]] QueuePairQuery query() const;

  /// Sets the Q_Key that datagrams to this queue pair need. 0 at first.
  void set_qkey(std::uint32_t qkey);
  /// Changes the state: RESET to INIT, INIT to RTR, from which on datagrams are received, and RTR to RTS, from which on
  /// they can be sent. Any state goes to ERROR, which flushes all work, and to RESET, which discards it. SQE goes to
  /// RTS. SQD does not exist.
  /// Errors: Errc::kInvalidState for any other transition.
  Result<void> modify(QpState to);

  /// Joins a multicast group on the device's interface. Datagrams to the group are then received under the same
  /// conditions as others. Joining a group again has no effect. To reach members on other networks, senders need a
  /// greater DatagramAddress::hop_limit, and the networks need multicast routers. Every member receives a copy,
  /// including members in this host and process; a sender that is a member receives its own datagrams.
  /// Errors: Errc::kInvalidArgument if it is no multicast address of the device's IP version; kLimitExceeded beyond
  /// kMaxGroups; kSystem if the system does not join it.
  Result<void> join(const Address& group);
  /// Leaves a group. Drops datagrams that have arrived and were not delivered.
  /// Errors: Errc::kInvalidArgument if the queue pair has not joined the group.
  Result<void> leave(const Address& group);

  /// Sends datagrams in order. In ERROR, each completes with WcStatus::kFlushed. Memory that may not be read completes
  /// with WcStatus::kLocalProtectionError, and the queue pair goes to SQE: it still receives, and flushes sends until
  /// RTS.
  /// Errors: Errc::kInvalidState before RTS; kNotSupported for other operations; kMessageTooLong for more than
  /// kMaxPayload octets; kInvalidArgument for an undefined flag; kQueueFull, kTooManySegments, kInlineTooLong.
  PostResult post_send(std::span<const DatagramRequest> requests);
  /// Posts receives. Errors are those of QueuePair::post_receive().
  PostResult post_receive(std::span<const ReceiveRequest> requests);

 private:
  friend class ProtectionDomain;
  DatagramQueuePair() = default;
  detail::Handle<detail::DatagramQueuePairState> self_;
};

}  // namespace weft::verbs
