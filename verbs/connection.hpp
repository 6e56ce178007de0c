// SPDX-License-Identifier: Apache-2.0
// The connection manager, in rdma_cm's vocabulary: identifiers, and event channels that report what becomes of them.
//
//   active   create, resolve_address -> kAddressResolved, resolve_route -> kRouteResolved, connect -> kEstablished
//   passive  create, bind_address, listen -> kConnectRequest with a new ConnectionId, accept on that -> kEstablished
//   either   disconnect -> kDisconnected at both ends
#pragma once

#include <chrono>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>
#include <span>
#include <string_view>
#include <vector>

#include "transport/bound_socket.hpp"
#include "transport/peer_identity.hpp"
#include "transport/tls_facts.hpp"
#include "verbs/device.hpp"
#include "verbs/endpoint.hpp"
#include "verbs/policy.hpp"

namespace weft::verbs {

namespace detail {
class EventChannelState;
class ConnectionState;
struct QueuedEvent;
}  // namespace detail

// What becomes of a connection; rdma_cm's values.
enum class ConnectionEventType : std::uint8_t {
  kAddressResolved = 0,  // the device is known
  kAddressError = 1,     // no route leads to the address
  kRouteResolved = 2,    // connect may be called
  kRouteError = 3,       // never raised: the address has the route already
  kConnectRequest = 4,   // a peer asks a listener: ConnectionEvent::request
  kConnectError = 6,     // TCP, TLS or the MPA start-up failed
  kUnreachable = 7,      // the peer did not answer in time, or no route leads to it
  // By the peer's ULP (private data), or there is no listener, or the peer takes no ready-to-receive indication and
  // Policy::peer_to_peer asks for one (Errc::kNotSupported).
  kRejected = 8,
  kEstablished = 9,  // both ends have agreed, and the queue pair is in RTS
  // Once per connection that was established: when both ends have closed it, or when it was lost. A peer's end
  // is told at once even while a Send of it waits for a receive: it is there for one that is posted afterwards.
  kDisconnected = 10,
  kDeviceRemoval = 11,  // never raised: a connection whose interface goes is lost like any other
  kTimewaitExit = 15,   // never raised: iWARP leaves that to TCP
};
// rdma_cm's names, "CONNECT_REQUEST"; static storage.
[[nodiscard]] std::string_view to_string(ConnectionEventType type) noexcept;

using PeerIdentity = transport::PeerIdentity;  // transport::PeerIdentity
using TlsCounts = transport::TlsCounts;        // transport::TlsCounts, as transport::tls_counts() gives it
using transport::tls_counts;
using AddressOptions = transport::AddressOptions;  // `reuse` (SO_REUSEADDR) and `ipv6_only` (IPV6_V6ONLY)

// What an end says when it connects or accepts.
struct ConnectionParameters {
  // At most 512 octets, 508 when IRD and ORD are exchanged (RFC 6581); in an answer that is for the Request to say.
  std::span<const std::byte> private_data{};
  // Inbound and outbound RDMA Reads and atomics at a time. Default: the device's limits, or what the peer asked for.
  std::optional<std::uint32_t> ird{};  // rdma_conn_param: responder_resources
  std::optional<std::uint32_t> ord{};  // rdma_conn_param: initiator_depth
};

// Of a listener: its connections, and what it did not let in. The numbers of refusals count from listen on.
struct ListenCounts {
  std::size_t requests{};        // that get_event has not returned
  std::size_t half_open{};       // TCP connections whose MPA Request is not complete
  std::size_t half_open_most{};  // the most of these that there may be; then the oldest is reset for each that comes
  std::uint64_t dropped{};       // of these, since listen
  std::size_t connections{};     // that have asked and have not ended: requests, and what was accepted
  std::uint64_t denied{};        // reset at accept, for Policy::access does not let their address in
  std::uint64_t too_fast{};      // reset at accept, for Policy::connect_rate_per_peer
  std::uint64_t too_many{};      // reset at accept or rejected, for Policy::connections_per_peer, _listener or _process
};

class ConnectionId;

// What became of an identifier, as EventChannel::get_event() gives it.
struct ConnectionEvent {
  ConnectionEventType type{};             // says which of the members below mean something
  std::uint64_t id{};                     // ConnectionId::number() of the identifier; kConnectRequest: of the listener
  std::uint64_t context{};                // its context
  std::optional<Error> error{};           // kAddressError, kRouteError, kConnectError, kUnreachable, kRejected
  std::vector<std::byte> private_data{};  // kConnectRequest, kEstablished (initiator), kRejected
  std::uint32_t ird{};                    // kConnectRequest: what the peer could take of ours at most: its ORD
  std::uint32_t ord{};                    // kConnectRequest: its IRD. kEstablished: what was settled
  std::unique_ptr<ConnectionId> request{};  // kConnectRequest: accept or reject it; dropping it rejects
};

// Delivers connection events in order. Its descriptor is readable while events wait.
class EventChannel {
 public:
  [[nodiscard]] static Result<EventChannel> create();  // Errc::kSystem where the process can have no more descriptors

  [[nodiscard]] int descriptor() const noexcept;  // weft's own: the program does not close it
  // Waits for an event, unless the descriptor is non-blocking (Errc::kWouldBlock) or a signal arrives (kInterrupted).
  // A thread that waits again and again serves the sockets of all connections meanwhile, in place of the progress
  // thread, if there is one only. If it looks at the descriptor instead, it may see an event of its own calls
  // (resolve_address, resolve_route) there some milliseconds later than get_event would have found it.
  [[nodiscard]] Result<ConnectionEvent> get_event();
  // Waits no longer than `at_most`, nor than kMaxTimeout: Errc::kTimedOut. A negative time is refused.
  [[nodiscard]] Result<ConnectionEvent> get_event(std::chrono::milliseconds at_most);

 private:
  friend class ConnectionId;
  [[nodiscard]] Result<ConnectionEvent> deliver(Result<detail::QueuedEvent> queued);
  detail::Handle<detail::EventChannelState> self_;
};

// One end of a connection to be, or a listener. The destructor stops what is under way and drops undelivered events; an
// established connection lives on with its queue pair.
class ConnectionId {
 public:
  // Its events go to `channel`, which it keeps alive.
  [[nodiscard]] static Result<ConnectionId> create(const EventChannel& channel, std::uint64_t context = 0);
  ConnectionId(ConnectionId&&) noexcept = default;
  ConnectionId& operator=(ConnectionId&& other) noexcept;  // what this was before ends as with the destructor
  ~ConnectionId();                                         // stops what is under way

  [[nodiscard]] std::uint64_t number() const noexcept;   // of no other in this process; the log names it so
  [[nodiscard]] std::uint64_t context() const noexcept;  // what comes back in its events
  void set_context(std::uint64_t context) noexcept;      // for events from now on
  // Before connect or listen, else Errc::kInvalidState; a request has its listener's. Refuses what contradicts itself or is out of range:
  // Errc::kInvalidArgument, "policy.member".
  Result<void> set_policy(const Policy& policy);
  [[nodiscard]] Policy policy() const;  // as set; the defaults when nothing was
  // Policy::type_of_service alone, at any time: of a connection for the packets sent from now on, of a listener for the
  // connections accepted from now on.
  Result<void> set_type_of_service(std::uint8_t octet);
  // How local addresses are bound; before connect or listen, else Errc::kInvalidState. What is bound already keeps its
  // port.
  Result<void> set_address_options(const AddressOptions& options);
  [[nodiscard]] AddressOptions address_options() const;  // as set; the defaults when nothing was

  // Reserves the local address; port 0 takes a free one, which local_address() then tells. No other socket gets the
  // port before connect or listen use it. Errc::kAddressInUse; kInvalidArgument for an address of another host, or a
  // port that the process may not have; kInvalidState where there is an address already.
  Result<void> bind_address(const Endpoint& local);
  // -> kAddressResolved or kAddressError, at once: only the host's routes are asked, so rdma_cm's time-outs of the
  // resolve calls have nothing to bound here. Policy::connect_timeout bounds what waits for the peer. The answer may be
  // that of a call for the same address a millisecond ago.
  // `source`, or the address bound to before, has to be of the destination's family, or a wildcard. Where neither names
  // a port, one is taken by the first call of local_address(), which costs as much as a bind_address, or by connect.
  // A destination without a port is refused: Errc::kInvalidArgument.
  Result<void> resolve_address(const Endpoint& destination, const std::optional<Endpoint>& source = {});
  // -> kRouteResolved, at once
  Result<void> resolve_route();

  static constexpr int kKernelBacklog = 128;  // connections that the kernel keeps for a listener at least
  // `backlog` is how many requests may wait for get_event, also when their peer has gone since. What comes beyond waits
  // in the kernel's queue, which has room for at least kKernelBacklog; beyond that, SYNs are dropped, and clients send
  // them again. Connections that have not sent their whole MPA Request are not counted there: they have places of their
  // own, four for each of the backlog, at least 1024 and at most 8192, and all listeners together no more than half of
  // the process's descriptors. As these fill up they have less time than Policy::startup_timeout, a twentieth of it at
  // last, and when they are taken the oldest is reset for each that comes: of the peer that has more than its share of
  // them, if there is one, else of all. Policy::half_open_per_peer bounds those of one peer. Policy::access,
  // connect_rate_per_peer and connections_per_peer, _listener and _process say which connections are let in at all.
  // Errors: kInvalidArgument when `backlog` is not positive, or TLS lacks its files; kInvalidState without an address;
  // kAddressInUse.
  Result<void> listen(int backlog = 128);
  [[nodiscard]] Result<ListenCounts> listen_counts() const;  // Errc::kInvalidState when this is no listener
  // Needs a queue pair in RESET or INIT and takes it to RTS. -> kEstablished, kRejected, kUnreachable or kConnectError.
  // A connect that is refused is tried again for Policy::connect_retry. Errors: kInvalidState when the route is not
  // resolved, or the queue pair is in another state or in use; kPrivateDataTooLong; kLimitExceeded, "ird" or "ord".
  Result<void> connect(QueuePair& queue_pair, const ConnectionParameters& parameters = {});
  // Answers a request, which the event kConnectRequest has brought: with a queue pair, and with the same events, as
  // connect. When accept refuses an argument, the request still waits for an answer. When the peer has gone since it
  // asked, accept and reject say so: Errc::kDisconnected. A request for peer-to-peer that meets a Policy::rtr without
  // any type is rejected by accept, which then says so: Errc::kNotSupported, "peer".
  Result<void> accept(QueuePair& queue_pair, const ConnectionParameters& parameters = {});
  // Answers a request with no. The peer gets kRejected, with up to 512 octets of private data.
  Result<void> reject(std::span<const std::byte> private_data = {});
  // Finishes what is posted, then closes (RDMAP-6.2-02), within Policy::finish_timeout. Does nothing when the
  // connection is already going down. The queue pair stays in RTS until the connection has ended, but takes no further
  // sends: post_send fails with Errc::kDisconnected. Errc::kInvalidState where there is no connection.
  Result<void> disconnect();
  // Moves the identifier and its undelivered events to another channel; of a listener also the requests that are still
  // to come. A connection request reports to the channel that it was taken from.
  Result<void> migrate(const EventChannel& channel);

  // Of the connection, or what bind_address or resolve_address gave it; before that the wildcard with port 0.
  [[nodiscard]] Endpoint local_address() const;
  [[nodiscard]] Endpoint remote_address() const;  // the peer's; of resolve_address before there is a connection
  // What the kernel tells of the connection's TCP: as much of a struct tcp_info (TCP_INFO, tcp(7)) as there is room
  // for. Returns how many octets; 0 while there is no TCP connection.
  [[nodiscard]] std::size_t tcp_info(std::span<std::byte> into) const;
  // How TLS protects the connection, and who the peer has proved to be: of a connection request already. Nothing where
  // there is no TLS, nor a connection any more.
  [[nodiscard]] std::optional<PeerIdentity> peer_identity() const;
  // The device of the local address; Errc::kInvalidState before resolve_address or bind_address to a concrete address.
  [[nodiscard]] Result<Device> device() const;

 private:
  friend class EventChannel;
  ConnectionId() = default;
  template <typename Call>
  Result<void> with_own(Call call);
  detail::Handle<detail::ConnectionState> self_;
};

}  // namespace weft::verbs
