// SPDX-License-Identifier: Apache-2.0
// The responder of a peer-to-peer connection, from its Reply to the first message, and what an initiator hears of a
// rejection.
#include <catch2/catch.hpp>

#include "tests/engine/rogue.hpp"

namespace weft::engine::test::peer_to_peer_clauses {
namespace {

using rdmap::Opcode;

// Both ends have named Write and Read; the Reply has gone.
struct Responder : Rogue {
  Responder() {
    end.memory.add(1, 64);
    send_frame({.kind = mpa::FrameKind::kRequest,
                .crc = true,
                .revision = 2,
                .enhanced = mpa::EnhancedData{.peer_to_peer = true, .rtr = {false, true, true}, .ird = 8, .ord = 8}});
    require(end.engine.accept({}, {}).has_value(), "accept");
    flush();
    require(end.count<Established>() == 0, "the first message is awaited");
  }
  void read(std::uint32_t size) { read_request(1, {{7}, {0}, size, {1}, {0}}); }
};

TEST_CASE("A ready-to-receive message that both ends named is nothing to remark on", "[MPA2-9.2-12]") {
  Responder rogue;
  if (GENERATE(false, true)) {
    rogue.tagged(Opcode::kWrite, 0, 0);
    CHECK(rogue.end.first<Established>()->rtr == mpa::Rtr::kWrite);
  } else {
    rogue.read(0);
    CHECK(rogue.end.first<Established>()->rtr == mpa::Rtr::kRead);
  }
  CHECK(rogue.end.count<Remark>() == 0);
}

TEST_CASE("Another first message establishes the connection all the same, and is named once", "[MPA2-9.2-12]") {
  Responder rogue;
  for (std::uint64_t i = 0; i < 2; ++i) rogue.end.memory.post_receive(i, 64);
  std::optional<mpa::Rtr> rtr;
  SECTION("of no such kind") { rogue.untagged(Opcode::kImmediate, 1, pattern(8)); }
  SECTION("of a kind that we did not name") {
    rtr = mpa::Rtr::kSend;
    rogue.untagged(Opcode::kSend, 1);
  }
  SECTION("a Write with octets") {
    rtr = mpa::Rtr::kWrite;
    rogue.tagged(Opcode::kWrite, 1, 0, pattern(8));
  }
  SECTION("a Read of octets") {
    rtr = mpa::Rtr::kRead;
    rogue.read(8);
  }
  REQUIRE(rogue.end.count<Established>() == 1);
  CHECK(rogue.end.first<Established>()->rtr == rtr);
  REQUIRE(rogue.end.count<Remark>() == 1);
  CHECK(rogue.end.first<Remark>()->sentence.ends_with("(MPA2-9.2-12)"));
  CHECK(rogue.end.first<Remark>()->stream_offset == 0);
  rogue.tagged(Opcode::kWrite, 1, 0, pattern(8));
  CHECK(rogue.end.count<Remark>() == 1);
  CHECK(rogue.end.count<ProtocolError>() == 0);
}

// The first FPDU is valid, so that a Terminate may be sent (MPA-7.1.2-17), and nothing is established yet.
TEST_CASE("A fault of our own before the connection is established: Terminate 2/0/05", "[MPA2-9.3-04][MPA2-8-01]") {
  Responder rogue;
  rogue.end.memory.post_receive(1, 64);
  rogue.end.memory.fault_on_receive = true;  // deregistered under a posted receive
  rogue.untagged(Opcode::kSend, 1, pattern(8));
  rogue.flush();
  CHECK(rogue.end.count<Established>() == 0);
  REQUIRE(rogue.end.count<StartupFailed>() == 1);
  CHECK(rogue.end.first<StartupFailed>()->report.layer == Layer::kLlp);
  CHECK(rogue.end.first<StartupFailed>()->report.code == 5);
  const Octets last(rogue.end.sent.end() - 28, rogue.end.sent.end());
  CHECK(last[3] == std::byte{0x47});
  CHECK(last[20] == std::byte{0x20});
  CHECK(last[21] == std::byte{0x05});
  CHECK(rogue.end.engine.disposition() == Disposition::kShutdownWrite);
  rogue.end.engine.connection_lost(rogue.now);
  rogue.flush();
  CHECK(rogue.end.count<StartupFailed>() == 1);  // not once more
}

TEST_CASE("A rejection of revision 1 is worth a try with revision 1", "[MPA2-10-12]") {
  Rogue rogue(initiator());
  require(rogue.end.engine.connect({}).has_value(), "connect");
  rogue.flush();
  const bool old = GENERATE(false, true);
  mpa::StartupFrame reply{.kind = mpa::FrameKind::kReply, .crc = true, .reject = true, .revision = 1};
  if (!old) {
    reply.revision = 2;
    reply.enhanced = mpa::EnhancedData{.ird = 8, .ord = 8};
  }
  rogue.send_frame(reply);
  REQUIRE(rogue.end.count<Rejected>() == 1);
  CHECK(rogue.end.first<Rejected>()->retry_with_revision_1 == old);
}

}  // namespace
}  // namespace weft::engine::test::peer_to_peer_clauses
