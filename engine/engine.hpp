// SPDX-License-Identifier: Apache-2.0
/// @file
/// One iWARP connection: MPA, DDP and RDMAP combined ("RNIC Engine" in RFC 5042), without sockets, clocks, threads or
/// randomness. Only this module knows the order of the layers.
///
///     world -> core   receive, end_of_stream, connection_lost, written, deadline_passed
///     core  -> world  fill (octets to send), next_deadline, disposition
///     user  -> core   connect / accept / reject, post, drain, close, abort
///     core  -> user   poll_event
///
/// An engine is not thread-safe: its driver serializes all calls. No call blocks, and in steady state none allocates.
#pragma once

#include <cstdint>
#include <expected>
#include <memory>
#include <optional>

#include "common/instant.hpp"
#include "engine/event.hpp"
#include "engine/transmit_batch.hpp"
#include "engine/work.hpp"
#include "mpa/fpdu_receiver.hpp"
#include "mpa/policy.hpp"  // Role, Policy: what this end wants of the MPA startup
#include "rdmap/memory.hpp"

namespace weft::engine {

/// Selects what happens when a Send arrives and no receive is posted. RFC 5041 section 7.1 permits both.
enum class NoReceive : std::uint8_t { kStall, kTerminate };

/// Holds the settings of an engine.
struct Config {
  mpa::Role role{};
  mpa::Policy mpa{};  ///< MPA settings: revision, CRC, Markers, RTR, IRD and ORD
  /// TCP payload of one segment in octets, which determines MULPDU (RFC 5044 section 4.1 of its appendix A).
  std::uint32_t emss = 1460;
  std::uint32_t max_ulpdu = 0;           ///< limit of the ULPDU in octets (--mtu of the tools); 0: MULPDU
  std::uint32_t send_queue_depth = 128;  ///< maximum of uncompleted work requests
  std::uint32_t max_ird = 128;           ///< maximum of inbound Reads, whatever is negotiated
  NoReceive no_receive = NoReceive::kStall;
  bool combine_immediate{};  ///< as Engine::combine_immediate()
  /// Request Identifier of the first local atomic; the following ones count up (RDMAPX-5.2.1-05).
  std::uint32_t first_atomic_id = 0;
  /// Least number of missing payload octets for which landing() returns memory, although the octets are not verified
  /// there yet. Fewer octets are cheaper to copy than to read separately. 0: never.
  std::uint32_t early_placement = 32 * 1024;
  /// Limit for the startup frame of the peer, from the construction of the engine on, and again for the
  /// ready-to-receive message, from the local Reply on.
  Duration startup_timeout = std::chrono::seconds(10);
  /// Initiator: delay between the Reply and the first FPDU, for peers that are not ready at once.
  Duration first_fpdu_delay{};
  /// The following three limits apply in RDMA mode; startup_timeout covers the startup. 0: no limit.
  Duration fpdu_timeout{};    ///< limit from the first octet of an FPDU to its last one: Terminate 2/0/01
  Duration window_timeout{};  ///< limit since the socket accepted an octet while octets wait: reset
  Duration idle_timeout{};    ///< limit since an octet moved in either direction: as close()
  Duration no_receive_timeout = std::chrono::seconds(30);  ///< limit for a stalled Send: Terminate 1/2/02
  Duration finish_timeout = std::chrono::seconds(60);  ///< limit after close() for posted work to be sent and answered
  /// Limit for the FIN of the peer, after the local FIN, a Terminate or a rejection.
  Duration close_timeout = std::chrono::seconds(5);
};

/// Holds the result of Engine::receive().
struct ReceiveResult {
  /// Number of octets consumed from the front; present the rest again, with more octets after it.
  std::size_t consumed{};
  /// Identifies what the engine waits for.
  enum class Want : std::uint8_t {
    kMore,        ///< more octets: call again when they have arrived
    kPollEvents,  ///< the event queue is full: poll it, then call again with the rest
    kReceive,     ///< a receive for a Send: call again when one is posted
    kNothing,     ///< nothing: the inbound direction is closed or terminated; discard what arrives
  } want{};
  /// Number of frames consumed. They indicate the cost of the call better than octets do, because a small frame takes
  /// about as long as one of some kilobytes.
  std::uint32_t frames{};
  /// kMore: least number of octets that the incomplete frame still needs, 0 if there is none; a hint for the next read.
  std::size_t missing{};
};

/// Describes user memory into which the rest of a long payload may be read directly: a receive, or the sink of a local
/// Read. The engine owns that memory until completion, so octets may be placed before their CRC is verified.
/// The user may read the target of an RDMA Write at any time, so it is never used. Empty if there is no such memory.
struct Landing {
  MutableBytes memory{};
  std::size_t behind{};  ///< octets of the frame after those
  /// An RDMA Write: octets of its payload that have not come. They have no memory before they are verified, but a
  /// caller that has all of them in one place may show them there (mpa::Landed).
  std::size_t unplaced{};
};

/// Identifies what the driver does with the socket; check it after each call. kShutdownWrite and kClose only occur once
/// all filled octets were written. With kReset, discard the current batch: the memory that it borrowed is no longer
/// available.
enum class Disposition : std::uint8_t { kOpen, kShutdownWrite, kClose, kReset };

/// Identifies why a startup call failed. kBadPolicy: Config::mpa is contradictory (unknown revision, peer-to-peer mode
/// without enhanced data or without an RTR type).
enum class StartupError : std::uint8_t { kWrongRole, kWrongState, kPrivateDataTooLong, kIrdOrdOutOfRange, kBadPolicy };

/// Holds optional parameters of Engine::accept().
struct AcceptParameters {
  std::optional<std::uint32_t> ird{};  ///< IRD; default: the one of Config
  std::optional<std::uint32_t> ord{};
};

/// Implements one iWARP connection. Not thread-safe.
class Engine {
 public:
  /// Creates an engine. `memory` must outlive it. The clock of Config::startup_timeout starts at `now`.
  Engine(const Config& config, rdmap::Memory& memory, Instant now);
  ~Engine();
  Engine(Engine&&) noexcept;
  Engine& operator=(Engine&&) noexcept;

  // --- User: startup. Private data: at most 512 octets, 508 with enhanced data (RFC 6581).
  /// Initiator: starts the connection.
  std::expected<void, StartupError> connect(Bytes private_data);
  /// Responder, after ConnectionRequested: accepts it.
  std::expected<void, StartupError> accept(Bytes private_data, const AcceptParameters& parameters);
  /// Responder, after ConnectionRequested: rejects it.
  std::expected<void, StartupError> reject(Bytes private_data);

  /// Both users have agreed that Immediate Data whose last four octets are kSendFollows belongs to the Send after it:
  /// the two messages use one receive, and Received has the octets of both. Call it before the connection is
  /// established. RFC 7306 has no such operation; what is sent are its Immediate Data and an ordinary Send.
  void combine_immediate() noexcept;

  // --- User: work
  std::expected<void, PostError> post(const WorkRequest& request);
  /// Enters or leaves SQD: starts no further work request. SendQueueDrained follows when none is in progress.
  void drain(bool on) noexcept;
  /// Closes gracefully: finishes posted work, then sends the FIN.
  void close(Instant now);
  /// Ends at once: flushes all work and resets the connection.
  void abort(Instant now);
  /// Ends the connection for a user that leaves no posted work unfinished. Octets for the socket are sent, followed by
  /// the FIN. Arriving octets are discarded, requests of the peer are refused with a Terminate, and the connection ends
  /// within close_timeout.
  void leave(Instant now);

  // --- World
  /// Consumes complete frames from the front of `stream`. May rearrange octets of frames that it consumes or answers
  /// with kReceive: present those again as receive() left them.
  /// `landed`: octets of the first frame, which is complete, that were read into the memory from landing().
  ReceiveResult receive(MutableBytes stream, Instant now, const mpa::Landed& landed = {});
  /// Returns the memory for the incomplete frame at the front of `stream`, as receive() left it. Valid until the next
  /// call.
  Landing landing(Bytes stream);
  /// Reports whether the transport holds a part of a unit that it cannot present yet, such as a TLS record. The limit
  /// Config::fpdu_timeout applies to it as to a part of an FPDU.
  void holds_part(bool on, Instant now) noexcept;
  /// Reports the FIN of the peer, after all preceding octets were presented.
  void end_of_stream(Instant now);
  /// Reports a RST, a timeout or any other socket error.
  void connection_lost(Instant now);
  /// Appends octets to send, as far as the batch has space. An empty batch with an arena of at least 140 octets holds
  /// at least one FPDU. Returns true if there was more to send.
  bool fill(TransmitBatch& batch, Instant now);
  /// Reports how many octets from fill() the socket has accepted, in order.
  void written(std::size_t octets, Instant now);
  /// Changes the EMSS, for FPDUs that are not cut yet (DDP-3-01, DDP-3-02).
  void set_emss(std::uint32_t emss) noexcept;
  /// Returns when to call deadline_passed(), if ever.
  [[nodiscard]] std::optional<Instant> next_deadline() const noexcept;
  /// Handles all deadlines that have passed.
  void deadline_passed(Instant now);
  [[nodiscard]] Disposition disposition() const noexcept;
  /// Returns whether the next work request waits for responses of the peer: ORD requests are outstanding, or it has a
  /// fence.
  [[nodiscard]] bool awaits_answers() const noexcept;
  /// Returns whether fill() has octets to append or a local operation to perform.
  [[nodiscard]] bool has_output() const noexcept;

  // --- User: what happened. SendCompleted events are bounded by the send queue; a full event queue stops receive().
  [[nodiscard]] bool has_events() const noexcept;
  /// Returns true if a message has begun to arrive and has not ended.
  [[nodiscard]] bool inside_message() const noexcept;
  /// Returns the next event, if any.
  std::optional<Event> poll_event();

 private:
  struct State;
  std::unique_ptr<State> state_;
};

}  // namespace weft::engine
