// SPDX-License-Identifier: Apache-2.0
// RDMAP headers against octets that others made, and back again.
#include <gtest/gtest.h>

#include <random>

#include "rdmap/admit.hpp"
#include "rdmap/atomic_messages.hpp"
#include "rdmap/immediate.hpp"
#include "rdmap/read_request.hpp"
#include "tests/ddp/octets.hpp"

namespace weft::rdmap {
namespace {

using test::octets;
using test::Octets;

// From a capture of Linux siw (rping): a Read of 64 octets.
constexpr std::string_view kSiwReadRequest = "33888d00 00005580682297f0 00000040 357f0000 0000559b7bc28370";
const ReadRequest kSiwRead{{0x33888d00}, {0x00005580682297f0}, 0x40, {0x357f0000}, {0x0000559b7bc28370}};

template <typename Message>
Octets serialized(const Message& message) {
  Octets out(64);
  out.resize(serialize(message, out));
  return out;
}

TEST(ReadRequest, ReadsAndWritesWhatSiwWrites) {
  EXPECT_EQ(parse_read_request(octets(kSiwReadRequest)), kSiwRead);
  EXPECT_EQ(serialized(kSiwRead), octets(kSiwReadRequest));
}

TEST(ReadRequest, InverseForAnyFields) {
  std::mt19937_64 random(4);
  const auto word = [&] { return static_cast<std::uint32_t>(random()); };
  for (int i = 0; i < 500; ++i) {
    const ReadRequest request{{word()}, {random()}, word(), {word()}, {random()}};
    EXPECT_EQ(parse_read_request(serialized(request)), request);
  }
}

TEST(ReadRequest, RemainderOfNothingSentIsTheRequest) {
  EXPECT_EQ(remainder(kSiwRead, 0), kSiwRead);
  EXPECT_EQ(remainder(kSiwRead, 0x40).size, 0U);
}

TEST(AtomicRequest, InverseForAnyFields) {
  std::mt19937_64 random(5);
  for (int i = 0; i < 500; ++i) {
    Octets wire = octets("00000002");
    for (int k = 0; k < 48; ++k) wire.push_back(static_cast<std::byte>(random() & 0xff));
    const auto request = parse_atomic_request(wire);
    ASSERT_TRUE(request);
    EXPECT_EQ(serialized(*request), wire);
  }
}

// RFC 7306 sections 5.2.1 and 5.2.2; for a message of another size the table has no code of its own.
TEST(Atomics, MessagesOfAnotherSizeAreRefused) {
  constexpr auto kRefused = OperationError::kUnspecified;
  for (const std::size_t size : {0U, 51U, 53U}) EXPECT_EQ(parse_atomic_request(Octets(size)).error(), kRefused);
  for (const std::size_t size : {0U, 11U, 13U}) EXPECT_EQ(parse_atomic_response(Octets(size)).error(), kRefused);
}

TEST(AtomicResponse, InverseForAnyFields) {
  const AtomicResponse response{0x01020304, 0x05060708090a0b0c};
  EXPECT_EQ(serialized(response), octets("01020304 05060708090a0b0c"));
  EXPECT_EQ(parse_atomic_response(octets("01020304 05060708090a0b0c")), response);
}

TEST(Messages, AnyOtherLengthIsRefused) {
  for (std::size_t length = 0; length < 64; ++length) {
    const Octets payload(length);
    EXPECT_EQ(parse_read_request(payload).has_value(), length == 28) << length;
    EXPECT_EQ(parse_atomic_request(payload).has_value(), length == 52) << length;
    EXPECT_EQ(parse_atomic_response(payload).has_value(), length == 12) << length;
    EXPECT_EQ(parse_immediate(payload).has_value(), length == 8) << length;
  }
}

// Every ULPDU of a few captures of siw is admitted as what it is.
TEST(Admit, TakesSiwsMessages) {
  const std::pair<std::string_view, Opcode> seen[] = {
      {"c140 2b933100 00007f752bd16000", Opcode::kWrite},
      {"4141 00000000 00000001 00000001 00000000", Opcode::kReadRequest},
      {"c142 c64a8400 00007fbf7bff4000", Opcode::kReadResponse},
      {"4143 00000000 00000000 00000001 00000000", Opcode::kSend},
      {"4144 415f5f00 00000000 00000001 00000000", Opcode::kSendInvalidate},
      {"4145 00000000 00000000 00000002 00000000", Opcode::kSendSolicited},
      {"4146 35f9f900 00000000 00000001 00000000", Opcode::kSendSolicitedInvalidate},
      {"4147 00000000 00000002 00000001 00000000", Opcode::kTerminate},
  };
  for (const auto& [hex, opcode] : seen) EXPECT_EQ(admit(*ddp::parse(octets(hex))), opcode) << hex;
}

}  // namespace
}  // namespace weft::rdmap
