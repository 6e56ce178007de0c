// SPDX-License-Identifier: Apache-2.0
// One connection of the prober, which a case drives step by step. Calls block up to the patience of the case; if an
// expected event does not occur, they end the case with a Judgement that describes it.
#pragma once

#include <functional>
#include <initializer_list>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "common/instant.hpp"
#include "mpa/fpdu.hpp"
#include "mpa/startup_frame.hpp"
#include "probe/exchange.hpp"
#include "probe/forge.hpp"
#include "probe/learned.hpp"
#include "probe/messages.hpp"
#include "probe/peer_fpdu.hpp"
#include "probe/socket.hpp"
#include "probe/unasked.hpp"
#include "probe/verdict.hpp"
#include "rdmap/terminate.hpp"

namespace weft::probe {

// A startup frame of the peer.
struct PeerFrame {
  mpa::StartupFrame frame{};  // private_data points into `octets`
  std::vector<std::byte> octets{};
};

// What happened next in the direction of the peer.
enum class Came : std::uint8_t { kFpdu, kFin, kReset, kNothing };

class Conversation {
 public:
  // `patience`: how long a reaction is waited for, with a peer that answers at once. `learned`: of the run; else the
  // conversation has its own.
  Conversation(std::unique_ptr<Socket> socket, bool peer_opened, Duration patience,
               std::shared_ptr<Learned> learned = std::make_shared<Learned>());
  ~Conversation();
  Conversation(const Conversation&) = delete;
  Conversation& operator=(const Conversation&) = delete;

  // --- Octets as they are
  void send(Bytes octets);
  // Sends each piece in a TCP segment of its own (best effort: the kernel may coalesce). `cuts`: ascending offsets in
  // `octets`.
  void send_in_pieces(Bytes octets, const std::vector<std::size_t>& cuts);
  // Sends the FIN; octets of the peer are still read.
  void shut();
  // Sends a RST.
  void reset();
  // Closes the socket, after the peer's end of the connection if that comes soon. A case that uses the conversation
  // later does not apply.
  void give_up() noexcept;

  // --- Startup
  void send_frame(const StartUp& start_up);  // a Request, or where the peer has opened, a Reply
  PeerFrame expect_frame(mpa::FrameKind kind);
  // Returns a frame that was already read, which expect_frame() or octets() then returns next.
  void give_back(PeerFrame frame);
  // Starts FPDUs after both frames, framed according to them. `ours` is the frame that the prober sent.
  void start_fpdus(const StartUp& ours, const mpa::StartupFrame& peers);
  // Starts FPDUs with explicit framing of both directions.
  void start_fpdus(mpa::Framing ours, mpa::Framing peers);
  // Makes start_fpdus() wait, for a peer that is not ready for FPDUs when it has sent its Reply.
  void delay_first_fpdu(Duration delay) noexcept { first_fpdu_delay_ = delay; }

  // Returns whether the startup exchanged IRD and ORD (RFC 6581).
  [[nodiscard]] bool knows_depths() const noexcept { return knows_depths_; }
  [[nodiscard]] const mpa::Framing& framing() const noexcept { return framer_.framing(); }  // ours
  [[nodiscard]] std::uint64_t position() const noexcept { return framer_.position(); }  // octets of our FPDUs up to now

  // --- FPDUs
  Messages& make() noexcept { return messages_; }  // well-formed ULPDUs, numbered
  std::vector<std::byte> fpdu(Bytes ulpdu,
                              const FpduFault& fault = {});  // framed, not sent; counts its place in the stream
  void send_ulpdu(Bytes ulpdu, const FpduFault& fault = {});
  // The peer's IRD, where the startup has told one. A case that has more Requests outstanding does not apply, unless it
  // has called exceed_ird().
  [[nodiscard]] std::optional<std::size_t> peer_ird() const noexcept {
    return unasked_.peer_ird() == Unasked::kMostKnown ? std::nullopt : std::optional(unasked_.peer_ird());
  }
  void exceed_ird() noexcept { out_.exceeds = true; }
  // The next FPDU is what the verdict is about; so is one that is framed with a fault.
  void about_next() noexcept { about_next_ = true; }
  // Returns what happens next, within `limit`. An untagged message comes as one FPDU, however the peer has cut it. Of
  // what a part has come, the rest is waited for.
  Came next_any(PeerFpdu& fpdu, Duration limit);
  // The same, but skips FPDUs that a peer may send at any time (Unasked) and that are not `wanted`, and answers the
  // Requests among them. Before the stream is established nothing is skipped. Without `wanted`, answers to the prober's
  // own Requests are not skipped.
  Came next(PeerFpdu& fpdu, Duration limit, const Wanted& wanted = {});
  // Returns the next FPDU, whatever it is. Fails if the stream ends or nothing arrives within `limit`, or else the
  // patience.
  PeerFpdu expect_fpdu(const std::string& what, std::optional<Duration> limit = {});
  // Returns the next FPDU of this opcode, and `wanted` if that is given; skips as next() does.
  // With `unless_closed` the end of the connection is no fault, but the reason why the case does not apply.
  PeerFpdu expect_message(rdmap::Opcode opcode, const char* unless_closed = nullptr, const Wanted& wanted = {});
  // Any Read Request.
  rdmap::ReadRequest expect_read_request();
  // One with octets, or one without where `size` is 0.
  rdmap::ReadRequest expect_read_request(std::uint32_t size);
  // A message of this opcode and size, in one or several segments. Messages of other sizes are skipped; Writes count by
  // their STag and TO.
  // `check` sees each of its segments.
  void expect_whole(rdmap::Opcode opcode, std::size_t size, ddp::TaggedOffset target = {},
                    const std::function<void(const PeerFpdu&)>& check = {});
  // All segments of a Read Response to our request; its payload. `sink` and `offset` as we asked.
  std::vector<std::byte> expect_read_response(ddp::Stag sink, ddp::TaggedOffset offset, std::size_t size);

  // --- Reactions
  // The peer ends the stream by a Terminate with one of these errors, then ends the connection. `offending`: the ULPDU
  // that it quotes, where it quotes one: its headers have to be those. Other FPDUs of the peer's before it are skipped.
  // siw's layout of the Terminate is read as it is meant: the auditor's rules tell of it.
  // One of the `tolerated` errors is a warning: it says what was wrong, and there is a code that says it better.
  rdmap::Terminate expect_terminate(std::initializer_list<rdmap::ErrorCode> any_of, Bytes offending = {});
  rdmap::Terminate expect_terminate(const std::vector<rdmap::ErrorCode>& any_of, Bytes offending = {},
                                    const std::vector<rdmap::ErrorCode>& tolerated = {});
  // As expect_terminate(), for an error of MPA. The end of the connection without a Terminate is a warning: the
  // Terminate is a SHOULD.
  void expect_terminate_or_end(const std::vector<rdmap::ErrorCode>& any_of);
  // Expects FIN or RST, without preceding octets.
  void expect_end(const std::string& why);
  // Expects FIN or RST within the time, after a Terminate together with our FIN; preceding octets are ignored.
  void expect_end_sometime(const std::string& why, Duration limit);
  // Expects no end for this time, and no octets: on an established stream nothing but what a peer may send at any time.
  // `breach` says what of that is too much.
  void expect_silence(Duration limit, const std::string& why, const Wanted& breach = {});
  // Checks that the peer is alive: it must answer an RDMA Read of no octets. Every responder whose IRD is not 0 permits
  // it, without an STag (RDMAP-5.2.1-14). Octets in the response are a violation that rule RDMAP-5.2.1-15 reports once,
  // not each case that checks.
  void expect_empty_read();

  // Returns raw octets of the peer that were not read as frames. Reads up to `limit` or `size`.
  std::vector<std::byte> octets(std::size_t size, Duration limit);

  [[nodiscard]] const Exchange& exchange() const noexcept { return exchange_; }
  Exchange& exchange() noexcept { return exchange_; }
  // Returns violations that do not decide the case: reported as warnings if it passes.
  [[nodiscard]] const std::vector<std::string>& warnings() const noexcept { return warnings_; }
  // Sets a deadline after which calls that wait for the peer fail, even if it sends slowly, so that each case ends.
  void end_by(Instant end) noexcept { end_by_ = end; }
  [[nodiscard]] Duration patience() const noexcept { return learned_->patience(patience_); }
  // Returns the time from what the prober sent last to the first octets after it, if any have come.
  [[nodiscard]] std::optional<Duration> answered_in() const noexcept { return timer_.answered_in; }
  // The case leaves this Request, the last FPDU received, to the conversation.
  void leave(const PeerFpdu& fpdu) {
    if (in_.anytime) unasked_.skip(fpdu);
  }
  [[nodiscard]] Socket& socket() const {
    if (!socket_) not_applicable(std::string(kOneAtATime));
    return *socket_;
  }
  // Keeps an object alive until the socket of this conversation is closed: the process of a peer that was started for
  // it.
  void keep(std::shared_ptr<void> what) noexcept { kept_alive_ = std::move(what); }

 private:
  // Returns the time that a peer, or a path, that is slower has for as many octets as it sends.
  [[nodiscard]] static Duration time_for(std::size_t octets) noexcept {
    return std::chrono::microseconds(5) * static_cast<Duration::rep>(octets);
  }
  bool read_some(Instant deadline);
  [[nodiscard]] Bytes unread() const noexcept { return Bytes(in_.octets).subspan(in_.taken); }
  void consume(std::size_t octets);
  [[nodiscard]] bool is_established() const noexcept;
  void answer_what_is_due();
  void note(Part::Kind kind, bool from_peer, Bytes octets = {});
  Came next_terminate(PeerFpdu& fpdu);  // skips other FPDUs
  rdmap::Terminate take_terminate(const PeerFpdu& fpdu, const std::vector<rdmap::ErrorCode>& any_of, Bytes offending,
                                  const std::vector<rdmap::ErrorCode>& tolerated);
  void check_quote(const rdmap::Terminate& terminate, Bytes offending);
  // Octets of the peer's Read Response, to its last segment; more than `most` fail.
  std::vector<std::byte> read_response(ddp::Stag sink, ddp::TaggedOffset offset, std::size_t most);

  std::shared_ptr<void> kept_alive_{};
  std::shared_ptr<Learned> learned_;
  std::unique_ptr<Socket> socket_;
  Duration patience_;
  Duration first_fpdu_delay_{};
  Instant opened_;
  std::optional<Instant> end_by_{};
  Exchange exchange_{};
  Messages messages_{};
  Framer framer_{};
  std::optional<FrameReader> reader_{};
  Unasked unasked_{};
  // The peer's direction.
  struct Inbound {
    std::vector<std::byte> octets{};  // received; `taken` of them are consumed
    std::size_t taken = 0;
    std::size_t received = 0;  // in all
    std::uint64_t fpdus = 0;
    Segments segments{};
    bool anytime = false;  // the last message may come at any time
  } in_{};
  // The prober's.
  struct Outbound {
    std::uint64_t sent = 0;        // octets after the startup
    std::uint64_t first_ends = 0;  // position after the first FPDU, once it is framed
    bool broken = false;           // an FPDU was sent that a receiver may refuse
    bool shut = false;             // the FIN was sent
    bool exceeds = false;          // the peer's IRD, on purpose
  } out_{};
  // What was sent last, if nothing has come since; else how long that took.
  struct Timer {
    std::optional<Instant> asked_at{};
    std::optional<Duration> answered_in{};
  } timer_{};
  std::size_t kept_ = 0;              // octets noted in exchange_
  Part::Kind ended_ = Part::kOctets;  // how the peer's direction ended, if not kOctets
  bool knows_depths_ = true;
  std::uint64_t fpdus_ = 0;          // framed
  std::uint64_t start_up_size_ = 0;  // octets of ours before the first FPDU
  bool about_next_ = false;
  std::vector<std::string> warnings_{};
};

}  // namespace weft::probe
