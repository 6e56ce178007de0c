// SPDX-License-Identifier: Apache-2.0
// Rules of the startup that only show in the whole: who may send first, and how it ends when it fails.
#include <catch2/catch.hpp>

#include "tests/engine/rogue.hpp"

namespace weft::engine::test::startup_clauses {
namespace {

using rdmap::Opcode;

mpa::StartupFrame request(std::optional<mpa::EnhancedData> enhanced = {}) {
  mpa::StartupFrame frame{.kind = mpa::FrameKind::kRequest, .crc = true, .revision = 1};
  if (enhanced) frame.revision = 2;
  frame.enhanced = enhanced;
  return frame;
}
mpa::StartupFrame reply(std::optional<mpa::EnhancedData> enhanced = {}) {
  mpa::StartupFrame frame = request(enhanced);
  frame.kind = mpa::FrameKind::kReply;
  return frame;
}

// A responder that has accepted a Request and has work to send.
struct EagerResponder : Rogue {
  EagerResponder() {
    send_frame(request());
    require(end.engine.accept({}, {}).has_value(), "accept");
    require(end.engine.post({.cookie = 1, .operation = Operation::kWrite}).has_value(), "post");
  }
};

TEST_CASE("A responder sends nothing but its Reply before the first valid FPDU", "[MPA-7.1.2-17][MPA-7.1.3-03]") {
  EagerResponder rogue;
  rogue.flush();
  CHECK(rogue.end.sent.size() == mpa::kFixedFrameSize);
  rogue.wait(std::chrono::hours(1));
  rogue.flush();
  CHECK(rogue.end.sent.size() == mpa::kFixedFrameSize);
  rogue.tagged(Opcode::kWrite, 0, 0);
  rogue.flush();
  CHECK(rogue.end.sent.size() == mpa::kFixedFrameSize + 20);
}

TEST_CASE("An initiator that closes without an FPDU ends the connection, whatever the responder has to send",
          "[MPA-7.1.2-17]") {
  EagerResponder rogue;
  rogue.flush();
  rogue.fin();
  rogue.flush();
  CHECK(rogue.end.sent.size() == mpa::kFixedFrameSize);
  CHECK(rogue.end.count<SendCompleted>() == 1);
  CHECK(rogue.end.first<SendCompleted>()->status == WorkStatus::kFlushed);
  CHECK(rogue.end.engine.disposition() == Disposition::kClose);
  CHECK(rogue.end.count<Closed>() == 1);
}

TEST_CASE("A first FPDU that is not valid leaves the fence up: no Terminate, a plain close",
          "[MPA-7.1.2-17][MPA-8-13]") {
  EagerResponder rogue;
  rogue.flush();
  Octets fpdu = rogue.fpdu(Rogue::ulpdu(ddp::TaggedHeader{true, 0x40, {}, {}}, {}));
  fpdu.back() ^= std::byte{1};
  rogue.send(fpdu);
  rogue.flush();
  CHECK(rogue.end.sent.size() == mpa::kFixedFrameSize);
  CHECK_FALSE(rogue.end.first<ProtocolError>()->terminate_sent);
  CHECK(rogue.end.engine.disposition() == Disposition::kClose);
  CHECK(rogue.end.first<SendCompleted>()->status == WorkStatus::kFlushed);
  CHECK(rogue.end.count<Closed>() == 1);
}

TEST_CASE("A first FPDU that only DDP refuses is valid for MPA and may be answered", "[MPA-7.1.2-17][DDP-6.2.2-06]") {
  Rogue rogue;
  rogue.send_frame(request());
  require(rogue.end.engine.accept({}, {}).has_value(), "accept");
  rogue.flush();
  const std::size_t reply_end = rogue.end.sent.size();
  rogue.tagged(Opcode::kWrite, 99, 0, pattern(8));
  rogue.flush();
  CHECK(rogue.end.sent.size() > reply_end);
  CHECK(rogue.end.first<ProtocolError>()->terminate_sent);
}

TEST_CASE("An initiator sends nothing before the Reply, and posts are refused",
          "[MPA-7.1.2-13][MPA-7.1.2-24][MPA-7.1-07][SEC-4-01]") {
  Rogue rogue(initiator());
  require(rogue.end.engine.connect({}).has_value(), "connect");
  rogue.flush();
  const std::size_t request_size = rogue.end.sent.size();
  CHECK(rogue.end.engine.post({.operation = Operation::kWrite}).error() == PostError::kNotConnected);
  rogue.flush();
  CHECK(rogue.end.sent.size() == request_size);
}

// An initiator that its user makes wait between the Reply and its first FPDU. It is established all the same.
struct PatientInitiator : Rogue {
  static constexpr Duration kDelay = std::chrono::milliseconds(50);
  static Config config(bool peer_to_peer) {
    Config config = initiator();
    config.mpa.peer_to_peer = peer_to_peer;
    config.first_fpdu_delay = kDelay;
    return config;
  }
  explicit PatientInitiator(bool peer_to_peer = false) : Rogue(config(peer_to_peer)) {
    require(end.engine.connect({}).has_value(), "connect");
    flush();
    wait(std::chrono::seconds(1));
    begin = end.sent.size();
    const mpa::RtrTypes rtr{false, peer_to_peer, false};
    send_frame(reply(mpa::EnhancedData{.peer_to_peer = peer_to_peer, .rtr = rtr, .ird = 8, .ord = 8}));
    require(end.count<Established>() == 1, "established");
  }
  [[nodiscard]] std::size_t fpdu_octets() {
    flush();
    return end.sent.size() - begin;
  }
  void write() { require(end.engine.post({.operation = Operation::kWrite}).has_value(), "post"); }
  std::size_t begin{};  // of the FPDUs
};
constexpr std::size_t kEmptyWrite = 20;

TEST_CASE("An initiator's first FPDU can be made to wait, the ready-to-receive message too", "[MPA2-5-03]") {
  const bool peer_to_peer = GENERATE(false, true);
  PatientInitiator rogue(peer_to_peer);
  rogue.write();
  CHECK(rogue.fpdu_octets() == 0);
  CHECK_FALSE(rogue.end.engine.has_output());
  CHECK(rogue.end.engine.next_deadline() == rogue.now + PatientInitiator::kDelay);
  rogue.wait(PatientInitiator::kDelay - Duration(1));
  CHECK(rogue.fpdu_octets() == 0);
  rogue.wait(Duration(1));
  CHECK(rogue.end.engine.has_output());
  CHECK(rogue.fpdu_octets() == (peer_to_peer ? 2 : 1) * kEmptyWrite);
  CHECK_FALSE(rogue.end.engine.next_deadline());
  rogue.write();
  CHECK(rogue.fpdu_octets() == (peer_to_peer ? 3 : 2) * kEmptyWrite);  // only the first waits
}

TEST_CASE("What waits for its time goes out before a close, and is flushed by an abort", "[DDP-6.2.1-02]") {
  PatientInitiator rogue;
  rogue.write();
  SECTION("close") {
    rogue.end.engine.close(rogue.now);
    CHECK(rogue.fpdu_octets() == 0);
    CHECK(rogue.end.engine.disposition() == Disposition::kOpen);
    rogue.wait(PatientInitiator::kDelay);
    CHECK(rogue.fpdu_octets() == kEmptyWrite);
    CHECK(rogue.end.first<SendCompleted>()->status == WorkStatus::kSuccess);
    CHECK(rogue.end.engine.disposition() == Disposition::kShutdownWrite);
  }
  SECTION("abort") {
    rogue.end.engine.abort(rogue.now);
    rogue.end.poll();
    CHECK(rogue.end.first<SendCompleted>()->status == WorkStatus::kFlushed);
    CHECK_FALSE(rogue.end.engine.next_deadline());
  }
}

TEST_CASE("Without FPDUs to wait for, a close is not put off") {
  PatientInitiator rogue;
  rogue.end.engine.close(rogue.now);
  CHECK(rogue.end.engine.disposition() == Disposition::kShutdownWrite);
}

TEST_CASE("Octets after a Request that is not answered yet end the startup", "[MPA-7.1.1-25][MPA-8-09][MPA-7.1.2-04]") {
  Rogue rogue;
  rogue.send_frame(request());
  CHECK(rogue.end.count<ConnectionRequested>() == 1);
  rogue.send(pattern(1));
  CHECK(rogue.end.first<StartupFailed>()->report.clause == "MPA-7.1.1-25");
  CHECK(rogue.end.engine.disposition() == Disposition::kClose);
  CHECK(rogue.end.count<Closed>() == 1);
  CHECK_FALSE(rogue.end.engine.accept({}, {}).has_value());
}

TEST_CASE("A responder that speaks before the initiator's first FPDU is cut off", "[MPA-7.1.1-25][MPA-8-09]") {
  Rogue rogue(initiator());
  require(rogue.end.engine.connect({}).has_value(), "connect");
  rogue.flush();
  rogue.send_frame(reply(mpa::EnhancedData{.ird = 128, .ord = 128}));
  CHECK(rogue.end.count<Established>() == 1);
  rogue.tagged(Opcode::kWrite, 0, 0);
  CHECK(rogue.end.first<ProtocolError>()->report.clause == "MPA-7.1.1-25");
  CHECK_FALSE(rogue.end.first<ProtocolError>()->terminate_sent);
  CHECK(rogue.end.engine.disposition() == Disposition::kClose);
}

TEST_CASE("Both ends wait for the startup no longer than its timeout", "[MPA-7.1.2-26][MPA-7.1.2-31]") {
  SECTION("a responder for the Request") {
    Rogue rogue;
    CHECK(rogue.end.engine.next_deadline() == Instant{} + Config{}.startup_timeout);
    rogue.wait(std::chrono::seconds(11));
    CHECK(rogue.end.first<StartupFailed>()->report.clause == "MPA-7.1.2-31");
    CHECK(rogue.end.first<StartupFailed>()->report.mpa_fault == mpa::Fault::kStartupTimeout);
    CHECK(rogue.end.engine.disposition() == Disposition::kClose);
  }
  SECTION("an initiator for the Reply") {
    Rogue rogue(initiator());
    require(rogue.end.engine.connect({}).has_value(), "connect");
    CHECK(rogue.end.engine.next_deadline() == Instant{} + Config{}.startup_timeout);
    rogue.wait(std::chrono::seconds(9));
    const bool sent = GENERATE(false, true);  // the driver may have to wait for TLS first
    if (sent) rogue.flush();
    CHECK(rogue.end.engine.next_deadline() == Instant{} + Config{}.startup_timeout);
    rogue.wait(std::chrono::seconds(1));
    CHECK(rogue.end.count<StartupFailed>() == 1);
    CHECK(rogue.end.count<Closed>() == 1);
  }
  SECTION("a responder for the ready-to-receive message") {
    Rogue rogue;
    rogue.send_frame(request(mpa::EnhancedData{.peer_to_peer = true, .rtr = {false, true, false}, .ird = 1, .ord = 1}));
    require(rogue.end.engine.accept({}, {}).has_value(), "accept");
    rogue.flush();
    CHECK(rogue.end.count<Established>() == 0);
    rogue.wait(std::chrono::seconds(11));
    CHECK(rogue.end.count<StartupFailed>() == 1);
  }
  SECTION("but the user may think as long as it likes") {
    Rogue rogue;
    rogue.send_frame(request());
    CHECK_FALSE(rogue.end.engine.next_deadline());
    rogue.wait(std::chrono::hours(1));
    CHECK(rogue.end.engine.accept({}, {}).has_value());
  }
}

TEST_CASE("Two initiators find out", "[MPA-7.1.2-25][MPA-7.1-09]") {
  Rogue rogue(initiator());
  require(rogue.end.engine.connect({}).has_value(), "connect");
  rogue.send_frame(request());
  CHECK(rogue.end.first<StartupFailed>()->report.clause == "MPA-7.1.2-25");
  CHECK(rogue.end.engine.disposition() == Disposition::kClose);
}

TEST_CASE("A peer that closes at the sight of revision 2 is worth a try with revision 1", "[MPA2-10-12]") {
  Config config = initiator();
  config.mpa.revision = GENERATE(std::uint8_t{1}, std::uint8_t{2});
  Rogue rogue(config);
  require(rogue.end.engine.connect({}).has_value(), "connect");
  rogue.flush();
  rogue.fin();
  CHECK(rogue.end.first<StartupFailed>()->retry_with_revision_1 == (config.mpa.revision == 2));
}

// --- Peer-to-peer

struct PeerToPeerInitiator : Rogue {
  explicit PeerToPeerInitiator(mpa::EnhancedData answer) : Rogue(peer_to_peer()) {
    require(end.engine.connect({}).has_value(), "connect");
    flush();
    answer.peer_to_peer = true;
    send_frame(reply(answer));
  }
  static Config peer_to_peer() {
    Config config = initiator();
    config.mpa.peer_to_peer = true;
    return config;
  }
};

TEST_CASE("The ready-to-receive message goes before all else", "[MPA2-5-03][MPA2-9.2-12][MPA2-5-05][MPA2-1.1-01]") {
  PeerToPeerInitiator rogue({.rtr = {false, true, false}, .ird = 8, .ord = 8});
  rogue.end.events.clear();
  require(rogue.end.engine.post({.cookie = 1, .operation = Operation::kSend}).has_value(), "post");
  const std::size_t before = rogue.end.sent.size();
  rogue.flush();
  CHECK(rogue.end.sent.size() == before + 20 + 24);  // the zero-length Write, then the Send
  CHECK(rogue.end.sent[before + 3] == std::byte{0x40});
  CHECK(rogue.end.sent[before + 20 + 3] == std::byte{0x43});
  CHECK(rogue.end.count<SendCompleted>() == 1);
}

TEST_CASE("A Send as ready-to-receive message takes MSN 1 and a receive", "[MPA2-9.2-12][RDMAP-5.3-11][DDP-4.3-11]") {
  Config a = initiator(), b = responder();
  a.mpa.peer_to_peer = true;
  a.mpa.rtr = {true, false, false};
  b.mpa.rtr = {true, false, false};
  Pair pair(a, b);
  establish_startup(pair);
  CHECK(pair.b.last.want == ReceiveResult::Want::kReceive);
  pair.b.memory.post_receive(5, 0);
  pair.run();
  CHECK(pair.b.first<Received>()->cookie == 5);
  pair.b.memory.post_receive(6, 0);
  require(pair.a.engine.post({.operation = Operation::kSend}).has_value(), "post");
  pair.run();
  CHECK(pair.b.all<Received>().back().cookie == 6);  // MSN 2 was accepted
}

TEST_CASE("No common ready-to-receive type: Terminate 2/0/07, then close",
          "[MPA2-9.2-13][MPA2-9.2-14][MPA2-9.3-03][MPA2-8-01]") {
  PeerToPeerInitiator rogue({.rtr = {true, false, false}, .ird = 8, .ord = 8});  // we offer Write and Read
  rogue.flush();
  REQUIRE(rogue.end.count<StartupFailed>() == 1);
  CHECK(rogue.end.first<StartupFailed>()->report.code == 7);
  CHECK(rogue.end.count<Established>() == 0);
  const Octets last(rogue.end.sent.end() - 28, rogue.end.sent.end());
  CHECK(last[3] == std::byte{0x47});
  CHECK(last[20] == std::byte{0x20});
  CHECK(last[21] == std::byte{0x07});
  CHECK(rogue.end.engine.disposition() == Disposition::kShutdownWrite);
}

TEST_CASE("An ORD that we cannot serve: Terminate 2/0/06, then close", "[MPA2-9.1-15][MPA2-9.1-16][MPA2-8-01]") {
  PeerToPeerInitiator rogue({.rtr = {false, true, true}, .ird = 8, .ord = 0x3FFE});
  rogue.flush();
  CHECK(rogue.end.first<StartupFailed>()->report.code == 6);
  const Octets last(rogue.end.sent.end() - 28, rogue.end.sent.end());
  CHECK(last[20] == std::byte{0x20});
  CHECK(last[21] == std::byte{0x06});
}

TEST_CASE("The initiator keeps no more Reads outstanding than the responder's IRD", "[MPA2-9.1-14][RDMAP-6.1-08]") {
  PeerToPeerInitiator rogue({.rtr = {false, true, false}, .ird = 1, .ord = 8});
  CHECK(rogue.end.first<Established>()->ord == 1);
  const std::size_t before = rogue.end.sent.size();
  for (int i = 0; i < 3; ++i) require(rogue.end.engine.post({.operation = Operation::kRead}).has_value(), "post");
  rogue.flush();
  CHECK(rogue.end.sent.size() == before + 20 + 52);
}

TEST_CASE("What the responder's ULP knows of the Request", "[MPA2-9.1-07][MPA-7.1.1-22][MPA-7.1.1-27][MPA-7.1-08]") {
  Rogue rogue;
  auto frame = request(mpa::EnhancedData{.ird = 3, .ord = 4});
  const auto private_data = pattern(20);
  frame.private_data = private_data;
  rogue.send_frame(frame);
  const auto asked = *rogue.end.first<ConnectionRequested>();
  CHECK(asked.peer_ird == 3);
  CHECK(asked.peer_ord == 4);
  CHECK(asked.revision == 2);
  CHECK(asked.private_data == private_data);
  CHECK(rogue.end.count<Established>() == 0);  // it is for the ULP to say
  require(rogue.end.engine.accept({}, {}).has_value(), "accept");
  rogue.end.poll();
  CHECK(rogue.end.count<Established>() == 1);
}

TEST_CASE("A rejected initiator hears the responder's limits", "[MPA2-9.1-17][MPA-7.1.2-15][MPA-7.1.4.2-03]") {
  Rogue rogue(initiator());
  require(rogue.end.engine.connect({}).has_value(), "connect");
  auto frame = reply(mpa::EnhancedData{.ird = 3, .ord = 4});
  frame.reject = true;
  rogue.send_frame(frame);
  CHECK(rogue.end.first<Rejected>()->peer_ird == 3);
  CHECK(rogue.end.first<Rejected>()->peer_ord == 4);
  CHECK(rogue.end.count<Closed>() == 1);
  CHECK(rogue.end.engine.disposition() == Disposition::kClose);
}

TEST_CASE("A frame that is none ends the startup as the loss of the connection does", "[MPA-8-10]") {
  Rogue rogue(GENERATE(initiator(), responder()));
  static_cast<void>(rogue.end.engine.connect({}));
  rogue.flush();
  const std::size_t before = rogue.end.sent.size();
  if (GENERATE(false, true)) {
    rogue.send(pattern(100));
  } else {
    rogue.fin();
  }
  rogue.flush();
  CHECK(rogue.end.count<StartupFailed>() == 1);
  CHECK(rogue.end.count<Closed>() == 1);
  CHECK(rogue.end.engine.disposition() == Disposition::kClose);
  CHECK(rogue.end.sent.size() == before);  // no Terminate
}

TEST_CASE("Each direction has Markers as its receiver asked", "[MPA-7.1.1-07][MPA-7.1.1-08][MPA-4.3-11]") {
  Config a = initiator(), b = responder();
  a.mpa.markers = GENERATE(false, true);
  b.mpa.markers = GENERATE(false, true);
  Pair pair(a, b);
  establish(pair);
  require(pair.b.engine.post({.operation = Operation::kWrite}).has_value(), "post");
  pair.run();
  const std::size_t startup = mpa::kFixedFrameSize + mpa::kEnhancedDataSize;
  CHECK(pair.a.sent.size() == startup + 20 + (b.mpa.markers ? 4 : 0));
  CHECK(pair.b.sent.size() == startup + 20 + (a.mpa.markers ? 4 : 0));
}

TEST_CASE("Either end can ask for CRCs in both directions", "[MPA-7.1.1-11]") {
  Config a = initiator(), b = responder();
  a.mpa.crc = GENERATE(false, true);
  b.mpa.crc = GENERATE(false, true);
  Pair pair(a, b);
  establish(pair);
  CHECK(pair.a.first<Established>()->crc == (a.mpa.crc || b.mpa.crc));
  CHECK(pair.b.first<Established>()->crc == (a.mpa.crc || b.mpa.crc));
}

TEST_CASE("The ULP hears of a rejection when the peer read it", "[MPA-7.1.2-05][MPA-7.1.2-06][MPA-7.1.4.2-02]") {
  Rogue rogue;
  rogue.send_frame(request());
  require(rogue.end.engine.reject(pattern(3)).has_value(), "reject");
  rogue.flush();
  CHECK(rogue.end.sent.size() == mpa::kFixedFrameSize + 3);
  CHECK(rogue.end.engine.disposition() == Disposition::kOpen);  // the peer is to close first
  rogue.send(pattern(5));                                       // what it says in between is not MPA's
  CHECK(rogue.end.engine.disposition() == Disposition::kOpen);
  rogue.fin();
  CHECK(rogue.end.engine.disposition() == Disposition::kClose);
  CHECK(rogue.end.first<Closed>()->graceful);
  CHECK(rogue.end.count<StartupFailed>() == 0);
}

TEST_CASE("A rejected peer that takes no octet is waited for no longer than close_timeout", "[MPA-7.1.4.2-02]") {
  Rogue rogue;
  rogue.send_frame(request());
  require(rogue.end.engine.reject(pattern(3)).has_value(), "reject");
  rogue.end.engine.fill(rogue.end.batch, rogue.now);
  CHECK(rogue.end.engine.next_deadline() == rogue.now + Config{}.close_timeout);
  rogue.wait(Config{}.close_timeout);
  CHECK(rogue.end.engine.disposition() == Disposition::kReset);
  CHECK(rogue.end.count<Closed>() == 1);
}

TEST_CASE("A rejected peer that does not close is waited for no longer than close_timeout",
          "[MPA-7.1.2-07][MPA-7.1.4.2-02]") {
  Rogue rogue;
  rogue.send_frame(request());
  require(rogue.end.engine.reject(pattern(3)).has_value(), "reject");
  CHECK_FALSE(rogue.end.engine.next_deadline());  // the Reply has not left
  rogue.flush();
  CHECK(rogue.end.engine.next_deadline() == rogue.now + Config{}.close_timeout);
  rogue.wait(std::chrono::seconds(3));
  rogue.send(pattern(5));  // the deadline stays
  CHECK(rogue.end.engine.disposition() == Disposition::kOpen);
  rogue.wait(std::chrono::seconds(3));
  CHECK(rogue.end.engine.disposition() == Disposition::kClose);
  CHECK_FALSE(rogue.end.first<Closed>()->graceful);
}

}  // namespace
}  // namespace weft::engine::test::startup_clauses
