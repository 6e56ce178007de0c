// SPDX-License-Identifier: Apache-2.0
// RFC 5040 sections 4.8, 5.4 and 6.2.1, RFC 6580: the Terminate message and what follows it.
#include <catch2/catch.hpp>

#include <algorithm>

#include "tests/conformance/exchange.hpp"

namespace weft::conformance::test::terminate_clauses {
namespace {

const Octets kWritten = write(pattern(30));
const Read kRead{};
constexpr unsigned kM = 0x80, kD = 0x40, kR = 0x20;

// The Responder's answer to a Write and a Read Request.
Exchange ended(const TerminateMessage& message) {
  return Exchange().initiator(kWritten).initiator(kRead.request()).responder(message.ulpdu());
}
Clauses found(const TerminateMessage& message) { return ended(message).found(); }
Clauses about(std::string_view clause, int octet, std::string_view severity = "violation") {
  return {std::string(severity) + " " + std::string(clause) + " responder 3 octet " + std::to_string(octet)};
}

TerminateMessage error(unsigned layer, unsigned type, unsigned code) {
  if (layer == 0 && type == 0) return {.layer = layer, .type = type, .code = code, .bits = 0};
  if (layer == 2) return {.layer = layer, .type = type, .code = code, .bits = 0};
  TerminateMessage message = over(kWritten);
  message.layer = layer;
  message.type = type;
  message.code = code;
  return message;
}

TerminateMessage of_read(unsigned layer, unsigned type, unsigned code, unsigned bits) {
  TerminateMessage message = over(kRead.request());
  message.layer = layer;
  message.type = type;
  message.code = code;
  message.bits = bits;
  const Octets request = kRead.request();
  if ((bits & kR) != 0) message.rdma = {request.begin() + 18, request.end()};
  return message;
}

}  // namespace

TEST_CASE("Layer, EType and Error Code are registered", "[rfc5040/4.8][rfc6580/3.2][RDMAP-4.8-05][RDMAP-IANA-3.2-01]") {
  struct Registered {
    unsigned layer, type;
    std::vector<unsigned> codes;
  };
  const std::vector<Registered> registry{
      {0, 1, {0, 1, 2, 3, 4, 9, 0xff}}, {0, 2, {5, 6, 7, 8, 9, 0xff}}, {1, 0, {0}},
      {1, 1, {0, 1, 2, 3, 4}},          {1, 2, {1, 2, 3, 4, 5, 6}},    {2, 0, {1, 2, 3, 4, 5, 6, 7}},
  };
  for (const Registered& row : registry) {
    for (unsigned code = 0; code < 256; ++code) {
      const bool known = std::ranges::find(row.codes, code) != row.codes.end();
      // An error of no registry, which Linux siw's layout makes one of RDMAP's: 0x0/0x2.
      const bool swapped = row.layer == 2 && (code == 8 || code == 9 || code == 0xff);
      const bool local = row.layer == 1 && row.type == 0;
      const std::string_view clause = local ? "RDMAP-IANA-3.2-01" : swapped ? "RDMAP-4.8-04" : "RDMAP-4.8-05";
      CHECK(found(error(row.layer, row.type, code)) == (known ? kNothing : about(clause, 18)));
    }
  }
}

TEST_CASE("error types", "[rfc5040/4.8][rfc5041/7.2][RDMAP-4.8-05][DDP-7.2-14]") {
  SECTION("a Local Catastrophic Error may have any code") {
    for (unsigned code = 0; code < 256; ++code) CHECK(found(error(0, 0, code)) == kNothing);
  }
  SECTION("DDP's error type 3 is not its own") {
    for (const unsigned code : {0U, 1U, 0xffU}) CHECK(found(error(1, 3, code)) == about("DDP-7.2-14", 18));
  }
  SECTION("there are no others") {
    CHECK(found(error(0, 3, 0)) == about("RDMAP-4.8-05", 18));
    CHECK(found(error(1, 4, 0)) == about("RDMAP-4.8-05", 18));
    CHECK(found(error(2, 3, 1)) == about("RDMAP-4.8-05", 18));
    CHECK(found(error(3, 0, 0)) == about("RDMAP-4.8-05", 18));
  }
}

TEST_CASE("a Terminate holds what M, D and R announce", "[rfc5040/4.8][RDMAP-4.8-02]") {
  const auto with = [](Octets payload) {
    return Exchange()
        .initiator(kWritten)
        .initiator(kRead.request())
        .responder(untagged(kTerminate, 2, 1, payload))
        .found();
  };
  const Octets none = error(2, 0, 2).payload();  // 4 octets
  const Octets both = over(kWritten).payload();  // 6 and 14
  const Octets all = of_read(0, 1, 0, kM | kD | kR).payload();
  CHECK(none.size() == 4);
  CHECK(all.size() == 52);
  for (const Octets& payload : {none, both, all}) {
    CHECK(with(payload) == kNothing);
    CHECK(with(payload + pattern(1)) == about("RDMAP-4.8-02", 18));
    CHECK(with(first(payload, payload.size() - 1)) == about("RDMAP-4.8-02", 18));
  }
  SECTION("or the rest is zero") {
    CHECK(with(none + zeros(48)) == kNothing);
    CHECK(with(both + zeros(32)) == kNothing);
    CHECK(with(none + zeros(49)) == about("RDMAP-4.8-02", 18));
    CHECK(with(both + zeros(31) + pattern(1)) == about("RDMAP-4.8-02", 18));
  }
}

TEST_CASE("the fields lie where the RFC has them", "[rfc5040/4.8][RDMAP-4.8-04]") {
  CHECK(found(error(1, 2, 2)) == kNothing);
  SECTION("and not as Linux siw has them: M, D and R at the other end of their octet") {
    Octets siw = over(kWritten).payload();
    siw = changed(changed(siw, 0, 0x11), 2, 0x03);
    CHECK(
        Exchange().initiator(kWritten).initiator(kRead.request()).responder(untagged(kTerminate, 2, 1, siw)).found() ==
        about("RDMAP-4.8-04", 18));
  }
  SECTION("what is quoted is read as it lies, and judged") {
    const auto found_in = [](TerminateMessage message, unsigned bits = 0x07) {
      const Octets siw = changed(changed(message.payload(), 0, 0x10), 2, bits);
      return Exchange()
          .initiator(kWritten)
          .initiator(kRead.request())
          .responder(untagged(kTerminate, 2, 1, siw))
          .found();
    };
    const TerminateMessage of = of_read(0, 1, 0, kM | kD | kR);
    CHECK(found_in(of) == about("RDMAP-4.8-04", 18));
    TerminateMessage other_segment = of;
    other_segment.header = changed(of.header, 13, 77);  // MSN
    CHECK(found_in(other_segment).size() == 2);
    TerminateMessage other_length = of;
    other_length.length = 47;
    CHECK(found_in(other_length).size() == 2);
    CHECK(found_in(other_length, 0x06) == about("RDMAP-4.8-04", 18));  // without M it is none
  }
  // M and D at both ends of their octet, an error that exists in siw's layout only: the octets are taken as the RFC has
  // them, and are wrong as such.
  SECTION("but M, D or R where the RFC has them are its own") {
    Octets both = over(kWritten).payload();
    both = changed(changed(changed(both, 0, 0x21), 1, 0x02), 2, 0xc3);
    const Clauses clauses =
        Exchange().initiator(kWritten).initiator(kRead.request()).responder(untagged(kTerminate, 2, 1, both)).found();
    CHECK(std::ranges::find(clauses, about("RDMAP-4.8-04", 18).front()) == clauses.end());
    CHECK(std::ranges::find(clauses, about("RDMAP-4.8-05", 18).front()) != clauses.end());
  }
}

TEST_CASE("the reserved bits of a Terminate are zero", "[rfc5040/4.8][RDMAP-4.8-11]") {
  for (unsigned bit = 0; bit < 13; ++bit) {
    TerminateMessage message = over(kWritten);
    message.reserved = 1U << bit;
    CHECK(found(message) == about("RDMAP-4.8-11", 20));
  }
  CHECK(found(over(kWritten)) == kNothing);
  SECTION("also where nothing is quoted, so that siw's M, D and R announce octets that are not there") {
    for (unsigned bit = 0; bit < 13; ++bit) {
      CHECK(found({.layer = 0, .type = 0, .code = 0, .bits = 0, .reserved = 1U << bit}) == about("RDMAP-4.8-11", 20));
      CHECK(found({.layer = 0, .type = 2, .code = 5, .bits = 0, .reserved = 1U << bit}) == about("RDMAP-4.8-11", 20));
      CHECK(found({.layer = 2, .type = 0, .code = 2, .bits = 0, .reserved = 1U << bit}) == about("RDMAP-4.8-11", 20));
    }
  }
  SECTION("in siw's layout they are others, and another cause") {
    const auto found_in = [](unsigned third, unsigned fourth) {
      const Octets siw = changed(changed(changed(over(kWritten).payload(), 0, 0x11), 2, third), 3, fourth);
      return Exchange()
          .initiator(kWritten)
          .initiator(kRead.request())
          .responder(untagged(kTerminate, 2, 1, siw))
          .found();
    };
    CHECK(found_in(0x03, 0) == about("RDMAP-4.8-04", 18));
    CHECK(found_in(0x0b, 0).size() == 2);
    CHECK(found_in(0x03, 1).size() == 2);
  }
}

TEST_CASE("an error of DDP quotes the segment", "[rfc5040/4.8][RDMAP-4.8-08][RDMAP-4.8-09]") {
  CHECK(found(over(kWritten)) == kNothing);
  CHECK(found({.layer = 1, .type = 1, .bits = 0}) == about("RDMAP-4.8-09", 20, "warning"));
  CHECK(found({.layer = 1, .type = 1, .bits = kM, .length = 44}) == about("RDMAP-4.8-09", 20, "warning"));
  CHECK(found({.layer = 1, .type = 0, .bits = 0}) == kNothing);
  TerminateMessage without_length = over(kWritten);
  without_length.bits = kD;
  CHECK(found(without_length) == about("RDMAP-4.8-08", 20, "warning"));
}

TEST_CASE("an error of RDMAP quotes the segment if possible", "[rfc5040/4.8][RDMAP-4.8-08][RDMAP-4.8-09]") {
  CHECK(found({.layer = 0, .type = 1, .bits = 0}) == kNothing);
  CHECK(found({.layer = 0, .type = 2, .code = 5, .bits = 0}) == kNothing);
  CHECK(found(of_read(0, 2, 5, kM | kD)) == kNothing);
  CHECK(found(of_read(0, 2, 5, kD)) == about("RDMAP-4.8-08", 20, "warning"));
  SECTION("for its own messages RFC 7306 lists no length") {
    TerminateMessage message = over(Atomic{.msn = 2}.request());
    message = {.layer = 0, .type = 2, .code = 7, .bits = kD, .length = message.length, .header = message.header};
    CHECK(Exchange()
              .initiator(kRead.request())
              .initiator(Atomic{.msn = 2}.request())
              .responder(message.ulpdu())
              .found() == kNothing);
  }
  SECTION("an opcode that no RFC has is none of its own messages") {
    for (const unsigned opcode : {0xcU, 0xdU, 0xeU, 0xfU}) {
      Octets unknown = kWritten;
      unknown[1] = std::byte(0x40 | opcode);
      TerminateMessage message = over(unknown);
      message = {.layer = 0, .type = 2, .code = 6, .bits = kD, .length = message.length, .header = message.header};
      const Clauses told = Exchange().initiator(kWritten).initiator(unknown).responder(message.ulpdu()).found();
      CHECK(std::ranges::count(told, "warning RDMAP-4.8-08 responder 3 octet 20") == 1);
    }
  }
}

TEST_CASE("an error of MPA quotes nothing", "[rfc5040/4.8][RDMAP-4.8-08][RDMAP-4.8-09][RDMAP-4.8-10]") {
  CHECK(found(error(2, 0, 2)) == kNothing);
  TerminateMessage message = over(kWritten);
  message.layer = 2;
  message.type = 0;
  message.code = 2;
  CHECK(found(message) == about("RDMAP-4.8-09", 20, "warning"));
  message = {.layer = 2, .type = 0, .code = 2, .bits = kM, .length = 44};
  CHECK(found(message) == about("RDMAP-4.8-08", 20, "warning"));
  message = {.layer = 2, .type = 0, .code = 2, .bits = kR, .rdma = zeros(28)};
  CHECK(found(message) == about("RDMAP-4.8-10", 20, "warning"));
}

// Figure 10 has the header for a Send with Invalidate, too, and section 7.1 sets it to zero.
TEST_CASE("a header of zeros is no Read Request's", "[rfc5040/4.8][RDMAP-4.8-10][RDMAP-4.8-18]") {
  TerminateMessage message = over(kWritten);
  message.bits = kM | kD | kR;
  message.rdma = zeros(28);
  CHECK(found(message) == about("RDMAP-4.8-10", 20, "warning"));
  message.rdma.back() = std::byte{1};
  CHECK(found(message) == about("RDMAP-4.8-18", 20));
}

TEST_CASE("a protection error of a Read Request quotes it", "[rfc5040/4.8][RDMAP-4.8-10]") {
  CHECK(found(of_read(0, 1, 0, kM | kD | kR)) == kNothing);
  CHECK(found(of_read(0, 1, 0, kM | kD)) == about("RDMAP-4.8-10", 20, "warning"));
  SECTION("what else a Read Request did is quoted by section 7.1 and not by figure 10") {
    for (const unsigned bits : {kM | kD, kM | kD | kR}) {
      CHECK(found(of_read(0, 2, 5, bits)) == kNothing);
      CHECK(found(of_read(1, 2, 2, bits)) == kNothing);
    }
  }
}

TEST_CASE("a Local Catastrophic Error quotes nothing", "[rfc5040/4.8][RDMAP-4.8-37]") {
  CHECK(found(error(0, 0, 0)) == kNothing);
  TerminateMessage message = over(kWritten);
  message.layer = message.type = 0;
  CHECK(found(message) == about("RDMAP-4.8-37", 20));
  CHECK(found({.layer = 0, .type = 0, .bits = kM, .length = 44}) == about("RDMAP-4.8-37", 20));
  CHECK(found({.layer = 0, .type = 0, .bits = kR, .rdma = zeros(28)}) == about("RDMAP-4.8-37", 20));
}

TEST_CASE("a Terminate is one segment", "[rfc5040/5.4][RDMAP-5.4-05]") {
  const Octets payload = over(kWritten).payload();
  const auto sent = [&](const Octets& ulpdu) {
    return Exchange().initiator(kWritten).initiator(kRead.request()).responder(ulpdu).found();
  };
  CHECK(sent(untagged(kTerminate, 2, 1, payload)) == kNothing);
  CHECK(sent(untagged(kTerminate, 2, 1, payload, 0, false)) == about("RDMAP-5.4-05", 0, "warning"));
  SECTION("of which more segments are no other message") {
    for (const std::size_t at : {1U, 4U, 8U, 19U}) {
      Exchange exchange;
      exchange.initiator(kWritten).initiator(kRead.request());
      exchange.responder(untagged(kTerminate, 2, 1, first(payload, at), 0, false));
      exchange.responder(untagged(kTerminate, 2, 1, {payload.begin() + static_cast<std::ptrdiff_t>(at), payload.end()},
                                  static_cast<unsigned>(at)));
      CHECK(exchange.found() == about("RDMAP-5.4-05", 0, "warning"));
      CHECK(exchange.responder(send(1, pattern(9))).found() ==
            Clauses{about("RDMAP-5.4-05", 0, "warning")[0], "violation RDMAP-5.4-10 responder 5 octet -2"});
    }
  }
  SECTION("nor is one without octets") {
    CHECK(sent(untagged(kTerminate, 2, 1, {}, 0, false)) == about("DDP-5.2-11", 14));
  }
}

TEST_CASE("nothing follows a Terminate", "[rfc5040/5.4][RDMAP-5.4-10]") {
  const TerminateMessage message = over(kWritten);
  CHECK(ended(message).responder(send(1, pattern(9))).found() ==
        Clauses{"violation RDMAP-5.4-10 responder 4 octet -2"});
  SECTION("which is told once") {
    CHECK(ended(message).responder(send(1, pattern(9))).responder(send(2, pattern(9))).found() ==
          Clauses{"violation RDMAP-5.4-10 responder 4 octet -2"});
  }
  SECTION("not even another one") {
    const Octets second = untagged(kTerminate, 2, 2, message.payload());
    CHECK(ended(message).responder(second).found() == Clauses{"violation RDMAP-5.4-10 responder 4 octet -2"});
  }
  SECTION("in its direction: the other end may have much on its way") {
    CHECK(ended(message).initiator(send(1, pattern(9))).initiator(terminate_message()).found() == kNothing);
  }
}

TEST_CASE("a Terminate is followed by a FIN", "[rfc5040/6.2.1][RDMAP-6.2.1-05]") {
  CHECK(ended(over(kWritten)).close(End::kSecond).close(End::kFirst).found() == kNothing);
  CHECK(ended(over(kWritten)).found() == kNothing);  // the capture ended before
  CHECK(ended(over(kWritten)).close(End::kSecond, Closing::kReset).found() ==
        Clauses{"warning RDMAP-6.2.1-05 responder 4"});
  SECTION("the other end may reset the connection") {
    CHECK(ended(over(kWritten)).close(End::kFirst, Closing::kReset).found() == kNothing);
  }
  SECTION("and so may who sent none") {
    CHECK(Exchange().initiator(kWritten).close(End::kFirst, Closing::kReset).found() == kNothing);
  }
}

}  // namespace weft::conformance::test::terminate_clauses
