// SPDX-License-Identifier: Apache-2.0
// What operations become on the wire: one message each, in the order of posting (RFC 5040 section 1.2, RFC 7306).
#include <catch2/catch.hpp>

#include <cstring>

#include "tests/engine/rogue.hpp"

namespace weft::engine::test::messages_clauses {
namespace {

using rdmap::Opcode;

struct Speaker : Rogue {
  explicit Speaker(const Config& config = responder()) : Rogue(config) {
    end.memory.add(1, 1000).octets = pattern(1000);
    establish();
    heard();
  }
  void post(WorkRequest request) { require(end.engine.post(request).has_value(), "post"); }
};

bool ends_message(const Heard& segment) {
  return std::visit([](const auto& header) { return header.last; }, segment.header);
}

// The messages heard, after checking that each FPDU holds a DDP segment with a control field of RDMAP.
std::vector<Opcode> messages(const std::vector<Heard>& segments) {
  std::vector<Opcode> all;
  for (const Heard& one : segments) {
    CHECK(rdmap::find_opcode(std::to_underlying(one.opcode)) != nullptr);
    const auto control = std::visit([](const auto& header) { return header.rsvd_ulp; }, one.header);
    CHECK(control == rdmap::control_octet(one.opcode));
    if (ends_message(one)) all.push_back(one.opcode);
  }
  return all;
}

TEST_CASE("Each operation is one message, of as many segments as it needs; a Read is two",
          "[RDMAP-1.2-01][RDMAP-3.1-01][RDMAP-6.1-02][RDMAP-5.2.2-01]") {
  Config config = responder();
  config.emss = 200;
  Speaker rogue(config);
  const rdmap::LocalSegment all{0, 1000, 1};
  for (const bool invalidates : {false, true}) {
    for (const bool solicited : {false, true}) {
      WorkRequest send = send_of(1, all);
      send.solicited = solicited;
      if (invalidates) send.invalidate = ddp::Stag{77};
      rogue.post(send);
    }
  }
  rogue.post(write_of(2, all, 9, 0));
  rogue.post(read_of(3, all, 9, 0));
  const auto segments = rogue.heard();
  CHECK(segments.size() > 25);
  CHECK(messages(segments) == std::vector{Opcode::kSend, Opcode::kSendSolicited, Opcode::kSendInvalidate,
                                          Opcode::kSendSolicitedInvalidate, Opcode::kWrite, Opcode::kReadRequest});
  rogue.read_request(1, {{7}, {0}, 1000, {1}, {0}});
  CHECK(messages(rogue.heard()) == std::vector{Opcode::kReadResponse});
  rogue.tagged(Opcode::kWrite, 99, 0, pattern(8));
  CHECK(messages(rogue.heard()) == std::vector{Opcode::kTerminate});
}

TEST_CASE("The wire does not show a gather list: one Write with all its octets", "[RDMAP-5.1-06]") {
  Speaker rogue;
  const std::array<rdmap::LocalSegment, 3> pieces{{{900, 100, 1}, {0, 1, 1}, {500, 99, 1}}};
  rogue.post({.cookie = 1, .operation = Operation::kWrite, .local = pieces, .remote_stag = {9}, .remote_offset = {5}});
  const auto all = rogue.heard();
  REQUIRE(all.size() == 1);
  const Octets source = pattern(1000);
  Octets expected(source.begin() + 900, source.end());
  expected.push_back(source[0]);
  expected.insert(expected.end(), source.begin() + 500, source.begin() + 599);
  CHECK(all[0].payload == expected);
  const auto& header = std::get<ddp::TaggedHeader>(all[0].header);
  CHECK(header.stag == ddp::Stag{9});  // DDP-5.2-09
  CHECK(header.offset == ddp::TaggedOffset{5});
}

TEST_CASE("DDP's control field is the third octet of the FPDU, after MPA's length", "[DDP-4.1-02]") {
  Speaker rogue;
  const rdmap::LocalSegment eight{0, 8, 1};
  const std::size_t before = rogue.end.sent.size();
  rogue.post(write_of(1, eight, 9, 0));
  rogue.flush();
  CHECK(rogue.end.sent[before] == std::byte{0});
  CHECK(rogue.end.sent[before + 1] == std::byte{14 + 8});
  CHECK(rogue.end.sent[before + 2] == std::byte{0xC1});  // tagged, last, version 1
}

TEST_CASE("Atomic Requests leave in the order of posting", "[RDMAPX-5.2.1-20]") {
  Speaker rogue;
  const rdmap::LocalSegment word{0, 8, 1};
  for (std::uint64_t i = 0; i < 3; ++i) {
    rogue.post({.cookie = i,
                .operation = i == 1 ? Operation::kCmpSwap : Operation::kFetchAdd,
                .local = rdmap::LocalSegments(&word, 1),
                .remote_stag = {9},
                .remote_offset = {100 - 8 * i}});
  }
  const auto all = rogue.heard();
  REQUIRE(all.size() == 3);
  for (std::uint32_t i = 0; i < 3; ++i) {
    const auto request = rdmap::parse_atomic_request(all[i].payload);
    REQUIRE(request);
    CHECK(request->offset == ddp::TaggedOffset{100 - 8 * i});
    CHECK(std::get<ddp::UntaggedHeader>(all[i].header).msn == ddp::Msn{i + 1});
  }
}

TEST_CASE("Immediate Data leaves in the order of posting", "[RDMAPX-6.3-06][RDMAPX-6.1-01]") {
  Speaker rogue;
  for (std::uint64_t i = 0; i < 3; ++i) {
    rogue.post({.cookie = i, .operation = Operation::kImmediate, .immediate = {static_cast<std::byte>(i)}});
  }
  const auto all = rogue.heard();
  REQUIRE(all.size() == 3);
  for (std::uint32_t i = 0; i < 3; ++i) {
    CHECK(all[i].payload.size() == 8);
    CHECK(all[i].payload[0] == static_cast<std::byte>(i));
    CHECK(std::get<ddp::UntaggedHeader>(all[i].header).msn == ddp::Msn{i + 1});
  }
  CHECK(rogue.end.count<SendCompleted>() == 3);
}

TEST_CASE("An atomic is complete when its Response brings the original value, not before",
          "[RDMAPX-5.4-01][RDMAPX-5.2.2-09]") {
  Speaker rogue;
  const rdmap::LocalSegment word{8, 8, 1};
  rogue.post({.cookie = 1, .operation = Operation::kFetchAdd, .local = rdmap::LocalSegments(&word, 1)});
  const auto all = rogue.heard();
  REQUIRE(all.size() == 1);
  CHECK(rogue.end.count<SendCompleted>() == 0);
  const auto request = rdmap::parse_atomic_request(all[0].payload);
  REQUIRE(request);
  Octets response(rdmap::AtomicResponseLayout::kSize);
  rdmap::serialize(rdmap::AtomicResponse{request->request_id, 0x1122334455667788}, response);
  rogue.untagged(Opcode::kAtomicResponse, 1, response);
  REQUIRE(rogue.end.count<SendCompleted>() == 1);
  CHECK(rogue.end.first<SendCompleted>()->status == WorkStatus::kSuccess);
  std::uint64_t original{};
  std::memcpy(&original, rogue.end.memory.regions()[1].octets.data() + 8, 8);
  CHECK(original == 0x1122334455667788);
}

TEST_CASE("Atomics are numbered from where the configuration says", "[RDMAPX-5.2.1-05]") {
  Config config = responder();
  config.first_atomic_id = 0xffffffff;
  Speaker rogue(config);
  const rdmap::LocalSegment word{8, 8, 1};
  for (std::uint64_t i = 1; i <= 2; ++i) {
    rogue.post({.cookie = i, .operation = Operation::kFetchAdd, .local = rdmap::LocalSegments(&word, 1)});
  }
  const auto all = rogue.heard();
  REQUIRE(all.size() == 2);
  CHECK(rdmap::parse_atomic_request(all[0].payload)->request_id == 0xffffffff);
  CHECK(rdmap::parse_atomic_request(all[1].payload)->request_id == 0);
}

}  // namespace
}  // namespace weft::engine::test::messages_clauses
