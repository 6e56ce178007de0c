// SPDX-License-Identifier: Apache-2.0
// RFC 5040 section 4.1 and RFC 7306 section 4.1: the control field, and what is admitted.
#include <catch2/catch.hpp>

#include "rdmap/admit.hpp"
#include "tests/rdmap/figures.hpp"

namespace weft::rdmap {
namespace {

constexpr ErrorCode kVersion = error_code(OperationError::kInvalidVersion);
constexpr ErrorCode kOpcode = error_code(OperationError::kUnexpectedOpcode);
constexpr ErrorCode kQueue = error_code(ddp::UntaggedError::kInvalidQueue);

ddp::Header tagged(unsigned control) { return ddp::TaggedHeader{true, static_cast<std::uint8_t>(control), {7}, {9}}; }
ddp::Header untagged(unsigned control, std::uint32_t queue) {
  return ddp::UntaggedHeader{true, static_cast<std::uint8_t>(control), 0, queue, {1}, {0}};
}

TEST_CASE("The control octet is version 0xC0, reserved 0x30, opcode 0x0F",
          "[RDMAP-4.1-01][RDMAP-4.1-02][RDMAP-4.1-17][RDMAP-4.1-20][RDMAPX-4.1-01][RDMAPX-4.1-09][RFC5040-4.1]") {
  CHECK(control_octet(Opcode::kWrite) == 0x40);
  CHECK(control_octet(Opcode::kAtomicResponse) == 0x4b);
  for (const OpcodeRow& kind : kOpcodeTable) {
    CHECK((control_octet(kind.opcode) & 0xc0) == 0x40);
    CHECK((control_octet(kind.opcode) & 0x30) == 0);
  }
}

TEST_CASE("Each message type has its opcode, T and queue",
          "[RDMAP-4.1-04][RDMAP-4.1-05][RDMAP-4.1-07][RDMAP-4.1-08][RDMAP-4.1-09][RDMAP-4.1-10][RDMAP-4.1-11]"
          "[RDMAP-4.1-12][RDMAP-4.1-13][RDMAP-4.1-14][RDMAP-4.1-22][RDMAP-3.1-02][RDMAPX-4.1-02][RDMAPX-4.1-05]"
          "[RDMAPX-4.1-06][RDMAPX-4.1-07][RDMAPX-4.1-08][RDMAPX-10-01][RDMAPX-10.2-01][RDMAPX-5.2-04][RFC5040-4.1]") {
  for (const figures::FigureRow& kind : figures::kFigures) {
    const unsigned control = 0x40U | kind.opcode;
    CHECK(admit(kind.queue < 0 ? tagged(control) : untagged(control, static_cast<std::uint32_t>(kind.queue))) ==
          kind.meant);
  }
}

TEST_CASE("Unassigned opcodes are unexpected, tagged and untagged, on every queue",
          "[RDMAP-4.1-15][RDMAP-IANA-3.4-01][RDMAP-7.2-02][RDMAP-7.2-05][RDMAPX-8.2-02][RDMAP-4.8-32][RFC5040-7.2]") {
  for (unsigned opcode = 0xc; opcode <= 0xf; ++opcode) {
    CHECK(admit(tagged(0x40 | opcode)) == std::unexpected(kOpcode));
    for (std::uint32_t queue = 0; queue < 4; ++queue)
      CHECK(admit(untagged(0x40 | opcode, queue)) == std::unexpected(kOpcode));
  }
}

TEST_CASE("A known opcode with another T or on another queue is unexpected",
          "[RDMAP-4.1-16][RDMAP-5.1-01][RDMAP-5.2.1-01][RDMAP-5.2.2-02][RDMAP-5.3-01][RDMAP-5.4-01][RDMAP-5.4-08]"
          "[RFC5040-4.1]") {
  for (const OpcodeRow& kind : kOpcodeTable) {
    const unsigned control = control_octet(kind.opcode);
    CHECK(admit(tagged(control)).has_value() == kind.tagged());
    for (std::uint32_t queue = 0; queue < 4; ++queue) {
      const bool its_own = kind.queue && std::to_underlying(*kind.queue) == queue;
      const auto admitted = admit(untagged(control, queue));
      CHECK(admitted.has_value() == its_own);
      if (!its_own) CHECK(admitted.error() == kOpcode);
    }
  }
}

TEST_CASE("Another RDMAP version is an error, for every message type",
          "[RDMAP-4.1-18][RDMAP-4.1-19][RDMAP-7.2-03][RDMAP-7.2-06][RDMAPX-8.2-03][RDMAP-4.8-31][RFC5040-7.2]") {
  for (const unsigned version : {0x00U, 0x80U, 0xc0U}) {
    for (unsigned opcode = 0; opcode < 16; ++opcode) {
      CHECK(admit(tagged(version | opcode)) == std::unexpected(kVersion));
      CHECK(admit(untagged(version | opcode, 1)) == std::unexpected(kVersion));
    }
  }
}

TEST_CASE("Reserved bits of the control field are ignored", "[RDMAP-4.1-21][RDMAPX-4.1-09][RFC5040-4.1]") {
  CHECK(admit(tagged(0x70)) == Opcode::kWrite);
  CHECK(admit(untagged(0x73, 0)) == Opcode::kSend);
}

TEST_CASE("A queue that does not exist is DDP's error, whatever the opcode says",
          "[DDP-7.1-01][DDP-7.2-08][RDMAPX-8.2-01][RFC5041-7.1]") {
  for (unsigned control = 0; control < 256; ++control) CHECK(admit(untagged(control, 4)) == std::unexpected(kQueue));
}

TEST_CASE("The Invalidate STag word is not looked at before delivery",
          "[RDMAP-4.1-24][RDMAP-4.1-25][RDMAPX-4.1-04][RFC5040-4.1]") {
  for (const OpcodeRow& kind : kOpcodeTable) {
    if (kind.tagged()) continue;
    const ddp::Header header =
        ddp::UntaggedHeader{true, control_octet(kind.opcode), 0xffffffff, std::to_underlying(*kind.queue), {1}, {0}};
    CHECK(admit(header) == kind.opcode);
    const bool has_one = kind.opcode == Opcode::kSendInvalidate || kind.opcode == Opcode::kSendSolicitedInvalidate;
    CHECK(kind.invalidates == has_one);
  }
}

TEST_CASE("What we send carries an STag to invalidate only where the opcode has one",
          "[RDMAP-4.1-03][RDMAP-4.1-23][RDMAP-5.3-12][RDMAP-4.7-01][RDMAPX-4.1-03][RFC5040-4.1]") {
  for (const OpcodeRow& kind : kOpcodeTable) {
    if (kind.tagged()) continue;
    auto cut = untagged_message(kind.opcode, {1}, 8, {0xaabbccdd});
    CHECK(cut.next(1500).header.rsvd_ulp_word == (kind.invalidates ? 0xaabbccdd : 0));
  }
}

TEST_CASE("What we send goes out as figure 4 says, and we would admit it ourselves",
          "[RDMAP-4.1-04][RDMAP-4.1-06][RDMAP-5.1-01][RDMAP-5.2.1-01][RDMAP-5.2.1-06][RDMAP-5.2.2-02][RDMAP-5.3-01]"
          "[RDMAP-5.3-08][RDMAP-5.4-01][RDMAP-5.4-02][RDMAPX-5-07][RDMAPX-5.2-01][RDMAPX-5.2-02][RDMAPX-5.2.1-14]"
          "[RDMAPX-5.2.1-19][RDMAPX-5.2.2-05][RDMAPX-5.2.2-06][RDMAPX-6.3-01][RDMAPX-6.3-04][RFC5040-4.1]") {
  for (const OpcodeRow& kind : kOpcodeTable) {
    if (kind.tagged()) {
      CHECK(admit(tagged_message(kind.opcode, {1}, {2}, 3).next(1500).header) == kind.opcode);
    } else {
      const auto header = untagged_message(kind.opcode, {1}, 3).next(1500).header;
      CHECK(admit(header) == kind.opcode);
      CHECK(header.queue == std::to_underlying(*kind.queue));
    }
  }
}

TEST_CASE("Opcodes follow from what a Send asks for", "[RDMAP-3.2-01][RDMAP-5.3-12][RFC5040-5.3]") {
  CHECK(send_opcode(false, false) == Opcode::kSend);
  CHECK(send_opcode(false, true) == Opcode::kSendInvalidate);
  CHECK(send_opcode(true, false) == Opcode::kSendSolicited);
  CHECK(send_opcode(true, true) == Opcode::kSendSolicitedInvalidate);
  CHECK(immediate_opcode(false) == Opcode::kImmediate);
  CHECK(immediate_opcode(true) == Opcode::kImmediateSolicited);
}

TEST_CASE("Only Sends and Immediate Data with SE ask for an event", "[RDMAP-2.4-03][RDMAP-5.3-06][RFC5040-2.4]") {
  for (const OpcodeRow& kind : kOpcodeTable) {
    const bool solicited = kind.opcode == Opcode::kSendSolicited || kind.opcode == Opcode::kSendSolicitedInvalidate ||
                           kind.opcode == Opcode::kImmediateSolicited;
    CHECK(kind.solicited == solicited);
  }
}

}  // namespace
}  // namespace weft::rdmap
