// SPDX-License-Identifier: Apache-2.0
// The plan of the headers of DDP and RDMAP: RFC 5041 sections 4, 5 and 7, RFC 5040 section 4.1.
#include "probe/plan/axes.hpp"
#include "probe/plan/stage.hpp"
#include "rdmap/control.hpp"

namespace weft::probe::plan {
namespace {

using ddp::TaggedLayout;
using ddp::UntaggedLayout;

void put_control(Ulpdu& ulpdu, int mask, std::uint64_t bits) {
  const int control = TaggedLayout::Ctrl::get(ulpdu) & ~mask;
  TaggedLayout::Ctrl::put(ulpdu, static_cast<std::uint8_t>(control | static_cast<int>(bits)));
}
void put_rdmap(Ulpdu& ulpdu, int mask, std::uint64_t bits) {
  const int control = TaggedLayout::RsvdUlp::get(ulpdu) & ~mask;
  TaggedLayout::RsvdUlp::put(ulpdu, static_cast<std::uint8_t>(control | static_cast<int>(bits)));
}

// A Terminate, or a Response, that is wrong: no code is fixed, the stream ends.
bool any_end(const Combination& how) {
  return how.message == Message::kTerminate || how.message == Message::kAtomicResponse;
}

void ddp_version(Scene& scene, const Combination& how) {
  Stage stage(scene, how);
  expect_refused(stage, stage.draft(),
                 [&](Ulpdu& ulpdu) { put_control(ulpdu, ddp::Control::kVersionMask, how.value.number); },
                 {.any_of = {is_tagged(how.message) ? kTaggedVersion : kUntaggedVersion}, .any_end = any_end(how)});
}

// Changes the RDMAP version. In a message of several segments, only one has the other version: DDP may pass RDMAP the
// RsvdULP of any one of them (DDP-4.3-08).
void rdmap_version(Scene& scene, const Combination& how) {
  Stage stage(scene, how);
  const auto change = [&](Ulpdu& ulpdu) { put_rdmap(ulpdu, rdmap::Control::kVersionMask, how.value.number); };
  if (how.segment == Segment::kOnly)
    return expect_refused(stage, stage.draft(), change,
                          {.any_of = {kVersion}, .any_end = any_end(how), .by_rdmap = true});
  auto segments = stage.compose(stage.draft());
  change(segments[stage.faulty()]);
  stage.deliver(segments);
  expect_refused_or_overlooked(
      stage.by(), kVersion,
      is_tagged(how.message) ? "the peer does not look at the RDMAP version of each tagged segment; RFC 5041 "
                               "section 4.2 does not say of which one RDMAP is told"
                             : "the peer does not look at the RDMAP version of each segment, as DDP-4.3-08 allows "
                               "it");
  stage.expect_no_trace(stage.draft(), true);
}
// Excludes invalidations in several segments: a peer that looks at another segment's version invalidates the STag or
// refuses it for another reason.
bool version_possible(const Combination& how) {
  return is_possible(how) && (how.segment == Segment::kOnly || !is_invalidate(how.message));
}

// Sends an undefined opcode, or an opcode of the other buffer model.
void opcode(Scene& scene, const Combination& how) {
  Stage stage(scene, how);
  Draft draft = stage.draft();
  Errors errors{kOpcode};
  // A peer may take the message for one of the new opcode, and report its queue number as invalid.
  if (!is_tagged(how.message) && how.value.number < 0xC) errors.push_back(kQueue);
  expect_refused(stage, draft, [&](Ulpdu& ulpdu) { put_rdmap(ulpdu, rdmap::Control::kOpcodeMask, how.value.number); },
                 {.any_of = errors, .by_rdmap = true});
}
bool opcode_differs(const Combination& how) {
  const auto* const row = rdmap::find_opcode(static_cast<std::uint8_t>(how.value.number));
  return row == nullptr || row->tagged() != is_tagged(how.message);
}

// Sends to a queue that does not exist: the value is the difference of its number from the right one.
void queue(Scene& scene, const Combination& how) {
  Stage stage(scene, how);
  expect_refused(stage, stage.draft(),
                 [&](Ulpdu& ulpdu) {
                   UntaggedLayout::QnField::put(
                       ulpdu, UntaggedLayout::QnField::get(ulpdu) ^ static_cast<std::uint32_t>(how.value.number));
                 },
                 {.any_of = {kQueue}, .tolerated = {kOpcode}, .any_end = any_end(how)});
}

constexpr std::uint64_t kZero = 1ULL << 32U;

// Which buffers lie ahead, only the peer knows: far ahead there is none.
void msn(Scene& scene, const Combination& how) {
  Stage stage(scene, how);
  expect_refused(stage, stage.draft(),
                 [&](Ulpdu& ulpdu) {
                   const std::uint32_t right = UntaggedLayout::MsnField::get(ulpdu);
                   UntaggedLayout::MsnField::put(
                       ulpdu, how.value.number == kZero ? 0 : right + static_cast<std::uint32_t>(how.value.number));
                 },
                 {.any_of = {kMsnRange, kNoBuffer}, .any_end = any_end(how)});
}

void mo(Scene& scene, const Combination& how) {
  Stage stage(scene, how);
  expect_refused(stage, stage.draft(),
                 [&](Ulpdu& ulpdu) {
                   const std::uint32_t right = UntaggedLayout::MoField::get(ulpdu);
                   UntaggedLayout::MoField::put(ulpdu, right + static_cast<std::uint32_t>(how.value.number));
                 },
                 {.any_of = {kOffset}, .tolerated = {kTooLong}, .any_end = any_end(how)});
}

// Longer than the receive by the value.
void too_long(Scene& scene, const Combination& how) {
  Stage stage(scene, how);
  Draft draft = stage.draft();
  draft.size = scene.advert().receive_size + static_cast<std::size_t>(how.value.number);
  expect_refused(stage, draft, {}, {.any_of = {kTooLong}, .tolerated = {kOffset}});
}
// Returns whether the last segment alone exceeds the buffer, in a message of three segments.
bool last_is_too_long(const Combination& how) { return how.segment == Segment::kOnly || how.value.number <= 256; }

const std::vector<Message> kUntagged = messages_that([](Message one) { return !is_tagged(one); });
const std::vector<Message> kSends = messages_that(is_send);

}  // namespace

std::span<const Rule> header_rules() {
  static const std::vector<Rule> rules{
      {.name = "ddp-version",
       .clause = "DDP-4.1-15",
       .what = "A segment of another version of DDP: Terminate 1/1/04 or 1/2/06, and no trace of it",
       .needs = kStream,
       .axes = {kEverywhere, kEachMessage, {{"0", 0}, {"2", 2}, {"3", 3}}, kEachSegment, kEachDelivery},
       .run = ddp_version,
       .also = {"DDP-7.2-07", "DDP-7.2-13", "DDP-6.2.2-03", "RDMAP-7.1-03"},
       .allowed = is_possible,
       .needs_more = needs_of_message},
      {.name = "rdmap-versions",
       .clause = "RDMAP-4.1-19",
       .what = "A message, or one segment of it, of another version of RDMAP: Terminate 0/2/05, and no trace of it",
       .needs = kStream,
       .axes = {kEverywhere, kEachMessage, {{"0", 0}, {"2", 0x80}, {"3", 0xC0}}, kEachSegment, kEachDelivery},
       .run = rdmap_version,
       .also = {"RDMAP-7.2-03", "RDMAP-7.1-03", "DDP-4.3-07", "DDP-4.3-08"},
       .allowed = version_possible,
       .needs_more = needs_of_message},
      {.name = "opcode",
       .clause = "RDMAP-4.1-15",
       .what = "An opcode that RDMAP does not have, or that is of the other kind of segment: Terminate 0/2/06",
       .needs = kStream,
       .axes = {kEverywhere,
                {Message::kWrite, Message::kSend},
                {{"0", 0},
                 {"1", 1},
                 {"2", 2},
                 {"3", 3},
                 {"4", 4},
                 {"7", 7},
                 {"8", 8},
                 {"a", 10},
                 {"b", 11},
                 {"c", 12},
                 {"d", 13},
                 {"e", 14},
                 {"f", 15}},
                {},
                kEachDelivery},
       .run = opcode,
       .also = {"RDMAP-4.1-16", "RDMAP-7.2-02"},
       .allowed = opcode_differs},
      {.name = "queue",
       .clause = "DDP-7.1-01",
       .what = "A queue that does not exist: Terminate 1/2/01, and no trace of the message",
       .needs = kStream,
       .axes = {kEverywhere,
                kUntagged,
                {{"xor-4", 4}, {"xor-8", 8}, {"xor-100", 0x100}, {"xor-10000", 0x10000}, {"xor-80000000", 0x80000000}},
                kEachSegment,
                kEachDelivery},
       .run = queue,
       .also = {"DDP-7.2-08"},
       .allowed = is_possible,
       .needs_more = needs_of_message},
      {.name = "msn",
       .clause = "DDP-7.1-09",
       .what = "An MSN that is not the next one: Terminate 1/2/03 (or 1/2/02), and no trace of the message",
       .needs = kStream,
       .axes = {kEverywhere,
                kUntagged,
                {{"zero", kZero},
                 {"less-1", 0xFFFFFFFF},
                 {"plus-4000", 0x4000},
                 {"plus-10000", 0x10000},
                 {"plus-1000000", 0x1000000},
                 {"plus-80000000", 0x80000000}},
                kEachSegment,
                kEachDelivery},
       .run = msn,
       .also = {"DDP-7.1-10", "DDP-7.2-10", "SEC-5.1.1-02"},
       .allowed = is_possible,
       .needs_more = needs_of_message},
      {.name = "mo",
       .clause = "DDP-7.1-07",
       .what = "An MO past the end of the buffer: Terminate 1/2/04, and no trace of the message",
       .needs = kStream,
       .axes = {kEverywhere,
                kUntagged,
                {{"plus-10000", 0x10000},
                 {"plus-1000000", 0x1000000},
                 {"plus-80000000", 0x80000000},
                 {"less-1", 0xFFFFFFFF}},
                kEachSegment,
                kEachDelivery},
       .run = mo,
       .also = {"DDP-7.2-11"},
       .allowed =
           [](const Combination& how) {
             return is_possible(how) && (how.value.number != 0xFFFFFFFF || how.segment == Segment::kOnly ||
                                         how.segment == Segment::kFirstOf3);
           },
       .needs_more = needs_of_message},
      {.name = "too-long",
       .clause = "DDP-7.1-08",
       .what = "A Send longer than its receive by so many octets: Terminate 1/2/05, and no completion",
       .needs = kReport | kRegions | kReceives,
       .axes = {kEverywhere,
                kSends,
                {{"1", 1}, {"4", 4}, {"256", 256}, {"1024", 1024}, {"31744", 31744}, {"60000", 60000}},
                {Segment::kOnly, Segment::kThirdOf3},
                kEachDelivery},
       .run = too_long,
       .also = {"DDP-7.2-12", "RDMAP-5.3-04"},
       .allowed = last_is_too_long},
  };
  return rules;
}

}  // namespace weft::probe::plan
