// SPDX-License-Identifier: Apache-2.0
// The state of a connection identifier: a listener, a request to be answered, or an end of a connection. Its lock is a
// leaf: no function is called while it is held, because the stream reports here with its own lock held.
#pragma once

#include <atomic>
#include <functional>
#include <memory>
#include <mutex>
#include <optional>
#include <vector>

#include "transport/connector.hpp"
#include "transport/listener.hpp"
#include "verbs/base/compact_mutex.hpp"
#include "verbs/connecting/addresses.hpp"
#include "verbs/connecting/backlog.hpp"
#include "verbs/connecting/event_channel_state.hpp"
#include "verbs/connecting/offers.hpp"
#include "verbs/connection.hpp"
#include "verbs/objects/queue_pair_state.hpp"
#include "verbs/progress/runtime.hpp"
#include "verbs/stream/stream.hpp"

namespace weft::verbs::detail {

[[nodiscard]] std::uint64_t next_connection_number() noexcept;  // no other's ever

class ConnectionState final : public StreamObserver, public std::enable_shared_from_this<ConnectionState> {
 public:
  ConnectionState(Runtime& runtime, std::shared_ptr<EventChannelState> channel, std::uint64_t context);

  // --- The application
  Result<void> set_policy(const Policy& policy);
  Result<void> set_type_of_service(std::uint8_t octet);
  [[nodiscard]] std::size_t tcp_info(MutableBytes into) const;
  [[nodiscard]] std::optional<PeerIdentity> peer_identity() const;
  Result<void> set_address_options(const AddressOptions& options);
  Result<void> bind_address(const Endpoint& local);
  Result<void> resolve_address(const Endpoint& destination, const std::optional<Endpoint>& source);
  Result<void> resolve_route();
  Result<void> set_route(const Address& source, const Endpoint& destination);
  Result<void> listen(int backlog);
  [[nodiscard]] Result<ListenCounts> listen_counts() const;
  [[nodiscard]] Result<int> duplicate_listener() const;
  Result<void> hold_requests(bool on);
  Result<void> bind_socket(int descriptor);
  Result<void> connect(const std::shared_ptr<QueuePairState>& qp, const ConnectionParameters& parameters);
  Result<void> accept(const std::shared_ptr<QueuePairState>& qp, const ConnectionParameters& parameters);
  Result<void> reject(Bytes private_data);
  Result<void> disconnect(Unfinished work);
  void migrate(std::shared_ptr<EventChannelState> channel);
  void post(ConnectionEvent event);
  // Responder: takes the rings that its peer has offered.
  void share(std::unique_ptr<transport::same_host::Session>& shared);
  // Responder: returns whether its Request has not been read yet.
  [[nodiscard]] bool is_incoming() const { return in(Phase::kIncoming); }
  // Reads the Request if it is there. If not, returns the stream that waits for it.
  [[nodiscard]] std::shared_ptr<Stream> look_for_request();
  // A connection request was delivered by this channel.
  void taken(std::shared_ptr<EventChannelState> channel);
  void destroy();
  void set_context(std::uint64_t context) noexcept { context_ = context; }
  [[nodiscard]] std::uint64_t context() const noexcept { return context_; }
  [[nodiscard]] Policy policy() const;
  [[nodiscard]] AddressOptions address_options() const;
  [[nodiscard]] Endpoint local();  // picks the port, if it has none yet
  [[nodiscard]] Endpoint remote() const;
  const std::uint64_t number;

  // --- StreamObserver, with the stream's lock held
  void on_requested(engine::ConnectionRequested request) override;
  bool admits_reply(Bytes private_data) override;
  void on_established(const engine::Established& established) override;
  bool on_rejected(engine::Rejected rejected) override;
  bool on_startup_failed(const engine::StartupFailed& failure, const transport::PipeFailure& pipe) override;
  void on_peer_closed() override;
  void on_closed() override;
  void on_queue_pair_lost() override;

 private:
  enum class Phase : std::uint8_t {
    kIdle,
    kBound,
    kAddressResolved,
    kRouteResolved,
    kListening,
    kConnecting,  // TCP or MPA startup of an initiator
    kIncoming,    // a responder whose request has not arrived
    kRequested,
    kAnswering,  // within accept()
    kAccepting,
    kEstablished,
    kClosed,
  };
  struct Listening {
    std::shared_ptr<transport::Listener> listener{};  // null until it listens
    std::shared_ptr<Backlog> backlog{};
    std::shared_ptr<Offers> offers{};  // null: no shared memory
  };
  // What an initiator needs until it is established; apart, for there may be thousands that are.
  struct Attempt {
    std::shared_ptr<QueuePairState> qp{};
    std::vector<std::byte> private_data{};  // a second attempt sends it again
    std::uint16_t ird{};
    std::uint16_t ord{};
    std::function<bool(Bytes)> admits_reply{};
    std::optional<transport::Connector> connector{};
    bool has_tcp = false;  // the connector has done its work
    std::uint16_t port{};  // ours, when it was chosen before
    Instant begun{};
    bool refused = false;
    bool revision_1 = false;                // the peer does not know revision 2
    bool retrying = false;                  // another TCP connection follows the end of this one
    bool by_tcp = false;                    // the peer has refused shared memory
    std::chrono::milliseconds back_off{1};  // before the next try of a connect that was refused
  };

  // What a responder has of its listener; the place until the application has its request.
  struct Incoming {
    std::shared_ptr<Backlog> place{};
    std::uint64_t listener = 0;           // its number
    bool asked = false;                   // the place is that of a request
    bool peer_gone = false;               // it asked, and went before it was answered
    std::atomic<bool> shared = false;     // its octets go through shared memory
    std::atomic<bool> lacks_rtr = false;  // a request for peer-to-peer, and the policy's rtr is empty
    Admission::Seat seat{};               // from its Request until it ends
  };

  void post(ConnectionEventType type, std::optional<Error> error = {});
  [[nodiscard]] bool in(Phase phase) const;
  [[nodiscard]] Result<void> leave(Phase expected, Phase next, std::string_view why_not);
  [[nodiscard]] Error nothing_to_answer() const;
  void has_answered(bool accepted);
  [[nodiscard]] static ConnectionEvent ended_early();
  Result<void> bind(const Endpoint& local, Addresses::Port port);
  [[nodiscard]] Result<void> begin_attempt(std::unique_ptr<Attempt> attempt);
  void start_connector();
  void mark(transport::Socket& socket) const;
  [[nodiscard]] bool connects_again(const std::error_code& error);
  [[nodiscard]] std::expected<std::unique_ptr<transport::same_host::Session>, std::error_code> offer(
      const transport::Socket& socket);
  [[nodiscard]] bool will_retry_by_tcp();
  void listen_for_offers(int backlog, bool takes_ipv4);
  void on_tcp(std::expected<transport::Socket, std::error_code> socket);
  void on_accept(std::expected<transport::Socket, std::error_code> socket);
  [[nodiscard]] transport::ListenOptions begin_listening(int backlog, transport::BoundSocket& at);
  void begin_incoming(const ConnectionState& listener, transport::Socket socket, const Endpoint& peer);
  [[nodiscard]] std::shared_ptr<Backlog> backlog() const;  // of a listener; null when it is none
  [[nodiscard]] std::shared_ptr<Offers> offers() const;    // null as above, or without shared memory
  void make_room(Backlog& place, const std::vector<HalfOpen::Entry>& others);
  [[nodiscard]] bool make_way();
  // Returns the addresses of an incoming connection.
  [[nodiscard]] HalfOpen::Path path() const { return {addresses_.remote(), addresses_.local().address}; }
  void refuse_offer();
  [[nodiscard]] bool lets_in(Admission& admission, const std::expected<Endpoint, std::error_code>& peer) const;
  [[nodiscard]] bool take_seat(const std::shared_ptr<Admission>& at);
  [[nodiscard]] bool drop_oldest();
  [[nodiscard]] bool will_retry(bool worth_it);
  [[nodiscard]] bool adopt(const std::shared_ptr<Stream>& stream);
  bool fail_connection(ConnectionEvent event);
  void leave_backlog();
  void resume_listening();
  void refuse_later(QueuedEvent request);
  [[nodiscard]] transport::SocketOptions socket_options() const;

  Runtime& runtime_;
  std::atomic<std::uint64_t> context_;
  mutable CompactMutex mutex_;
  std::shared_ptr<EventChannelState> channel_;  // null once the handle is gone
  Phase phase_ = Phase::kIdle;
  std::shared_ptr<const Policy> policy_;  // replaced, never changed: connections share their listener's
  Addresses addresses_{};
  std::unique_ptr<Listening> listening_;
  Incoming incoming_{};
  std::shared_ptr<Stream> stream_;
  std::unique_ptr<Attempt> attempt_;  // of an initiator, from connect until it is established
  bool end_told_ = false;             // kDisconnected, and the stream has yet to end
};

}  // namespace weft::verbs::detail
