// SPDX-License-Identifier: Apache-2.0
/// @file
/// The connection manager, modeled on rdma_cm: connection identifiers, and channels that report their events.
///
///     active   create, resolve_address -> kAddressResolved, resolve_route -> kRouteResolved, connect -> kEstablished
///     passive  create, bind_address, listen -> kConnectRequest with a new ConnectionId, accept on that -> kEstablished
///     either   disconnect -> kDisconnected at both ends
#pragma once

#include <chrono>
#include <cstddef>
#include <cstdint>
#include <functional>
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

/// Identifies the kind of a connection event. The values are those of rdma_cm.
enum class ConnectionEventType : std::uint8_t {
  kAddressResolved = 0,  ///< resolve_address() succeeded: the device is known
  kAddressError = 1,     ///< resolve_address() failed: no route leads to the address
  kRouteResolved = 2,    ///< resolve_route() succeeded: connect() may be called
  kRouteError = 3,       ///< never raised: kAddressResolved already implies a route
  kConnectRequest = 4,   ///< a peer requests a connection to a listener: ConnectionEvent::request
  kConnectError = 6,     ///< TCP, TLS or the MPA startup failed
  kUnreachable = 7,      ///< the peer did not answer in time, or no route leads to it
  /// The connection was refused: by the peer's application (with private data), because there is no listener, or
  /// because StartupPolicy::peer_to_peer is set and the peer supports no ready-to-receive indication
  /// (Errc::kNotSupported).
  kRejected = 8,
  kEstablished = 9,  ///< both ends have agreed, and the queue pair is in RTS
  /// An established connection has ended: both ends closed it, or it was lost. Raised once per connection.
  /// If the peer closes while a Send from it still waits for a receive, the event is raised at once, and a receive
  /// posted afterwards still gets the Send.
  kDisconnected = 10,
  kDeviceRemoval = 11,  ///< never raised: a connection whose interface disappears is lost like any other
  /// Raised only by ConnectionId::raise(). An implementation of rdma_cm reports with it that a datagram queue pair has
  /// joined a multicast group.
  kMulticastJoin = 12,
  /// TimeoutPolicy::timewait has passed since an established connection ended, and its identifier still exists. iWARP
  /// has no such wait of its own; the event exists for rdma_cm programs that free the resources of a connection on it.
  kTimewaitExit = 15,
};
/// Returns the name in rdma_cm, such as "CONNECT_REQUEST"; static storage.
[[nodiscard]] std::string_view to_string(ConnectionEventType type) noexcept;

/// Describes how TLS protects a connection, and the peer's certificate.
using PeerIdentity = transport::PeerIdentity;
/// Counts the TLS handshakes of this process.
using TlsCounts = transport::TlsCounts;
using transport::tls_counts;
/// Specifies how local addresses are bound: `reuse` (SO_REUSEADDR) and `ipv6_only` (IPV6_V6ONLY).
using AddressOptions = transport::AddressOptions;

/// Specifies what ConnectionId::connect() or accept() sends to the peer.
struct ConnectionParameters {
  /// Data for the peer's application. At most 512 octets, or 508 if IRD and ORD are exchanged (RFC 6581).
  /// In a reply, the limit depends on the request.
  std::span<const std::byte> private_data{};
  /// Maximum of concurrent inbound RDMA Reads and atomics (rdma_conn_param: responder_resources).
  /// Default: the limit of the device, or what the peer requested.
  std::optional<std::uint32_t> ird{};
  /// Maximum of concurrent outbound RDMA Reads and atomics (rdma_conn_param: initiator_depth). Default: as for `ird`.
  std::optional<std::uint32_t> ord{};
  /// Initiator: decides by the private data of an accepting Reply whether the connection is made. Empty: it is.
  /// Called once, in a thread of weft that holds a lock: must not block, throw or call weft. If it returns false, the
  /// TCP connection is reset, nothing is sent on it, nothing that the peer sent is placed, and the attempt fails with
  /// ConnectionEventType::kConnectError (Errc::kProtocol).
  std::function<bool(std::span<const std::byte> private_data)> admits_reply{};
};

/// Counts the connections of a listener. Counts of dropped and refused connections begin at listen().
struct ListenCounts {
  std::size_t requests{};        ///< requests that get_event() has not returned yet
  std::size_t half_open{};       ///< TCP connections whose MPA Request is incomplete
  std::size_t half_open_most{};  ///< limit of half_open; at the limit, each new connection resets the oldest one
  std::uint64_t dropped{};       ///< half-open connections that were reset to make room
  std::size_t connections{};     ///< current requests and accepted connections
  std::uint64_t denied{};        ///< connections reset at accept because of AdmissionPolicy::access
  std::uint64_t too_fast{};      ///< connections reset at accept because of AdmissionPolicy::connect_rate_per_peer
  /// Connections reset at accept, or rejected, because of AdmissionPolicy::connections_per_peer,
  /// connections_per_listener or connections_per_process.
  std::uint64_t too_many{};
};

class ConnectionId;

/// Describes a connection event, as EventChannel::get_event() returns it.
struct ConnectionEvent {
  ConnectionEventType type{};             ///< kind of the event; determines which of the other members are valid
  std::uint64_t id{};                     ///< ConnectionId::number(); kConnectRequest: the number of the listener
  std::uint64_t context{};                ///< context of that identifier
  std::optional<Error> error{};           ///< kAddressError, kRouteError, kConnectError, kUnreachable, kRejected: cause
  std::vector<std::byte> private_data{};  ///< kConnectRequest, kEstablished (initiator), kRejected: the peer's data
  std::uint32_t ird{};                    ///< kConnectRequest: the peer's ORD; a larger IRD of this end has no effect
  std::uint32_t ord{};                    ///< kConnectRequest: the peer's IRD; kEstablished: the negotiated ORD
  std::unique_ptr<ConnectionId> request{};  ///< kConnectRequest: identifier to accept or reject; destroying it rejects
};

/// Delivers connection events in order. Thread-safe.
class EventChannel {
 public:
  /// Creates a channel. Errors: Errc::kSystem if the process cannot open another descriptor.
  [[nodiscard]] static Result<EventChannel> create();

  /// Returns a descriptor that is readable while events are pending.
  /// weft owns the descriptor: the program must not close it, but may poll it, duplicate it, or make it non-blocking.
  [[nodiscard]] int descriptor() const noexcept;
  /// Returns the next event. Waits for one unless the descriptor is non-blocking.
  /// If the process has a single progress thread, a thread that waits here repeatedly serves the sockets of all
  /// connections in place of that thread. If that thread polls the descriptor instead, events of its own calls
  /// (resolve_address(), resolve_route()) may be signaled a few milliseconds late.
  /// Errors: Errc::kWouldBlock if the descriptor is non-blocking and no event is pending; kInterrupted if a signal
  /// arrives.
  [[nodiscard]] Result<ConnectionEvent> get_event();
  /// Returns the next event, and waits for it at most `at_most`, even if the descriptor is non-blocking.
  /// Times beyond kMaxTimeout count as kMaxTimeout.
  /// Errors: Errc::kTimedOut if no event arrives in time; kInterrupted as above; kInvalidArgument if `at_most` is
  /// negative.
  [[nodiscard]] Result<ConnectionEvent> get_event(std::chrono::milliseconds at_most);

 private:
  friend class ConnectionId;
  [[nodiscard]] Result<ConnectionEvent> deliver(Result<detail::QueuedEvent> queued);
  detail::Handle<detail::EventChannelState> self_;
};

/// Identifies one end of a future or existing connection, or a listener. Thread-safe.
///
/// The destructor cancels operations in progress and drops undelivered events. An established connection continues as
/// long as its queue pair exists.
class ConnectionId {
 public:
  /// Creates an identifier whose events are reported to `channel`, and keeps the channel alive.
  /// `context` is the application's value, returned in events.
  [[nodiscard]] static Result<ConnectionId> create(const EventChannel& channel, std::uint64_t context = 0);
  /// Takes over the identifier of another handle, which becomes empty.
  ConnectionId(ConnectionId&&) noexcept = default;
  /// Replaces this identifier by `other`. The previous identifier ends as by the destructor.
  ConnectionId& operator=(ConnectionId&& other) noexcept;
  /// Cancels operations in progress and drops undelivered events.
  ~ConnectionId();

  /// Returns the number of this identifier: unique in this process, and used in log lines.
  [[nodiscard]] std::uint64_t number() const noexcept;
  /// Returns the application's value.
  [[nodiscard]] std::uint64_t context() const noexcept;
  /// Replaces the application's value, for events raised from now on.
  void set_context(std::uint64_t context) noexcept;
  /// Sets the policy of the connection, or of all connections of a listener. A request inherits its listener's policy.
  /// Errors: Errc::kInvalidState after connect() or listen(); kInvalidArgument, "policy.member", if a member is out of
  /// range or contradicts another one.
  Result<void> set_policy(const Policy& policy);
  /// Returns the policy as set, or the default policy.
  [[nodiscard]] Policy policy() const;
  /// Sets StartupPolicy::type_of_service alone. May be called at any time.
  /// Takes effect for packets that the connection sends from now on; for a listener, for connections accepted from now
  /// on.
  Result<void> set_type_of_service(std::uint8_t octet);
  /// Sets how local addresses are bound. An address that is already bound keeps its port.
  /// Errors: Errc::kInvalidState after connect() or listen().
  Result<void> set_address_options(const AddressOptions& options);
  /// Returns the address options as set, or the defaults.
  [[nodiscard]] AddressOptions address_options() const;

  /// Reserves the local address. Port 0 selects a free port, which local_address() returns.
  /// No other socket can take the port before connect() or listen() uses it.
  /// Errors: Errc::kAddressInUse; kInvalidArgument for an address of another host, or a port that the process is not
  /// permitted to use; kInvalidState if there already is an address.
  Result<void> bind_address(const Endpoint& local);
  /// Adopts a bound TCP socket, which may already listen: for example one from duplicate_listener(), in a child of
  /// fork(). Closes `descriptor` on every error except kInvalidState.
  /// Errors: Errc::kInvalidState as above; Errc::kSystem if it is no such socket.
  Result<void> bind_socket(int descriptor);
  /// Finds the device and the local address for a destination. Raises kAddressResolved or kAddressError.
  ///
  /// The lookup uses only the routes of this host and completes at once, so it takes no timeout;
  /// TimeoutPolicy::connect limits what waits for the peer. A result for the same address may be reused for a
  /// millisecond.
  /// `source`, or the address bound before, must be a wildcard or have the family of the destination. If neither has a
  /// port, the first call of local_address() reserves one, at the cost of a bind_address(); otherwise connect() does.
  /// Errors: Errc::kInvalidArgument for a destination without a port, or addresses of different families; kInvalidState
  /// if the identifier is already resolved, listening or connected.
  Result<void> resolve_address(const Endpoint& destination, const std::optional<Endpoint>& source = {});
  /// Raises kRouteResolved at once. The step exists for compatibility with rdma_cm.
  /// Errors: Errc::kInvalidState before resolve_address().
  Result<void> resolve_route();
  /// Replaces resolve_address() and resolve_route(): the caller supplies the local address, and knows that it leads to
  /// `destination`. Looks up no route and raises no event. If none leads there, connect() raises kUnreachable or
  /// kConnectError.
  /// Errors: Errc::kInvalidArgument if an address is of another family, the wildcard or none of this host, or the port
  /// is 0; kInvalidState after any other call that gives an address.
  Result<void> set_route(const Address& source, const Endpoint& destination);

  /// Minimum of the kernel's queue of connections for a listener.
  static constexpr int kKernelBacklog = 1024;
  /// Listens for connections at the bound address. Each request raises kConnectRequest.
  ///
  /// `backlog` is the maximum of requests that wait for get_event(), including those whose peer has since gone. Further
  /// connections wait in the kernel's queue, which holds at least kKernelBacklog if net.core.somaxconn permits it. When
  /// that is full, the kernel drops SYNs, and clients retransmit them after a second.
  ///
  /// Connections whose MPA Request is incomplete do not count towards `backlog`. Their limit is four times `backlog`,
  /// at least 1024 and at most 8192 (819 with TLS, where each holds up to 80 KiB); all listeners together use at most
  /// half of the process's descriptors, and 64 MiB. As they
  /// approach the limit, their timeout decreases from TimeoutPolicy::startup to a twentieth of it. At the limit, each
  /// new connection resets the oldest one: of a peer that exceeds its share if there is one, else of all.
  /// AdmissionPolicy::half_open_per_peer limits those of one peer.
  ///
  /// Errors: Errc::kInvalidArgument if `backlog` is not positive, or a file that TLS needs is missing; kInvalidState
  /// without an address; kAddressInUse.
  Result<void> listen(int backlog = 128);
  /// Returns the counts of a listener. Errors: Errc::kInvalidState if this is not a listener.
  [[nodiscard]] Result<ListenCounts> listen_counts() const;
  /// Returns a new descriptor of the kernel's socket of a listener, which the caller owns. Connections that the process
  /// has not accepted go to whichever process takes them first.
  /// Errors: Errc::kInvalidState if this is not a listener; kSystem if the process cannot open another descriptor.
  [[nodiscard]] Result<int> duplicate_listener() const;
  /// Pauses (`on`) or resumes accepting TCP connections; meanwhile, they wait in the kernel's queue.
  /// Errors: Errc::kInvalidState if this is not a listener.
  Result<void> hold_requests(bool on);
  /// Connects to the resolved address. Raises kEstablished, kRejected, kUnreachable or kConnectError.
  /// The queue pair must be in RESET or INIT, and goes to RTS. A refused TCP connect is repeated for as
  /// long as the policy says (TimeoutPolicy).
  /// Errors: Errc::kInvalidState if the route is not resolved, or if the queue pair is in another state or in use;
  /// kPrivateDataTooLong; kLimitExceeded, "ird" or "ord".
  Result<void> connect(QueuePair& queue_pair, const ConnectionParameters& parameters = {});
  /// Accepts the request that kConnectRequest delivered. Uses the queue pair and raises events as connect() does.
  /// If an argument is invalid, the request remains pending.
  /// Errors: those of connect(); Errc::kDisconnected if the peer has gone since the request; kNotSupported, "peer", if
  /// the peer requests peer-to-peer mode and StartupPolicy::rtr has no type: the request is then rejected.
  Result<void> accept(QueuePair& queue_pair, const ConnectionParameters& parameters = {});
  /// Rejects the request that kConnectRequest delivered. The peer's event is kRejected.
  /// `private_data` is at most 512 octets, or 508 if the request has IRD and ORD (RFC 6581).
  /// Errors: Errc::kPrivateDataTooLong; Errc::kDisconnected if the peer has gone since the request.
  Result<void> reject(std::span<const std::byte> private_data = {});
  /// Finishes posted work, within TimeoutPolicy::finish, and then closes the connection (RDMAP-6.2-02).
  /// From now on, a Send of the peer without a posted receive, and everything after it, is discarded. If no octets move
  /// for TimeoutPolicy::disconnect, the connection ends for this program; Unfinished::kAwait first waits for posted
  /// work. Afterwards, QueuePairQuery::failed_sends tells whether posted sends were flushed.
  /// Does nothing if the connection is already closing. The queue pair stays in RTS until the connection has ended, but
  /// post_send() fails with Errc::kDisconnected.
  /// Errors: Errc::kInvalidState if there is no connection.
  Result<void> disconnect(Unfinished work = Unfinished::kFlush);
  /// Moves the identifier and its undelivered events to another channel; for a listener, also all future requests.
  /// A request that was already returned stays with the channel that returned it.
  Result<void> migrate(const EventChannel& channel);
  /// Raises an event of the caller's own, after those that are pending. get_event() returns it with `data` as
  /// ConnectionEvent::private_data.
  void raise(ConnectionEventType type, std::span<const std::byte> data);

  /// Returns the local address of the connection, or the one from bind_address() or resolve_address().
  /// Before those, returns the wildcard with port 0. May reserve a port: see resolve_address().
  [[nodiscard]] Endpoint local_address() const;
  /// Returns the peer's address, or the destination of resolve_address() before there is a connection.
  [[nodiscard]] Endpoint remote_address() const;
  /// Copies the kernel's `struct tcp_info` of the connection (TCP_INFO, tcp(7)) to `into`, truncated to its size.
  /// Returns the number of octets copied; 0 if there is no TCP connection.
  [[nodiscard]] std::size_t tcp_info(std::span<std::byte> into) const;
  /// Returns how TLS protects the connection, and the peer's authenticated identity. Also valid for a request.
  /// Returns nothing without TLS, and after the connection has ended.
  [[nodiscard]] std::optional<PeerIdentity> peer_identity() const;
  /// Opens the device of the local address.
  /// Errors: Errc::kInvalidState before resolve_address(), or bind_address() to an address other than the wildcard.
  [[nodiscard]] Result<Device> device() const;

 private:
  friend class EventChannel;
  ConnectionId() = default;
  template <typename Call>
  Result<void> with_own(Call call);
  detail::Handle<detail::ConnectionState> self_;
};

}  // namespace weft::verbs
