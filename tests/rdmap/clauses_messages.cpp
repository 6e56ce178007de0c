// SPDX-License-Identifier: Apache-2.0
// RFC 5040 section 4.4 and RFC 7306 sections 5.2 and 6: the headers after the DDP header.
#include <catch2/catch.hpp>

#include "rdmap/atomic_messages.hpp"
#include "rdmap/control.hpp"
#include "rdmap/immediate.hpp"
#include "rdmap/read_request.hpp"
#include "tests/ddp/octets.hpp"

namespace weft::rdmap {
namespace {

using test::octets;
using test::Octets;

template <typename Message>
Octets serialized(const Message& message) {
  Octets out(64);
  out.resize(serialize(message, out));
  return out;
}

const ReadRequest kRead{{0x01020304}, {0x1112131415161718}, 0x21222324, {0x31323334}, {0x4142434445464748}};

TEST_CASE("A Read Request header is 28 octets: SinkSTag, SinkTO, RDMARDSZ, SrcSTag, SrcTO",
          "[RDMAP-4.4-01][RDMAP-4.4-02][RDMAP-4.4-07][RDMAP-4.4-08][RDMAP-4-01][RDMAP-4-02][RDMAP-4.2-01]"
          "[RFC5040-4.4]") {
  CHECK(serialized(kRead) == octets("01020304 1112131415161718 21222324 31323334 4142434445464748"));
}

TEST_CASE("A Read Request carries its header and nothing else", "[RDMAP-4.2-02][RDMAP-5.2.1-05][RFC5040-4.2]") {
  CHECK(parse_read_request(serialized(kRead)) == kRead);
  CHECK_FALSE(parse_read_request(Octets(27)));
  CHECK_FALSE(parse_read_request(Octets(29)));
}

TEST_CASE("Any offset and any size may be asked for, none included",
          "[RDMAP-4.4-05][RDMAP-4.4-09][RDMAP-5.2.1-12][RFC5040-4.4]") {
  for (const std::uint32_t size : {0U, 1U, 0xffffffffU}) {
    const ReadRequest request{{0}, {0xffffffffffffffff}, size, {0xffffffff}, {1}};
    CHECK(parse_read_request(serialized(request)) == request);
  }
}

TEST_CASE("The response repeats SinkSTag and SinkTO as they are",
          "[RDMAP-4.4-03][RDMAP-4.4-04][RDMAP-4.4-06][RDMAP-5.2.2-06][RDMAP-5.2.2-09][RFC5040-4.4]") {
  auto response = tagged_message(Opcode::kReadResponse, {0xdeadbeef}, {0xfffffffffffffff8}, 3000);
  const auto first = response.next(1500);
  CHECK(first.header.stag.value == 0xdeadbeef);
  CHECK(first.header.offset.value == 0xfffffffffffffff8);
  CHECK(response.next(1500).header.stag.value == 0xdeadbeef);
}

TEST_CASE("A Read of nothing is answered by one segment of nothing", "[RDMAP-5.2.1-15][RDMAP-5.2.1-12][RFC5040-5.2]") {
  auto response = tagged_message(Opcode::kReadResponse, {1}, {2}, 0);
  const auto only = response.next(1500);
  CHECK(only.header.last);
  CHECK(only.length == 0);
  CHECK(response.done());
}

TEST_CASE("Messages without a header of their own begin with their payload",
          "[RDMAP-4.3-01][RDMAP-4.5-01][RDMAP-4.6-01][RDMAP-4.7-01][RDMAP-4-01][RFC5040-4.3]") {
  for (const Opcode opcode : {Opcode::kWrite, Opcode::kReadResponse}) {
    auto cut = tagged_message(opcode, {1}, {2}, 10);
    CHECK(cut.next_size(1500) == 14 + 10);
  }
  for (const Opcode opcode :
       {Opcode::kSend, Opcode::kSendInvalidate, Opcode::kSendSolicited, Opcode::kSendSolicitedInvalidate}) {
    auto cut = untagged_message(opcode, {1}, 10);
    CHECK(cut.next_size(1500) == 18 + 10);
  }
}

TEST_CASE("What a Terminate says about a Read that was begun", "[RDMAP-4.8-20][RDMAP-4.8-21][RFC5040-4.8]") {
  CHECK(remainder(kRead, 0) == kRead);
  const ReadRequest left = remainder(kRead, 2048);
  CHECK(left.sink_stag == kRead.sink_stag);
  CHECK(left.source_stag == kRead.source_stag);
  CHECK(left.sink_offset.value == kRead.sink_offset.value + 2048);
  CHECK(left.source_offset.value == kRead.source_offset.value + 2048);
  CHECK(left.size == kRead.size - 2048);
}

const AtomicOperation kSwap{AtomicOperation::Kind::kCmpSwap, 0xa1a2a3a4a5a6a7a8, 0xb1b2b3b4b5b6b7b8, 0xc1c2c3c4c5c6c7c8,
                            0xd1d2d3d4d5d6d7d8};

TEST_CASE("An Atomic Request is 52 octets, big-endian",
          "[RDMAPX-4-02][RDMAPX-4.2-01][RDMAPX-5-06][RDMAPX-5.2.1-09][RDMAPX-5.2.1-10][RDMAPX-5.1.2-04]"
          "[RDMAPX-5.1.1-09][RFC7306-5.2.1]") {
  CHECK(serialized(AtomicRequest{kSwap, 0x01020304, {0x11121314}, {0x2122232425262728}}) ==
        octets("00000002 01020304 11121314 2122232425262728 a1a2a3a4a5a6a7a8 b1b2b3b4b5b6b7b8 c1c2c3c4c5c6c7c8 "
               "d1d2d3d4d5d6d7d8"));
}

TEST_CASE("Reserved bits of an Atomic Request are zero when sent and ignored when received",
          "[RDMAPX-5.2.1-02][RFC7306-5.2.1]") {
  Octets wire = serialized(AtomicRequest{kSwap, 1, {2}, {3}});
  CHECK(test::copy(Bytes(wire).first(4)) == octets("00000002"));
  wire[0] = wire[1] = wire[2] = std::byte{0xff};
  wire[3] = std::byte{0xf2};
  const auto request = parse_atomic_request(wire);
  REQUIRE(request);
  CHECK(request->operation.kind == AtomicOperation::Kind::kCmpSwap);
}

TEST_CASE("An Atomic Request names its target, and an identifier for the answer",
          "[RDMAPX-5.2.1-01][RDMAPX-5.2.1-05][RDMAPX-5.2.1-06][RDMAPX-5.2.1-07][RDMAPX-5.1.1-09][RFC7306-5.2.1]") {
  const auto request = parse_atomic_request(serialized(AtomicRequest{kSwap, 0xfeedbeef, {0x11121314}, {0x21}}));
  REQUIRE(request);
  CHECK(request->request_id == 0xfeedbeef);
  CHECK(request->stag.value == 0x11121314);
  CHECK(request->offset.value == 0x21);  // of any value: it is the address that must be aligned
  CHECK(request->operation.add_or_swap == kSwap.add_or_swap);
}

TEST_CASE("A FetchAdd sends Compare Data zero and Compare Mask all ones, and ignores both",
          "[RDMAPX-5.2.1-12][RDMAPX-5.2.1-13][RFC7306-5.2.1]") {
  AtomicOperation add = kSwap;
  add.kind = AtomicOperation::Kind::kFetchAdd;
  Octets wire = serialized(AtomicRequest{add, 1, {2}, {3}});
  CHECK(test::copy(Bytes(wire).last(16)) == octets("0000000000000000 ffffffffffffffff"));
  wire.back() = std::byte{0};
  wire[40] = std::byte{0x55};
  const auto request = parse_atomic_request(wire);
  REQUIRE(request);
  CHECK(request->operation.compare == 0);
  CHECK(request->operation.compare_mask == 0xffffffffffffffff);
}

TEST_CASE("Atomic subcodes are 0 and 2; others are an error",
          "[RDMAPX-5.2.1-03][RDMAPX-5.2.1-04][RDMAPX-5.2.1-18][RDMAPX-10.1-01][RDMAPX-5-03][RDMAPX-1.1-01]"
          "[RFC7306-10.1]") {
  for (unsigned subcode = 0; subcode < 16; ++subcode) {
    Octets wire(52);
    wire[3] = static_cast<std::byte>(subcode);
    const auto request = parse_atomic_request(wire);
    CHECK(request.has_value() == (subcode == 0 || subcode == 2));
    if (!request) CHECK(request.error() == OperationError::kUnexpectedOpcode);
  }
}

TEST_CASE("An Atomic Response is 12 octets: identifier and old value",
          "[RDMAPX-4-03][RDMAPX-4.2-01][RDMAPX-5.2.2-01][RDMAPX-5.2.2-02][RDMAPX-5.2.2-03][RFC7306-5.2.2]") {
  CHECK(serialized(AtomicResponse{0x01020304, 0x1112131415161718}) == octets("01020304 1112131415161718"));
  CHECK_FALSE(parse_atomic_response(Octets(11)));
  CHECK_FALSE(parse_atomic_response(Octets(32)));  // what section 4 of the RFC says by mistake
}

TEST_CASE("The ULPDUs of RFC 7306 have lengths 26, 70 and 30",
          "[RDMAPX-4-01][RDMAPX-4-02][RDMAPX-4-03][RDMAPX-6.2-01][RFC7306-4]") {
  CHECK(untagged_message(Opcode::kImmediate, {1}, ImmediateData{}.size()).next_size(1500) == 26);
  CHECK(untagged_message(Opcode::kAtomicRequest, {1}, AtomicRequestLayout::kSize).next_size(1500) == 70);
  CHECK(untagged_message(Opcode::kAtomicResponse, {1}, AtomicResponseLayout::kSize).next_size(1500) == 30);
}

TEST_CASE("Immediate Data is exactly 8 octets",
          "[RDMAPX-4-01][RDMAPX-6.3-05][RDMAPX-6.3-07][RDMAPX-6.2-01][RFC7306-6.3]") {
  CHECK(test::copy(*parse_immediate(octets("0102030405060708"))) == octets("0102030405060708"));
  for (const std::size_t size : {0U, 4U, 7U, 9U}) {
    CHECK(parse_immediate(Octets(size)) == std::unexpected(OperationError::kUnspecified));
  }
  CHECK(check_immediate_segment(8));
  CHECK(check_immediate_segment(9) == std::unexpected(OperationError::kUnspecified));
}

}  // namespace
}  // namespace weft::rdmap
