// SPDX-License-Identifier: Apache-2.0
/// @file
/// A connection with typed operations.
#pragma once

#include <concepts>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "verbs/work_request.hpp"
#include "weft/error.hpp"
#include "weft/region.hpp"

namespace weft {

namespace verbs {
class CompletionQueue;
class ConnectionId;
class ProtectionDomain;
class QueuePair;
}  // namespace verbs

/// The place of an endpoint: a host name or numeric address, and a TCP port.
struct Endpoint {
  std::string host{};    ///< "node7", "192.0.2.7", "2001:db8::7"; listeners also: "0.0.0.0", "::"
  std::uint16_t port{};  ///< TCP port in host order; listeners: 0 selects a free port
  /// Compares all members.
  bool operator==(const Endpoint&) const = default;
};

/// Makes an operation return as soon as its work request is posted. The caller takes the completion with
/// Connection::completions(), or polls Connection::completion_queue().
struct Post {
  std::uint64_t wr_id{};  ///< returned in the completion; less than 2^63; weft uses larger values
  /// Processing options; receive() ignores them. With several operations in progress, a write() or send() may take
  /// effect before a read() or an atomic that was posted before it (RFC 5040 section 5.5), unless it has
  /// SendFlags::kFence.
  verbs::SendFlags flags = verbs::SendFlags::kSignaled;
};

namespace detail {

class Link;

// A typed operation and its operands.
struct Operation {
  enum class Kind : std::uint8_t { kSend, kReceive, kWrite, kRead, kFetchAdd, kCompareSwap };
  Kind kind{};
  Slice local{};
  RemoteRegion remote{};
  std::uint64_t compare{};
  std::uint64_t swap_or_add{};
};
// The result of any operation: the octets of a receive, the old value of an atomic, else 0.
using Outcome = Result<std::uint64_t>;
// Called once, in any thread, with no lock held.
using Done = std::move_only_function<void(Outcome)>;
// Identifies a started operation, and is never used again.
using Ticket = std::uint64_t;

// The part of a connection that weft/asio.hpp uses.
[[nodiscard]] Ticket next_ticket() noexcept;
void start(Link& link, const Operation& operation, Ticket ticket, Done done);
// Ends the connection if the operation is still in progress.
void cancel(Link& link, Ticket ticket);
// Readable when progress() has something to do, after a first progress().
[[nodiscard]] int completion_descriptor(const Link& link) noexcept;
// Completes what is done. Returns whether started operations remain.
bool progress(Link& link);
// Returns whether this is a child of fork(), and its parent made the connection.
[[nodiscard]] bool is_parents(const Link& link) noexcept;
// Destroys the callbacks of started operations without calling them.
void abandon(Link& link);
// Returns whether operations that were started with a callback remain.
[[nodiscard]] bool has_started(const Link& link) noexcept;

}  // namespace detail

/// One end of a reliable connection, with memory that is registered for it. Movable.
///
/// Each operation exists in three forms, selected by its last argument:
///  - Deadline: waits until the operation has completed. When the call returns, weft no longer uses the memory.
///  - a Boost.Asio completion token: AsioConnection (weft/asio.hpp).
///  - Post: posts the work request and returns.
///
/// **Memory** of an operation must stay valid and registered until the operation has completed; the source of send()
/// and write() must not change meanwhile, and the sink of receive() and read() must not be used. Success of write() or
/// send() means that the local memory may be reused, not that the peer has the data. To tell the peer's program that a
/// write() is in place, call send() afterwards.
///
/// **Deadlines.** A work request cannot be taken back. So a deadline that expires, like a canceled Asio operation, ends
/// the connection: the operation returns Errc::kTimedOut, and all others fail with WcStatus::kFlushed and that cause.
/// The operation may have taken effect at the peer nevertheless. With an expired deadline (0s), an operation is still
/// posted, and its completion polled once. It succeeds if it completes at once, as most sends on an idle connection do,
/// and receives whose message is waiting; otherwise the connection ends. To poll for messages without ending the
/// connection, use Post and completions().
///
/// **Destruction** ends the connection as ~QueuePair does (verbs/queue_pair.hpp): if no sending operation is in
/// progress, what was sent still reaches the peer; otherwise the connection is reset. Asio operations that are in
/// progress complete with WcStatus::kFlushed. When the destructor returns, weft no longer uses the memory of any
/// operation.
///
/// **Descriptors.** Each end takes 4 file descriptors of its process, and 5 if the octets go through shared memory,
/// which is the default within one host (StartupPolicy::same_host). An AsioConnection takes one more, and another one
/// while it waits in establish() or close(). weft numbers its descriptors from 512, so the usual limit of 1024 leaves
/// room for about 110 ends. A server that needs more raises RLIMIT_NOFILE before it uses weft: setrlimit(2) up to the
/// hard limit, `ulimit -n` in its shell, or LimitNOFILE= in its systemd unit. Beyond the limit, no connection is made:
/// Errc::kSystem (EMFILE).
///
/// **fork().** In the child, functions of its parent's connections fail with Errc::kInvalidState, and destroying one
/// has no effect.
///
/// **Thread safety.** All functions may be called concurrently, with three exceptions: the destructor and moves must
/// not run concurrently with another call, establish(), reject() and close() not with each other, and peer_data() not
/// with establish(). At most 128 sending operations and 128 receives may be in progress at a time; one more fails with
/// Errc::kQueueFull. A work request of Post is in progress until completions() has returned its completion; without a
/// completion (a success that is not signaled), until it is done.
class Connection {
 public:
  /// Connects to a listener: prepare(), then establish(). A name lookup may block beyond the deadline.
  [[nodiscard]] static Result<Connection> connect(const Endpoint& to, Deadline deadline,
                                                  std::span<const std::byte> private_data = {});
  /// Prepares a connection to `to`, without contacting it, so that memory can be registered, receives be posted and the
  /// policy be set (id()) before establish(). Errors: Errc::kUnreachable if the name is unknown, or no route leads to
  /// it.
  [[nodiscard]] static Result<Connection> prepare(const Endpoint& to);
  Connection(Connection&&) noexcept = default;  ///< Takes over a connection. The other object can only be destroyed.
  /// Deleted: slicing an AsioConnection would stop its pending operations.
  template <typename Derived>
    requires(std::derived_from<Derived, Connection> && !std::same_as<Derived, Connection>)
  Connection(Derived&&) = delete;
  /// Deleted for the same reason.
  template <typename Derived>
    requires(std::derived_from<Derived, Connection> && !std::same_as<Derived, Connection>)
  Connection& operator=(Derived&&) = delete;
  /// Replaces this connection by `other`. The previous connection ends as by the destructor.
  Connection& operator=(Connection&& other) noexcept;
  /// Ends the connection, as described above.
  ~Connection();

  /// Connects a prepared connection, or accepts a request (Listener::next()). `private_data` is delivered to the peer's
  /// peer_data(): at most 508 octets. Returns once both ends have agreed. Before that, only receive() with Post is
  /// allowed. Errc::kPrivateDataTooLong and kInvalidState (there already is a connection) change nothing. Any other
  /// error, including an expired deadline, ends the connection: later calls fail with the same cause, and a new attempt
  /// needs a new Connection.
  ///
  /// **Who sends first.** The connecting end must send first (RFC 5044 section 7.1.2). Until its first send(), write(),
  /// read() or atomic, operations of the accepting end wait; they time out if nothing comes. If the accepting end is to
  /// send first, set StartupPolicy::peer_to_peer (verbs/policy.hpp) at the connecting end, with id().set_policy()
  /// before establish().
  /// Errors: Errc::kRefused, kRejected (the peer's reject(); peer_data() has what it sent), kUnreachable, kTimedOut,
  /// kDisconnected, kPrivateDataTooLong, and others of verbs::ConnectionId.
  [[nodiscard]] Result<void> establish(Deadline deadline, std::span<const std::byte> private_data = {});
  /// Rejects a request. The peer's establish() fails with Errc::kRejected, and so do all later operations of this end.
  /// `private_data`: at most 512 octets, or 508 if the request has IRD and ORD (weft's requests have).
  /// Errc::kPrivateDataTooLong changes nothing.
  [[nodiscard]] Result<void> reject(std::span<const std::byte> private_data = {});
  /// Returns the peer's private data: of its request from the beginning, of its reply after establish().
  [[nodiscard]] std::span<const std::byte> peer_data() const noexcept;
  /// Returns the peer's address.
  [[nodiscard]] Endpoint peer() const;
  /// Finishes posted sends (all operations but receive()) and closes the connection. Receives in progress fail with
  /// WcStatus::kFlushed. Waits for posted sends until the deadline, and at most TimeoutPolicy::finish (60 s); then for
  /// the peer, until it has closed too, or has sent and acknowledged nothing for TimeoutPolicy::disconnect (250 ms). A
  /// deadline that expires before that resets the connection.
  /// Errors: Errc::kTimedOut; WcStatus::kFlushed if a posted send failed or was flushed meanwhile; Errc::kInvalidState
  /// if there was no connection. A connection that has already ended is no error, and neither are sends that other
  /// threads post after the call.
  [[nodiscard]] Result<void> close(Deadline deadline);

  /// Registers memory for this connection: a contiguous range (array, vector, string, span) or an object, of trivially
  /// copyable type. `access` selects what may be done with it: by default, all operations of this end, and nothing that
  /// the peer starts. Const memory can only be read. Faults in all pages.
  /// Errors: those of ProtectionDomain::register_memory(); Errc::kInvalidArgument, "access", if `access` permits
  /// writing to const memory.
  template <typename Memory>
  [[nodiscard]] Result<Region> register_memory(Memory&& memory, Access access = detail::kDefaultAccess<Memory>) {
    static_assert(std::is_lvalue_reference_v<Memory> || std::ranges::borrowed_range<Memory>,
                  "memory must outlive this call");
    return register_octets(detail::octets_of(memory), access);
  }

  /// Sends a message to a receive() of the peer. If the peer has not posted one, the message waits at the peer, and
  /// send() does not block. At the accepting end, all operations but receive() wait for the first message of the other
  /// end: see establish().
  [[nodiscard]] Result<void> send(Slice message, Deadline deadline);
  /// Waits for a message of the peer and returns its length in octets. Messages arrive in order. One that is longer
  /// than `into` ends the connection: WcStatus::kLocalLengthError.
  [[nodiscard]] Result<std::size_t> receive(Slice into, Deadline deadline);
  /// Writes `local` to the first octets of `remote` (RDMA Write). The peer's program does not take part.
  /// Errors: Errc::kInvalidArgument, "remote", if it is shorter than `local`; nothing is sent.
  [[nodiscard]] Result<void> write(Slice local, const RemoteRegion& remote, Deadline deadline);
  /// Reads the first octets of `remote` into `local`, until it is full (RDMA Read). Errors: as for write().
  [[nodiscard]] Result<void> read(Slice local, const RemoteRegion& remote, Deadline deadline);
  /// Adds to the 64-bit number at the beginning of `remote` and returns its old value (RFC 7306 section 5). Atomic with
  /// respect to other such operations, not to the peer's processor. Numbers are in the peer's host order.
  /// Errors: Errc::kInvalidArgument, "remote", if its address is not a multiple of 8, or its length is less than 8.
  [[nodiscard]] Result<std::uint64_t> fetch_add(const RemoteRegion& remote, std::uint64_t add, Deadline deadline);
  /// Replaces the 64-bit number at the beginning of `remote` by `swap` if it equals `compare`; returns its old value.
  /// Order, atomicity and errors as for fetch_add().
  [[nodiscard]] Result<std::uint64_t> compare_swap(const RemoteRegion& remote, std::uint64_t compare, std::uint64_t swap,
                                     Deadline deadline);

  /// As above, but returns as soon as the work request is posted. `old` receives the old value, 8 octets.
  /// Errors: as above, and those of verbs::QueuePair::post_send(). After Errc::kQueueFull, nothing was posted: take
  /// completions() first.
  [[nodiscard]] Result<void> send(Slice message, Post post);
  /// As above.
  [[nodiscard]] Result<void> receive(Slice into, Post post);
  /// As above.
  [[nodiscard]] Result<void> write(Slice local, const RemoteRegion& remote, Post post);
  /// As above.
  [[nodiscard]] Result<void> read(Slice local, const RemoteRegion& remote, Post post);
  /// As above.
  [[nodiscard]] Result<void> fetch_add(Slice old, const RemoteRegion& remote, std::uint64_t add, Post post);
  /// As above.
  [[nodiscard]] Result<void> compare_swap(Slice old, const RemoteRegion& remote, std::uint64_t compare, std::uint64_t swap,
                            Post post);
  /// Takes completions of posted work requests, at most out.size(), and returns their number. Waits for the first one
  /// until the deadline; an expired deadline only polls. Errors: Errc::kTimedOut; Errc::kInvalidArgument if `out` is
  /// empty. The connection continues after both.
  [[nodiscard]] Result<std::size_t> completions(std::span<verbs::WorkCompletion> out, Deadline deadline);
  /// Returns the cause of a failed completion.
  [[nodiscard]] Error why(const verbs::WorkCompletion& completion) const;

  /// Returns the queue pair, for operations that have no function here. Its work requests need a wr_id less than 2^63.
  [[nodiscard]] verbs::QueuePair& queue_pair() noexcept;
  /// Returns the queue of all completions. If you poll it yourself, use only the Post form, and do not call
  /// completions().
  [[nodiscard]] verbs::CompletionQueue& completion_queue() noexcept;
  /// Returns the protection domain of this connection.
  [[nodiscard]] verbs::ProtectionDomain& domain() noexcept;
  /// Returns the identifier, to set the policy before establish(), or for the peer's TLS identity.
  [[nodiscard]] verbs::ConnectionId& id() noexcept;

 private:
  friend class Listener;
  friend class AsioConnection;
  explicit Connection(std::shared_ptr<detail::Link> link) noexcept : link_(std::move(link)) {}
  // Non-blocking steps of establish() and close(). While a step returns nullopt, the caller waits until
  // event_descriptor() is readable and repeats it.
  Result<void> begin_establish(std::span<const std::byte> private_data);
  std::optional<Result<void>> step_establish();
  Result<void> begin_close();
  std::optional<Result<void>> step_close();
  void abort(const Error& cause);
  [[nodiscard]] int event_descriptor() const noexcept;
  [[nodiscard]] Result<Region> register_octets(std::span<std::byte> octets, Access access);
  [[nodiscard]] Result<Region> register_octets(std::span<const std::byte> octets, Access access);
  std::shared_ptr<detail::Link> link_;
};

}  // namespace weft
