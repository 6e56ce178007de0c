// SPDX-License-Identifier: Apache-2.0
// One connection of the prober's, led by a case line by line. Calls block up to the case's patience; what should have come
// and did not ends the case by a Judgement that says so.
#pragma once

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
#include "probe/messages.hpp"
#include "rdmap/terminate.hpp"

namespace weft::probe {

class Socket;

// A startup frame of the peer's.
struct PeerFrame {
  mpa::StartupFrame frame{};  // private_data points into `octets`
  std::vector<std::byte> octets{};
};

// An FPDU of the peer's, its CRC right where one is due.
struct PeerFpdu {
  std::vector<std::byte> ulpdu{};
  [[nodiscard]] bool tagged() const noexcept;
  [[nodiscard]] bool last() const noexcept;
  [[nodiscard]] std::uint8_t opcode() const noexcept;  // of RDMAP; 0xFF where the ULPDU is too short
  [[nodiscard]] Bytes payload() const noexcept;        // behind the DDP header; empty where it is too short
};

// How the peer's direction went on.
enum class Came : std::uint8_t { kFpdu, kFin, kReset, kNothing };

class Conversation {
 public:
  Conversation(std::unique_ptr<Socket> socket, bool peer_opened, Duration patience);
  ~Conversation();
  Conversation(const Conversation&) = delete;
  Conversation& operator=(const Conversation&) = delete;

  // --- Octets as they are
  void send(Bytes octets);
  // Each in a TCP segment of its own, as far as the kernel goes along: cuts are places in `octets`, ascending.
  void send_in_pieces(Bytes octets, const std::vector<std::size_t>& cuts);
  void shut();   // our FIN; what comes is still read
  void reset();  // our RST

  // --- Start-up
  void send_frame(const StartUp& start_up);  // a Request, or where the peer has opened, a Reply
  PeerFrame expect_frame(mpa::FrameKind kind);
  // It was read already, and is what expect_frame() or octets() gives next.
  void give_back(PeerFrame frame);
  // Both frames are there: from now on FPDUs, framed as these two say. `ours` is what we sent.
  void start_fpdus(const StartUp& ours, const mpa::StartupFrame& peers);
  // By hand: how we frame, and how the peer does.
  void start_fpdus(mpa::Framing ours, mpa::Framing peers);
  // start_fpdus() waits for this time, for the sake of a peer that is not ready for FPDUs when it has sent its Reply.
  void delay_first_fpdu(Duration delay) noexcept { first_fpdu_delay_ = delay; }

  // The start-up said IRD and ORD (RFC 6581).
  [[nodiscard]] bool knows_depths() const noexcept { return knows_depths_; }
  [[nodiscard]] const mpa::Framing& framing() const noexcept { return framer_.framing(); }  // ours
  [[nodiscard]] std::uint64_t position() const noexcept { return framer_.position(); }  // octets of our FPDUs up to now

  // --- FPDUs
  Messages& make() noexcept { return messages_; }  // well-formed ULPDUs, numbered
  std::vector<std::byte> fpdu(Bytes ulpdu,
                              const FpduFault& fault = {});  // framed, not sent; counts its place in the stream
  void send_ulpdu(Bytes ulpdu, const FpduFault& fault = {});
  // The next thing that comes, within `limit`.
  Came next(PeerFpdu& fpdu, Duration limit);
  // The next FPDU; fails where the stream ends or nothing comes within `limit`, or else the patience.
  PeerFpdu expect_fpdu(const std::string& what, std::optional<Duration> limit = {});
  // The next one, which is not skipped over, has this opcode.
  // With `unless_closed` the end of the connection is no fault, but the reason why the case does not apply.
  PeerFpdu expect_message(rdmap::Opcode opcode, const char* unless_closed = nullptr);
  rdmap::ReadRequest expect_read_request();
  // All segments of a Read Response to our request; its payload. `sink` and `offset` as we asked. Empty Writes before it are
  // skipped.
  std::vector<std::byte> expect_read_response(ddp::Stag sink, ddp::TaggedOffset offset, std::size_t size);

  // --- Reactions
  // The peer ends the stream by a Terminate with one of these errors, then ends the connection. `offending`: the ULPDU that
  // it quotes, where it quotes one: its headers have to be those. Other FPDUs of the peer's before it are skipped.
  // siw's layout of the Terminate is read as it is meant: the auditor's rules tell of it.
  // One of the `tolerated` errors is a warning: it says what was wrong, and there is a code that says it better.
  rdmap::Terminate expect_terminate(std::initializer_list<rdmap::ErrorCode> any_of, Bytes offending = {});
  rdmap::Terminate expect_terminate(const std::vector<rdmap::ErrorCode>& any_of, Bytes offending = {},
                                    const std::vector<rdmap::ErrorCode>& tolerated = {});
  // FIN or RST, and no octet before it.
  void expect_end(const std::string& why);
  // FIN or RST within the time; octets before it do not matter.
  void expect_end_sometime(const std::string& why, Duration limit);
  // No octet and no end for this time.
  void expect_silence(Duration limit, const std::string& why);
  // The sign of life: an RDMA Read of no octets is answered. Every responder whose IRD is not 0 allows it, without an STag
  // (RDMAP-5.2.1-14). Octets in the answer are a fault that the rule RDMAP-5.2.1-15 finds: once, and not in each case that looks.
  void expect_empty_read();

  // Raw octets of the peer that came and were not taken as frames; reads up to `limit` or `size`.
  std::vector<std::byte> octets(std::size_t size, Duration limit);

  [[nodiscard]] const Exchange& exchange() const noexcept { return exchange_; }
  Exchange& exchange() noexcept { return exchange_; }
  // What is wrong and does not decide the case: told as a warning if it passes.
  [[nodiscard]] const std::vector<std::string>& warnings() const noexcept { return warnings_; }
  // Calls that wait for the peer fail from then on, however it drips: a case has an end.
  void end_by(Instant end) noexcept { end_by_ = end; }
  [[nodiscard]] Duration patience() const noexcept { return patience_; }
  [[nodiscard]] Socket& socket() noexcept { return *socket_; }
  // Lives as long as this conversation, and goes once its socket is closed: the process of a peer that was started for it.
  void keep(std::shared_ptr<void> what) noexcept { kept_alive_ = std::move(what); }

 private:
  bool read_some(Instant deadline);
  void note(Part::Kind kind, bool from_peer, Bytes octets = {});
  void check_quote(const rdmap::Terminate& terminate, Bytes offending);
  // Octets of the peer's Read Response, to its last segment; more than `most` fail.
  std::vector<std::byte> read_response(ddp::Stag sink, ddp::TaggedOffset offset, std::size_t most);

  std::shared_ptr<void> kept_alive_{};
  std::unique_ptr<Socket> socket_;
  Duration patience_;
  Duration first_fpdu_delay_{};
  Instant opened_;
  std::optional<Instant> end_by_{};
  Exchange exchange_{};
  Messages messages_{};
  Framer framer_{};
  std::optional<FrameReader> reader_{};
  std::vector<std::byte> pending_{};                        // came, and was not taken
  static constexpr std::size_t kMostReceived = 64U << 20U;  // a peer that floods ends the case
  std::size_t received_ = 0;                                // octets of the peer's
  std::size_t kept_ = 0;                                    // octets noted in exchange_
  Part::Kind ended_ = Part::kOctets;                        // how the peer's direction ended, if not kOctets
  bool knows_depths_ = true;
  bool shut_ = false;  // our FIN was sent
  std::vector<std::string> warnings_{};
};

}  // namespace weft::probe
