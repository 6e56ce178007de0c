// SPDX-License-Identifier: Apache-2.0
// RFC 5040 sections 4.1 and 5, RFC 7306 section 4.1: the RDMAP Control Field, and T and QN, which follow from the
// opcode.
#include <catch2/catch.hpp>

#include <map>

#include "tests/conformance/exchange.hpp"
#include "tests/rdmap/figures.hpp"

namespace weft::conformance::test::rdmap_header_clauses {
namespace {

// Every message as it should be, from the end that may send it, after what it answers.
struct Message {
  unsigned opcode;
  Octets ulpdu;
  std::string buffer_model;  // the clause that says T
  std::string queue;         // and QN
};
std::vector<Message> messages() {
  const std::map<unsigned, Octets> special = {
      {kWrite, write(pattern(8))},       {kReadRequest, Read{}.request()},     {kReadResponse, Read{}.response()},
      {kTerminate, terminate_message()}, {kAtomicRequest, Atomic{}.request()}, {kAtomicResponse, Atomic{}.response()}};
  std::vector<Message> out;
  for (const rdmap::figures::FigureRow& kind : rdmap::figures::kFigures) {
    const auto found = special.find(kind.opcode);
    out.push_back({kind.opcode,
                   found != special.end()
                       ? found->second
                       : untagged(kind.opcode, static_cast<std::uint32_t>(kind.queue), 1, pattern(8)),
                   std::string(kind.buffer_model), std::string(kind.queue_number)});
  }
  return out;
}

// As the Responder's answer to a Read or Atomic Request; the Initiator's where it is a request itself.
Clauses answered(unsigned opcode, const Octets& ulpdu) {
  Exchange exchange;
  if (opcode == kReadResponse) exchange.initiator(Read{}.request());
  if (opcode == kAtomicResponse) exchange.initiator(Atomic{}.request());
  return exchange.responder(ulpdu).found();
}

std::string step(unsigned opcode) { return opcode == kReadResponse || opcode == kAtomicResponse ? "2" : "1"; }

// The same payload after the other header.
Octets other_model(const Message& message) {
  const bool is_tagged = message.queue.empty();
  const Octets payload(message.ulpdu.begin() + (is_tagged ? 14 : 18), message.ulpdu.end());
  return is_tagged ? untagged(message.opcode, 0, 1, payload) : tagged(message.opcode, 0x1234, 0, payload);
}

}  // namespace

TEST_CASE("each message as it should be",
          "[rfc5040/4.1][rfc7306/4.1][RDMAP-4.1-17][RDMAP-4.1-20][RDMAP-4.1-22][RDMAP-4.1-23][RDMAPX-4.1-03]"
          "[RDMAP-5.1-01][RDMAP-5.2.1-01][RDMAP-5.2.1-06][RDMAP-5.2.2-02][RDMAP-5.3-01][RDMAP-5.3-08][RDMAP-5.4-01]"
          "[RDMAP-5.4-02][RDMAPX-5.2.1-14][RDMAPX-5.2.1-19][RDMAPX-5.2.2-05][RDMAPX-5.2.2-06][RDMAPX-6.3-01]"
          "[RDMAPX-6.3-04]") {
  for (const Message& message : messages()) CHECK(answered(message.opcode, message.ulpdu) == kNothing);
}

TEST_CASE("T follows from the opcode",
          "[rfc5040/5.1][rfc5040/5.2.1][rfc5040/5.2.2][rfc5040/5.3][rfc5040/5.4][rfc7306/5.2.1][rfc7306/5.2.2]"
          "[rfc7306/6.3][RDMAP-5.1-01][RDMAP-5.2.1-01][RDMAP-5.2.2-02][RDMAP-5.3-01][RDMAP-5.4-01]"
          "[RDMAPX-5.2.1-14][RDMAPX-5.2.2-05][RDMAPX-6.3-01]") {
  for (const Message& message : messages()) {
    CHECK(answered(message.opcode, other_model(message)) ==
          Clauses{"violation " + message.buffer_model + " responder " + step(message.opcode) + " octet 0"});
  }
}

TEST_CASE("QN follows from the opcode",
          "[rfc5040/5.2.1][rfc5040/5.3][rfc5040/5.4][rfc7306/5.2.1][rfc7306/5.2.2][rfc7306/6.3]"
          "[RDMAP-5.2.1-06][RDMAP-5.3-08][RDMAP-5.4-02][RDMAPX-5.2.1-19][RDMAPX-5.2.2-06][RDMAPX-6.3-04]") {
  for (const Message& message : messages()) {
    if (message.queue.empty()) continue;
    const auto own = std::to_integer<unsigned>(message.ulpdu[9]);
    for (unsigned queue = 0; queue < 4; ++queue) {
      const Clauses expected =
          queue == own ? kNothing
                       : Clauses{"violation " + message.queue + " responder " + step(message.opcode) + " octet 6"};
      CHECK(answered(message.opcode, changed(message.ulpdu, 9, queue)) == expected);
    }
  }
}

TEST_CASE("RV is 1", "[rfc5040/4.1][RDMAP-4.1-17]") {
  for (const Message& message : messages()) {
    const auto control = std::to_integer<unsigned>(message.ulpdu[1]) & 0x3fU;
    for (const unsigned version : {0U, 2U, 3U}) {
      CHECK(answered(message.opcode, changed(message.ulpdu, 1, version << 6 | control)) ==
            Clauses{"violation RDMAP-4.1-17 responder " + step(message.opcode) + " octet 1"});
    }
  }
}

TEST_CASE("the Rsv bits are zero", "[rfc5040/4.1][RDMAP-4.1-20]") {
  for (const Message& message : messages()) {
    const auto control = std::to_integer<unsigned>(message.ulpdu[1]);
    for (const unsigned reserved : {0x10U, 0x20U, 0x30U}) {
      CHECK(answered(message.opcode, changed(message.ulpdu, 1, control | reserved)) ==
            Clauses{"violation RDMAP-4.1-20 responder " + step(message.opcode) + " octet 1"});
    }
  }
}

TEST_CASE("the opcodes are 0 to 11", "[rfc5040/4.1][rfc7306/4.1][RDMAP-4.1-22]") {
  for (unsigned opcode = 12; opcode < 16; ++opcode) {
    CHECK(Exchange().initiator(untagged(opcode, 0, 1, pattern(8))).initiator(send(2, pattern(8))).found() ==
          Clauses{"violation RDMAP-4.1-22 initiator 1 octet 1"});
    CHECK(Exchange().initiator(tagged(opcode, 0x1234, 0, pattern(8))).found() ==
          Clauses{"violation RDMAP-4.1-22 initiator 1 octet 1"});
  }
}

TEST_CASE("only Sends with Invalidate name an STag to invalidate",
          "[rfc5040/4.1][rfc7306/4.1][RDMAP-4.1-23][RDMAPX-4.1-03]") {
  for (const Message& message : messages()) {
    if (message.queue.empty()) continue;  // a tagged header has no such field
    for (const unsigned stag : {1U, 0x80000000U, 0xffffffffU}) {
      const std::string clause = message.opcode < kImmediate ? "RDMAP-4.1-23" : "RDMAPX-4.1-03";
      const bool may = message.opcode == kSendInvalidate || message.opcode == kSendSolicitedInvalidate;
      CHECK(answered(message.opcode, changed(message.ulpdu, 2, stag, 4)) ==
            (may ? kNothing : Clauses{"violation " + clause + " responder " + step(message.opcode) + " octet 2"}));
    }
  }
}

}  // namespace weft::conformance::test::rdmap_header_clauses
