// SPDX-License-Identifier: Apache-2.0
// What a responder may answer when: never before what came earlier is placed and delivered (RFC 5040 appendix B,
// RFC 7306 section 7), and perhaps after what came later.
#include <catch2/catch.hpp>

#include <cstring>

#include "tests/engine/rogue.hpp"

namespace weft::engine::test::responses_clauses {
namespace {

using rdmap::Opcode;
using Want = ReceiveResult::Want;

struct Responder : Rogue {
  Responder() {
    end.memory.add(1, 64);
    establish();
    heard();
  }
  void ask(Opcode request) {
    if (request == Opcode::kReadRequest) return read_request(1, {{7}, {0}, 8, {1}, {0}});
    atomic_request(1, {{.add_or_swap = 1}, 5, {1}, {0}});
  }
  [[nodiscard]] std::uint64_t word() {
    std::uint64_t value{};
    std::memcpy(&value, end.memory.regions()[1].octets.data(), 8);
    return value;
  }
};

Octets octets_of(std::uint64_t value) {
  Octets octets(8);
  std::memcpy(octets.data(), &value, 8);
  return octets;
}

// What a response says of the word: a Read brings its octets, an atomic its original value.
std::uint64_t answer(const Heard& response) {
  if (response.opcode == Opcode::kAtomicResponse) return rdmap::parse_atomic_response(response.payload)->original;
  std::uint64_t value{};
  std::memcpy(&value, response.payload.data(), 8);
  return value;
}

TEST_CASE("Neither a Read nor an atomic is answered before the Send or Immediate Data ahead of it is complete",
          "[RDMAP-B-03][RDMAPX-7-03][RDMAPX-7-04][RDMAPX-7-13]") {
  Responder rogue;
  const auto first = GENERATE(Opcode::kSend, Opcode::kImmediate);
  const auto request = GENERATE(Opcode::kReadRequest, Opcode::kAtomicRequest);
  rogue.untagged(first, 1, pattern(8));  // and no receive is posted
  rogue.ask(request);
  CHECK(rogue.end.last.want == Want::kReceive);
  CHECK(rogue.heard().empty());
  CHECK(rogue.word() == 0);
  rogue.end.memory.post_receive(5, 64);
  rogue.offer();
  CHECK(rogue.end.count<Received>() == 1);
  CHECK(rogue.heard().size() == 1);
  CHECK(rogue.word() == (request == Opcode::kAtomicRequest ? 1 : 0));
}

TEST_CASE("A Read or an atomic sees what was written ahead of it", "[RDMAP-B-06][RDMAPX-7-14]") {
  Responder rogue;
  const auto request = GENERATE(Opcode::kReadRequest, Opcode::kAtomicRequest);
  rogue.tagged(Opcode::kWrite, 1, 0, octets_of(40));
  rogue.ask(request);
  const auto all = rogue.heard();
  REQUIRE(all.size() == 1);
  CHECK(answer(all[0]) == 40);
}

TEST_CASE("A response is made when it can be sent, and holds what was written meanwhile",
          "[RDMAP-5.5-15][RDMAPX-5.4-05]") {
  Responder rogue;
  const auto request = GENERATE(Opcode::kReadRequest, Opcode::kAtomicRequest);
  rogue.ask(request);
  rogue.tagged(Opcode::kWrite, 1, 0, octets_of(41));  // nothing has been sent since the request came
  const auto all = rogue.heard();
  REQUIRE(all.size() == 1);
  CHECK(answer(all[0]) == 41);
}

TEST_CASE("An Atomic Request in two segments is not started before the second", "[RDMAPX-5.4-06][RDMAPX-5.4-04]") {
  Responder rogue;
  Octets payload(rdmap::AtomicRequestLayout::kSize);
  rdmap::serialize(rdmap::AtomicRequest{{.add_or_swap = 1}, 5, {1}, {0}}, payload);
  rogue.untagged(Opcode::kAtomicRequest, 1, {payload.begin(), payload.begin() + 20}, 0, false);
  CHECK(rogue.heard().empty());
  CHECK(rogue.word() == 0);
  rogue.untagged(Opcode::kAtomicRequest, 1, {payload.begin() + 20, payload.end()}, 20);
  CHECK(rogue.heard().size() == 1);
  CHECK(rogue.word() == 1);
}

}  // namespace
}  // namespace weft::engine::test::responses_clauses
