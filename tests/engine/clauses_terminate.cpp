// SPDX-License-Identifier: Apache-2.0
// Errors: one Terminate, in its place, saying the right thing; then nothing. And what a peer's Terminate does.
#include <catch2/catch.hpp>

#include "common/crc32c.hpp"
#include "tests/engine/rogue.hpp"

namespace weft::engine::test::terminate_clauses {
namespace {

using rdmap::Opcode;

struct Stream : Rogue {
  explicit Stream(Config config = responder()) : Rogue(config) {
    end.memory.add(1, 1000);
    establish();
    heard();
  }
  void post(WorkRequest request) { require(end.engine.post(request).has_value(), "post"); }
  void terminate_it(const rdmap::Terminate& message) {
    Octets payload(rdmap::TerminateLayout::kLongest);
    payload.resize(rdmap::serialize(message, payload));
    untagged(Opcode::kTerminate, 1, payload);
  }
};

constexpr rdmap::LocalSegment kAll{0, 1000, 1};
const rdmap::ErrorCode kBounds = rdmap::error_code(ddp::TaggedError::kBaseOrBounds);

TEST_CASE("Nothing follows a Terminate: no work, no response", "[RDMAP-5.4-10][RDMAP-5.4-09][DDP-3-10][DDP-7.1-21]") {
  Stream rogue;
  rogue.read_request(1, {{7}, {0}, 8, {1}, {0}});
  rogue.tagged(Opcode::kWrite, 99, 0, pattern(8));
  for (std::uint64_t i = 1; i <= 2; ++i) CHECK_FALSE(rogue.end.engine.post(write_of(i, kAll, 9, 0)).has_value());
  REQUIRE(rogue.terminate());
  CHECK(rogue.heard().empty());
}

TEST_CASE("A Terminate waits for the end of the message under way, not longer",
          "[RDMAP-5.4-10][DDP-5.3-01][DDP-5.4-03][RDMAP-6.2.1-01]") {
  Config config = responder();
  config.emss = 200;
  Stream rogue(config);
  rogue.post(write_of(1, kAll, 9, 0));
  rogue.post(write_of(2, kAll, 9, 0));
  TransmitBatch small(250);
  rogue.end.engine.fill(small, rogue.now);  // one FPDU of the first Write
  rogue.end.sent.insert(rogue.end.sent.end(), small.pieces()[0].begin(), small.pieces()[0].end());
  rogue.end.engine.written(small.size(), rogue.now);
  rogue.tagged(Opcode::kWrite, 99, 0, pattern(8));
  const auto all = rogue.heard();
  std::size_t writes = 0;
  for (const Heard& one : all)
    writes += one.opcode == Opcode::kWrite && std::get<ddp::TaggedHeader>(one.header).last ? 1 : 0;
  CHECK(writes == 1);
  CHECK(all.back().opcode == Opcode::kTerminate);
  const auto done = rogue.end.all<SendCompleted>();
  REQUIRE(done.size() == 2);
  CHECK(done[0].status == WorkStatus::kSuccess);
  CHECK(done[1].status == WorkStatus::kFlushed);
}

TEST_CASE("The first error is the one that is told", "[RDMAP-7.1-05][DDP-7.1-20][MPA-8-13]") {
  Stream rogue;
  rogue.tagged(Opcode::kWrite, 1, 999, pattern(8));
  rogue.untagged(Opcode::kSend, 7, pattern(8));
  const auto terminate = rogue.terminate();
  REQUIRE(terminate);
  CHECK(terminate->error == kBounds);
  CHECK(rogue.end.count<ProtocolError>() == 1);
}

TEST_CASE("After an error all later segments are dropped in silence", "[DDP-7.1-20][MPA-8-13]") {
  Stream rogue;
  rogue.tagged(Opcode::kWrite, 99, 0, pattern(8));
  rogue.end.memory.post_receive(1, 64);
  const auto placed = rogue.end.memory.octets_placed;
  rogue.tagged(Opcode::kWrite, 1, 0, pattern(8));
  rogue.untagged(Opcode::kSend, 1, pattern(8));
  CHECK(rogue.end.memory.octets_placed == placed);
  CHECK(rogue.end.count<Received>() == 0);
}

TEST_CASE("The quoted header is the one that came, octet by octet", "[RDMAP-4.8-15][RDMAP-4.8-13][DDP-7.1-19]") {
  Stream rogue;
  Octets ulpdu = Rogue::ulpdu(ddp::TaggedHeader{true, rdmap::control_octet(Opcode::kWrite), {99}, {5}}, pattern(8));
  ulpdu[0] |= std::byte{0x3C};  // reserved bits
  rogue.send(rogue.fpdu(ulpdu));
  const auto terminate = rogue.terminate();
  REQUIRE(terminate);
  CHECK(std::ranges::equal(terminate->ddp_header->octets(), std::span(ulpdu).first(14)));
  CHECK(terminate->segment_length == 22);
}

TEST_CASE("A refused Read Request is returned unchanged", "[RDMAP-4.8-20][RDMAP-7.1-04]") {
  Stream rogue;
  const rdmap::ReadRequest asked{{7}, {0x70}, 8, {99}, {3}};
  rogue.read_request(1, asked);
  const auto terminate = rogue.terminate();
  REQUIRE(terminate);
  CHECK(terminate->read_request == asked);
}

TEST_CASE("A Read that fails half way is returned as what is left of it",
          "[RDMAP-4.8-21][RDMAP-8.1.1-06][RDMAP-4.8-15]") {
  Config config = responder();
  config.emss = 200;
  Stream rogue(config);
  Octets request(rdmap::ReadRequestLayout::kSize);
  rdmap::serialize(rdmap::ReadRequest{{7}, {0x70}, 1000, {1}, {0}}, request);
  Octets ulpdu = Rogue::ulpdu(ddp::UntaggedHeader{true, 0x41, 0, 1, {1}, {0}}, request);
  ulpdu[0] |= std::byte{0x3C};  // reserved bits, which are quoted, too
  rogue.send(rogue.fpdu(ulpdu));
  TransmitBatch small(250);
  rogue.end.engine.fill(small, rogue.now);
  rogue.end.sent.insert(rogue.end.sent.end(), small.pieces()[0].begin(), small.pieces()[0].end());
  rogue.end.engine.written(small.size(), rogue.now);
  rogue.end.memory.regions()[1].valid = false;  // revoked
  const auto all = rogue.heard();
  REQUIRE(all.size() == 2);
  const auto sent = static_cast<std::uint32_t>(all[0].payload.size());
  const auto report = rdmap::parse_terminate(all[1].payload);
  REQUIRE(report);
  CHECK(report->as_rfc.error == rdmap::error_code(rdmap::ProtectionError::kInvalidStag));
  CHECK(report->as_rfc.read_request == rdmap::ReadRequest{{7}, {0x70 + sent}, 1000 - sent, {1}, {sent}});
  REQUIRE(report->as_rfc.ddp_header);
  CHECK(std::ranges::equal(report->as_rfc.ddp_header->octets(), std::span(ulpdu).first(18)));
  CHECK(report->as_rfc.segment_length == 46);
}

TEST_CASE("An Atomic Request that fails is quoted as its last segment came", "[RDMAP-4.8-13][RDMAP-4.8-15]") {
  Stream rogue;
  Octets payload(rdmap::AtomicRequestLayout::kSize);
  rdmap::serialize(rdmap::AtomicRequest{{}, 1, {99}, {0}}, payload);
  rogue.untagged(Opcode::kAtomicRequest, 1, {payload.begin(), payload.begin() + 20}, 0, false);
  Octets ulpdu = Rogue::ulpdu(ddp::UntaggedHeader{true, rdmap::control_octet(Opcode::kAtomicRequest), 0, 1, {1}, {20}},
                              {payload.begin() + 20, payload.end()});
  ulpdu[0] |= std::byte{0x3C};
  rogue.send(rogue.fpdu(ulpdu));
  const auto terminate = rogue.terminate();
  REQUIRE(terminate);
  CHECK(terminate->error == rdmap::error_code(rdmap::ProtectionError::kInvalidStag));
  REQUIRE(terminate->ddp_header);
  CHECK(std::ranges::equal(terminate->ddp_header->octets(), std::span(ulpdu).first(18)));
  CHECK(terminate->segment_length == 18 + 32);
}

TEST_CASE("A fault of our own buffers: the work request says so, the peer hears of a local catastrophe",
          "[RDMAP-7.1-01][RDMAP-7.1-02][RDMAP-4.8-37]") {
  Stream rogue;
  const rdmap::LocalSegment gone{0, 8, 77};
  rogue.post(write_of(1, gone, 9, 0));
  rogue.post(send_of(2, kAll));
  const auto terminate = rogue.terminate();
  REQUIRE(terminate);
  CHECK(terminate->error == rdmap::kLocalCatastrophic);
  CHECK_FALSE(terminate->ddp_header);
  CHECK_FALSE(terminate->segment_length);
  const auto done = rogue.end.all<SendCompleted>();
  REQUIRE(done.size() == 2);
  CHECK(done[0].status == WorkStatus::kLocalProtection);
  CHECK(done[1].status == WorkStatus::kFlushed);
  CHECK(rogue.end.count<ProtocolError>() == 0);  // the peer did nothing wrong
}

TEST_CASE("A receive that its owner took away is our fault, not the peer's", "[RDMAP-7.1-01][RDMAP-4.8-37]") {
  Stream rogue;
  rogue.end.memory.post_receive(4, 64);
  rogue.end.memory.fault_on_receive = true;
  rogue.untagged(Opcode::kSend, 1, pattern(8));
  CHECK(rogue.terminate()->error == rdmap::kLocalCatastrophic);
  CHECK(rogue.end.count<ProtocolError>() == 0);
  rogue.fin();
  CHECK(rogue.end.first<Received>()->cookie == 4);
  CHECK(rogue.end.first<Received>()->status == WorkStatus::kLocalProtection);
}

TEST_CASE("A response that does not answer its request", "[RDMAP-5.2.2-08][RDMAP-5.2.2-05][RDMAPX-5.2.2-10]") {
  Stream rogue;
  rogue.post(read_of(1, kAll, 9, 0));
  rogue.flush();
  rogue.heard();
  const auto untouched = rogue.end.memory.octets_placed;
  SECTION("another STag") {
    rogue.tagged(Opcode::kReadResponse, 5, 0, pattern(1000));
    CHECK(rogue.terminate()->error == rdmap::error_code(ddp::TaggedError::kInvalidStag));
  }
  SECTION("outside the sink") {
    rogue.tagged(Opcode::kReadResponse, 1, 1, pattern(1000));
    CHECK(rogue.terminate()->error == kBounds);
  }
  SECTION("too short") {
    rogue.tagged(Opcode::kReadResponse, 1, 0, pattern(999));
    CHECK(rogue.terminate()->error == kBounds);
  }
  SECTION("an Atomic Response") {
    rogue.untagged(Opcode::kAtomicResponse, 1, pattern(12));
    CHECK(rogue.terminate());
  }
  CHECK(rogue.end.memory.octets_placed == untouched);
  REQUIRE(rogue.end.count<SendCompleted>() == 1);
  CHECK(rogue.end.first<SendCompleted>()->status != WorkStatus::kSuccess);
}

TEST_CASE("A wrong Read Response fails the Read that it does not answer", "[RDMAP-5.2.2-08]") {
  Stream rogue;
  rogue.post(read_of(1, kAll, 9, 0));
  rogue.flush();
  rogue.tagged(Opcode::kReadResponse, 5, 0, pattern(1000));
  CHECK(rogue.end.first<SendCompleted>()->status == WorkStatus::kBadResponse);
}

TEST_CASE("Our side closes after its Terminate, with FIN",
          "[RDMAP-6.2.1-05][MPA-8-15][RDMAP-7-04][DDP-6.2-02][DDP-6.2.2-07]") {
  Stream rogue;
  rogue.tagged(Opcode::kWrite, 99, 0, pattern(8));
  CHECK(rogue.end.engine.disposition() == Disposition::kOpen);  // the Terminate first
  REQUIRE(rogue.terminate());
  CHECK(rogue.end.engine.disposition() == Disposition::kShutdownWrite);
  CHECK(rogue.end.count<Closed>() == 0);
  SECTION("and the peer answers with its own") { rogue.fin(); }
  SECTION("or does not, for too long") { rogue.wait(std::chrono::seconds(6)); }
  CHECK(rogue.end.count<Closed>() == 1);
  CHECK_FALSE(rogue.end.first<Closed>()->graceful);
  CHECK(rogue.end.engine.disposition() == Disposition::kClose);
}

TEST_CASE("A Terminate that the peer does not take is not waited for", "[RDMAP-6.2.1-02]") {
  Stream rogue;
  rogue.tagged(Opcode::kWrite, 99, 0, pattern(8));
  rogue.end.engine.fill(rogue.end.batch, rogue.now);  // and never written
  rogue.wait(std::chrono::seconds(6));
  CHECK(rogue.end.count<Closed>() == 1);
  CHECK(rogue.end.engine.disposition() == Disposition::kReset);
}

// --- The peer terminates

TEST_CASE("A Terminate is told to the user, never answered with another",
          "[RDMAP-5.4-06][RDMAP-5.4-07][RDMAP-5.4-11][RDMAP-3.2-11]") {
  Stream rogue;
  rogue.post(read_of(1, kAll, 9, 0));
  rogue.flush();
  rogue.heard();
  rogue.post(send_of(2, kAll));
  rogue.terminate_it({kBounds, {}, {}, {}});
  REQUIRE(rogue.end.count<TerminateReceived>() == 1);
  const auto got = *rogue.end.first<TerminateReceived>();
  CHECK(got.report.layer == Layer::kDdp);
  CHECK(got.report.type == 1);
  CHECK(got.report.code == 1);
  CHECK_FALSE(got.known_departure);
  CHECK(rogue.heard().empty());
  CHECK(rogue.end.engine.disposition() == Disposition::kShutdownWrite);
  const auto done = rogue.end.all<SendCompleted>();  // RDMAP-6.2.1-03
  REQUIRE(done.size() == 2);
  CHECK(done[0].status == WorkStatus::kFlushed);
  CHECK(done[1].status == WorkStatus::kFlushed);
  rogue.fin();
  CHECK(rogue.end.count<Closed>() == 1);
}

TEST_CASE("An invalid Terminate is told to the user, and not answered with another", "[RDMAP-5.4-08][RDMAP-5.4-11]") {
  Stream rogue;
  rogue.post(read_of(1, kAll, 9, 0));
  rogue.flush();
  rogue.heard();
  rogue.post(send_of(2, kAll));
  SECTION("too short") { rogue.untagged(Opcode::kTerminate, 1, pattern(3)); }
  SECTION("the second of the stream") { rogue.untagged(Opcode::kTerminate, 2, pattern(4)); }
  SECTION("longer than any Terminate") { rogue.untagged(Opcode::kTerminate, 1, pattern(80)); }
  REQUIRE(rogue.end.count<ProtocolError>() == 1);
  CHECK_FALSE(rogue.end.first<ProtocolError>()->terminate_sent);
  CHECK(rogue.heard().empty());
  CHECK(rogue.end.engine.disposition() == Disposition::kShutdownWrite);
  const auto done = rogue.end.all<SendCompleted>();
  REQUIRE(done.size() == 2);
  CHECK(done[0].status == WorkStatus::kFlushed);
  CHECK(done[1].status == WorkStatus::kFlushed);
  rogue.fin();
  REQUIRE(rogue.end.count<Closed>() == 1);
  CHECK_FALSE(rogue.end.first<Closed>()->graceful);
}

TEST_CASE("A Terminate that quotes one of our messages tells which work request failed",
          "[RDMAP-6.2.1-03][RDMAP-3.2-04]") {
  Stream rogue;
  rogue.post(read_of(1, kAll, 9, 0));
  rogue.post(read_of(2, kAll, 9, 0));
  rogue.post(send_of(3, kAll));
  rogue.flush();
  SECTION("the second Read Request") {
    const ddp::UntaggedHeader header{true, rdmap::control_octet(Opcode::kReadRequest), 0, 1, {2}, {0}};
    rogue.terminate_it({rdmap::error_code(rdmap::ProtectionError::kInvalidStag), 46, rdmap::HeaderCopy(header), {}});
    CHECK(rogue.end.all<SendCompleted>()[1].status == WorkStatus::kRemoteAccess);
  }
  SECTION("as an operation error") {
    const ddp::UntaggedHeader header{true, rdmap::control_octet(Opcode::kReadRequest), 0, 1, {2}, {0}};
    rogue.terminate_it(
        {rdmap::error_code(rdmap::OperationError::kUnexpectedOpcode), 46, rdmap::HeaderCopy(header), {}});
    CHECK(rogue.end.all<SendCompleted>()[1].status == WorkStatus::kRemoteOperation);
  }
  const auto done = rogue.end.all<SendCompleted>();
  REQUIRE(done.size() == 3);
  CHECK(done[0].status == WorkStatus::kFlushed);
  CHECK(done[2].status != WorkStatus::kRemoteAccess);
}

// The responses that we send are not work requests, though their headers may look like those of some.
TEST_CASE("A Terminate that quotes one of our responses blames no work request", "[RDMAP-6.2.1-03]") {
  Stream rogue;
  rogue.post(read_of(1, kAll, 9, 0));
  rogue.post(write_of(2, kAll, 9, 0));
  rogue.post(send_of(3, kAll));
  TransmitBatch batch(65536);  // cut, and not yet written: none is complete
  rogue.end.engine.fill(batch, rogue.now);
  const auto blamed = [&](const ddp::Header& header) {
    rogue.terminate_it({rdmap::error_code(ddp::TaggedError::kInvalidStag), 1014, rdmap::HeaderCopy(header), {}});
    rogue.end.engine.written(batch.size(), rogue.now);
    rogue.end.poll();
    std::vector<std::uint64_t> cookies;
    for (const SendCompleted& done : rogue.end.all<SendCompleted>()) {
      if (done.status == WorkStatus::kRemoteAccess) cookies.push_back(done.cookie);
    }
    return cookies;
  };
  using Cookies = std::vector<std::uint64_t>;
  const auto tagged = [](Opcode opcode) { return ddp::TaggedHeader{true, rdmap::control_octet(opcode), {9}, {0}}; };
  const auto untagged = [](Opcode opcode, std::uint32_t queue) {
    return ddp::UntaggedHeader{true, rdmap::control_octet(opcode), 0, queue, {1}, {0}};
  };
  SECTION("a Read Response") { CHECK(blamed(tagged(Opcode::kReadResponse)) == Cookies{}); }
  SECTION("an Atomic Response") { CHECK(blamed(untagged(Opcode::kAtomicResponse, 3)) == Cookies{}); }
  SECTION("but a Write does") { CHECK(blamed(tagged(Opcode::kWrite)) == Cookies{2}); }
  SECTION("and a Send") { CHECK(blamed(untagged(Opcode::kSend, 0)) == Cookies{3}); }
}

TEST_CASE("A Terminate in siw's layout is understood and its departure named", "[RDMAP-4.8-04]") {
  Stream rogue;
  rogue.post(read_of(1, kAll, 9, 0));
  rogue.flush();
  Octets payload{std::byte{0x10}, std::byte{0}, std::byte{0x07}, std::byte{0}, std::byte{0}, std::byte{28}};
  const Octets header = Rogue::ulpdu(ddp::UntaggedHeader{true, 0x41, 0, 1, {1}, {0}}, {});
  payload.insert(payload.end(), header.begin(), header.end());
  payload.resize(payload.size() + 28);
  rogue.untagged(Opcode::kTerminate, 1, payload);
  const auto got = rogue.end.first<TerminateReceived>();
  REQUIRE(got);
  CHECK(got->known_departure);
  CHECK(got->report.layer == Layer::kRdmap);
  CHECK(got->report.type == 1);
  CHECK(rogue.end.first<SendCompleted>()->status == WorkStatus::kRemoteAccess);
}

// Octets as siw wrote them, but for STag and TO: quoted QN 1, then the size of the read where the MSN belongs.
TEST_CASE("siw's refusal of a Read names the work request by the Read Request that it quotes", "[RDMAP-4.8-04]") {
  Stream rogue;
  rogue.post(read_of(1, kAll, 9, 0));
  rogue.post(read_of(2, kAll, 10, 0));
  rogue.flush();
  const auto asked = rogue.heard();
  REQUIRE(asked.size() == 2);
  Octets payload{std::byte{0x10}, std::byte{0}, std::byte{0x07}, std::byte{0}, std::byte{0}, std::byte{0}};
  const Octets header = Rogue::ulpdu(ddp::UntaggedHeader{true, 0x41, 0, 1, {100}, {0}}, {});
  payload.insert(payload.end(), header.begin(), header.end());
  payload.insert(payload.end(), asked[0].payload.begin(), asked[0].payload.end());
  rogue.untagged(Opcode::kTerminate, 1, payload);
  const auto done = rogue.end.all<SendCompleted>();
  REQUIRE(done.size() == 2);
  CHECK(done[0].status == WorkStatus::kRemoteAccess);
  CHECK(done[1].status == WorkStatus::kFlushed);
}

TEST_CASE("Non-zero pad is tolerated and named once", "[MPA-4.1-04]") {
  Stream rogue;
  for (int i = 0; i < 3; ++i) {
    Octets fpdu = rogue.fpdu(Rogue::ulpdu(ddp::TaggedHeader{true, 0x40, {1}, {0}}, pattern(5)));
    fpdu[2 + 14 + 5] = std::byte{0xAA};
    const std::uint32_t crc = crc32c(Bytes(fpdu).first(fpdu.size() - 4));
    for (std::size_t k = 0; k < 4; ++k) fpdu[fpdu.size() - 4 + k] = static_cast<std::byte>(crc >> (8 * k) & 0xff);
    rogue.send(fpdu);
  }
  CHECK(rogue.end.count<Remark>() == 1);
  CHECK(rogue.end.count<ProtocolError>() == 0);
}

}  // namespace
}  // namespace weft::engine::test::terminate_clauses
