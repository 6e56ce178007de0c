// SPDX-License-Identifier: Apache-2.0
// One iWARP connection: MPA, DDP and RDMAP composed ("RNIC Engine" in RFC 5042), without sockets, clocks, threads or
// randomness. The only room that knows the order of the layers.
//
//   world -> core   receive, end_of_stream, connection_lost, written, deadline_passed
//   core  -> world  fill (octets to send), next_deadline, disposition
//   user  -> core   connect / accept / reject, post, drain, close, abort
//   core  -> user   poll_event
//
// An engine is not thread-safe: its driver serialises all calls. None of them blocks, and in steady state none
// allocates.
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
#include "mpa/policy.hpp"  // Role, Policy: what this end wants of the MPA start-up
#include "rdmap/memory.hpp"

namespace weft::engine {

// What to do when a Send arrives and no receive is posted (RFC 5041 section 7.1 leaves both open).
enum class NoReceive : std::uint8_t { kStall, kTerminate };

struct Config {
  mpa::Role role{};
  mpa::Policy mpa{};          // revision, CRC, markers, RTR, IRD/ORD (docs in mpa/policy.hpp)
  std::uint32_t emss = 1460;  // octets of TCP payload per segment, for MULPDU (RFC 5044 section 4.1 of its appendix A)
  std::uint32_t max_ulpdu = 0;           // 0: what MULPDU gives; else a smaller limit (--mtu of the tools)
  std::uint32_t send_queue_depth = 128;  // work requests
  std::uint32_t max_ird = 128;           // upper bound for inbound reads, whatever is negotiated
  NoReceive no_receive = NoReceive::kStall;
  std::uint32_t first_atomic_id = 0;  // Request Identifier of our first atomic; the others count on (RDMAPX-5.2.1-05)
  // Octets of a payload still to come from which on landing() names their place, although they are not verified there
  // yet: fewer are cheaper to copy than to read by themselves. 0: never.
  std::uint32_t early_placement = 32 * 1024;
  Duration startup_timeout = std::chrono::seconds(10);  // waiting for the peer's start-up frame, RTR included
  Duration first_fpdu_delay{};  // initiator: between the Reply and our first FPDU, for peers that are not ready at once
  // Each 0: none. The three hold in RDMA mode; of the start-up the time-out above does.
  Duration fpdu_timeout{};    // from the first octet of an FPDU to its last: Terminate 2/0/01
  Duration window_timeout{};  // since the socket took an octet, while some wait for it: reset
  Duration idle_timeout{};    // since an octet moved in either direction: as close()
  Duration no_receive_timeout = std::chrono::seconds(30);  // a Send stalled for longer becomes Terminate 1/2/02
  Duration finish_timeout = std::chrono::seconds(60);      // after close(): for what is posted to be sent and answered
  Duration close_timeout =
      std::chrono::seconds(5);  // waiting for the peer's FIN after ours, a Terminate or a rejection
};

struct ReceiveResult {
  std::size_t consumed{};  // octets taken from the front; present the rest again with more behind it
  enum class Want : std::uint8_t {
    kMore,        // call again when more octets have arrived
    kPollEvents,  // the event queue is full: poll, then call again with the rest
    kReceive,     // a Send waits for a posted receive: call again when there is one
    kNothing,     // inbound is over (closed or terminated): discard what arrives
  } want{};
  // Frames among what was consumed. A small one takes about as long as one of some kilobytes, so they, and not the
  // octets, tell the driver what the call has cost.
  std::uint32_t frames{};
  // With kMore: octets that the frame under way still needs at least, 0 if none is; a hint for the next read.
  std::size_t missing{};
};

// User memory to which the rest of a long payload may be read, for that is where it will be placed: a receive, or the
// sink of our own Read. Until they are complete these are ours, so octets may lie there before their CRC is verified.
// The target of a Write may be looked at any time, and never is such memory. Empty: there is none.
struct Landing {
  MutableBytes memory{};
  std::size_t behind{};  // octets of the frame behind those
};

// What the driver should do with the socket; to be asked after each call. kShutdownWrite and kClose only ever come when
// all that was filled has been written. With kReset the current batch is dropped: what it borrowed is no longer ours.
enum class Disposition : std::uint8_t { kOpen, kShutdownWrite, kClose, kReset };

// kBadPolicy: Config::mpa contradicts itself (unknown revision, peer-to-peer without enhanced data or without an RTR
// type).
enum class StartupError : std::uint8_t { kWrongRole, kWrongState, kPrivateDataTooLong, kIrdOrdOutOfRange, kBadPolicy };

struct AcceptParameters {
  std::optional<std::uint32_t> ird{};  // default: as Config
  std::optional<std::uint32_t> ord{};
};

class Engine {
 public:
  // `memory` outlives the engine.
  Engine(const Config& config, rdmap::Memory& memory, Instant now);
  ~Engine();
  Engine(Engine&&) noexcept;
  Engine& operator=(Engine&&) noexcept;

  // --- User: start-up. Private data: at most 512 octets, 508 with enhanced data (RFC 6581).
  std::expected<void, StartupError> connect(Bytes private_data);  // initiator
  std::expected<void, StartupError> accept(Bytes private_data,
                                           const AcceptParameters& parameters);  // responder, after ConnectionRequested
  std::expected<void, StartupError> reject(Bytes private_data);                  // responder, after ConnectionRequested

  // --- User: work
  std::expected<void, PostError> post(const WorkRequest& request);
  void drain(bool on) noexcept;  // SQD: start no further work request; SendQueueDrained when none is in progress
  void close(Instant now);       // graceful: finish what is posted, then FIN
  void abort(Instant now);       // at once: flush, RST
  // The user goes, and leaves nothing posted unfinished: what the socket was to get goes out, our FIN behind it. What
  // arrives is dropped, what the peer asked for is refused with a Terminate, and the end comes within close_timeout.
  void leave(Instant now);

  // --- World
  // Takes whole frames from the front of `stream` and may rearrange octets of frames that it consumes, or answers
  // kReceive for: present those as receive() left them.
  // `landed`: octets of the first frame, which is all there, that were read to where landing() said.
  ReceiveResult receive(MutableBytes stream, Instant now, const mpa::Landed& landed = {});
  // Of the frame at the front of `stream`, which is not all there, as receive() left it. Good until the next call.
  Landing landing(Bytes stream);
  void end_of_stream(Instant now);    // FIN, after all that came before it was presented
  void connection_lost(Instant now);  // RST, time-out, any socket error
  // Appends what there is to send, as far as the batch has room. An empty batch with an arena of 140 octets or more has
  // room for at least one FPDU. True: there was more than it had room for.
  bool fill(TransmitBatch& batch, Instant now);
  void written(std::size_t octets, Instant now);  // the socket took these of what fill() appended, in order
  void set_emss(std::uint32_t emss) noexcept;     // applies to FPDUs not yet cut (DDP-3-01, DDP-3-02)
  [[nodiscard]] std::optional<Instant> next_deadline() const noexcept;
  void deadline_passed(Instant now);
  [[nodiscard]] Disposition disposition() const noexcept;
  // The next work request waits until the peer has answered others: ORD of them, or what a fence stands behind.
  [[nodiscard]] bool awaits_answers() const noexcept;
  [[nodiscard]] bool has_output() const noexcept;  // fill() has something to append, or a local operation to perform

  // --- User: what happened. SendCompleted events are bounded by the send queue; a full event queue stops receive().
  [[nodiscard]] bool has_events() const noexcept;
  std::optional<Event> poll_event();

 private:
  struct State;
  std::unique_ptr<State> state_;
};

}  // namespace weft::engine
