// SPDX-License-Identifier: Apache-2.0
// The Message Offset of untagged segments, RFC 5041 sections 5.2 and 7.1.
#include <algorithm>

#include "probe/cases/steps.hpp"
#include "probe/verdict.hpp"

namespace weft::probe {
namespace ddp_offsets_cases {
namespace {

using Layout = ddp::UntaggedLayout;

// Terminate 1/2/04 with the segment's header, and then the end.
void expect_offset_error(Conversation& by, const PeerFpdu& answer, Bytes offending) {
  const auto said = rdmap::parse_terminate(answer.payload());
  if (!answer.is(rdmap::Opcode::kTerminate) || !said || said->meant().error != kOffset)
    fail("a segment that does not go on where its Send ended was answered by something else than Terminate 1/2/04");
  const auto& quoted = said->meant().ddp_header;
  if (!quoted || !std::ranges::equal(quoted->octets(), rdmap::HeaderCopy::front_of(offending)->octets()))
    fail("the Terminate 1/2/04 does not quote the DDP header that was at fault");
  by.shut();
  by.expect_end_sometime("a Terminate is the last message of its direction", by.patience());
}

// Sends the segment, and after it a Read of no octets: its answer tells that the segment was taken. True then, and
// where the peer waits for something.
bool was_taken(Conversation& by, Bytes ulpdu) {
  by.send_ulpdu(ulpdu);
  by.send_ulpdu(by.make().read_request({.sink_stag = {7}, .sink_offset = {0x1234}}));
  PeerFpdu answer;
  const Came came = by.next(answer, by.patience(), message_of(rdmap::Opcode::kReadResponse));
  if (came == Came::kNothing || answer.is(rdmap::Opcode::kReadResponse)) return true;
  expect_offset_error(by, answer, ulpdu);
  return false;
}

// Within the buffer, and not where the message goes on. Check 3 of section 7.1 asks for the buffer's bounds alone, so a
// receiver may place such a segment. It never delivers a message that has a hole.
void expect_misplaced_refused(Scene& scene, Conversation& by, Bytes ulpdu) {
  const bool taken = was_taken(by, ulpdu);
  if (scene.offers(kReport | kSessions) && scene.report().receives_done != 1)
    fail("a Send whose segments do not follow each other was delivered");
  if (taken) warn("a segment that does not go on where its Send ended is not refused");
}

}  // namespace
}  // namespace ddp_offsets_cases

void add_ddp_offsets_cases(Cases& cases) {
  using namespace ddp_offsets_cases;
  // DDP-7.1-07: Before placing a non-zero-length untagged segment the receiver verifies that MO lies in the legal
  // offsets of the buffer.
  cases.add({.name = "untagged-mo-not-zero",
             .clause = "DDP-7.1-07",
             .what = "The first segment of a Send has MO 4: Terminate 1/2/04.",
             .needs = kStream,
             .also = {"DDP-7.2-11"}}) = [](Scene& scene) {
    Conversation& by = scene.connect();
    auto ulpdu = by.make().send(pattern(8));
    Layout::MoField::put(ulpdu, 4);
    expect_misplaced_refused(scene, by, ulpdu);
  };

  // DDP-7.1-07: Before placing a non-zero-length untagged segment the receiver verifies that MO lies in the legal
  // offsets of the buffer.
  cases.add({.name = "untagged-mo-beyond",
             .clause = "DDP-7.1-07",
             .what = "MO lies past the end of the buffer, or MO plus length passes 2^32: Terminate 1/2/04 (or 1/2/05).",
             .needs = kStream}) = [](Scene& scene) {
    for (const std::uint32_t offset : {0x10000U, 0x7FFFFFFFU, 0x80000000U, 0xFFFFFFFFU, 0xFFFFFFF8U}) {
      Conversation& by = scene.connect();
      auto ulpdu = by.make().send(pattern(8));
      Layout::MoField::put(ulpdu, offset);
      expect_refused(scene, by, ulpdu, {kOffset}, {kTooLong});
    }
  };

  // DDP-7.1-07: Before placing a non-zero-length untagged segment the receiver verifies that MO lies in the legal
  // offsets of the buffer.
  cases.add({.name = "untagged-mo-hole",
             .clause = "DDP-7.1-07",
             .what = "The second segment of a Send leaves octets out: Terminate 1/2/04, and no completion.",
             .needs = kReport | kSessions,
             .also = {"DDP-5.4-03"}}) = [](Scene& scene) {
    Conversation& by = scene.connect();
    by.send_ulpdu(by.make().send_segment(pattern(8), 0, false));
    expect_misplaced_refused(scene, by, by.make().send_segment(pattern(8), 12, true));
  };

  // DDP-7.1-07: Before placing a non-zero-length untagged segment the receiver verifies that MO lies in the legal
  // offsets of the buffer.
  cases.add({.name = "untagged-mo-overlap",
             .clause = "DDP-7.1-07",
             .what = "The second segment of a Send repeats octets of the first: Terminate 1/2/04.",
             .needs = kReceives}) = [](Scene& scene) {
    // Octets that come twice leave no hole, and no rule of the receiver's forbids them.
    Conversation& by = scene.connect();
    by.send_ulpdu(by.make().send_segment(pattern(8), 0, false));
    if (was_taken(by, by.make().send_segment(pattern(8), 4, true)))
      warn("a Send whose second segment repeats octets of the first is not refused");
  };
}

}  // namespace weft::probe
