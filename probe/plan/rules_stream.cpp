// SPDX-License-Identifier: Apache-2.0
// The plan of the prober's answers, and of what the peer sends itself: RFC 5040 sections 5.2.2 and 5.5, RFC 7306
// section 5.2.2.
#include <algorithm>

#include "probe/plan/axes.hpp"
#include "probe/plan/stage.hpp"

namespace weft::probe::plan {
namespace {

using ddp::TaggedLayout;
using ddp::UntaggedLayout;

// As in probe/cases/rfc5040_5_2_read_responses.cpp: what a peer may call an answer that does not fit.
const Errors kWrongAnswer{kTaggedStag, kTaggedBounds, kTaggedWrap,  kTaggedNotAssociated,     kOpcode,
                          kOperation,  kProtection,   kStreamError, rdmap::kLocalCatastrophic};
const Errors kPoorAnswer{{rdmap::Layer::kDdp, 0, 0}};
const Errors kWrongAtomic{
    kOpcode, kOperation, kStreamError, kNoBuffer, kMsnRange, kQueue, kTooLong, kOffset, rdmap::kLocalCatastrophic};

void expect_not_done(Scene& scene, const char* what) {
  if (scene.offers(kReport | kSessions | kRegions) && look(scene, scene.rejoin()).requests_done != 0) fail(what);
}

// --- Read Responses. The value: a field and what is added to it, or XORed.

enum Field : std::uint64_t { kStag, kOffset, kLonger };
constexpr std::uint64_t kFieldBits = 56;
constexpr std::uint64_t of(Field field, std::uint64_t number) { return std::uint64_t{field} << kFieldBits | number; }
constexpr std::uint64_t kNumber = (1ULL << kFieldBits) - 1;

void wrong_response(Scene& scene, const Combination& how) {
  Stage stage(scene, how);
  const std::uint64_t number = how.value.number & kNumber;
  expect_refused(stage, stage.draft(),
                 [&](Ulpdu& ulpdu) {
                   switch (static_cast<Field>(how.value.number >> kFieldBits)) {
                     case kStag:
                       return TaggedLayout::StagField::put(
                           ulpdu, TaggedLayout::StagField::get(ulpdu) ^ static_cast<std::uint32_t>(number));
                     case kOffset: return TaggedLayout::ToField::put(ulpdu, TaggedLayout::ToField::get(ulpdu) + number);
                     case kLonger: return void(ulpdu.resize(ulpdu.size() + number));
                   }
                 },
                 {.any_of = kWrongAnswer, .tolerated = kPoorAnswer, .by_rdmap = true});
  expect_not_done(scene, "a Read completed by an answer that was refused");
}
// A segment that is longer than it should be lets the next one overlap, which is no fault of it.
bool response_possible(const Combination& how) {
  if (!is_possible(how)) return false;
  const bool last = how.segment == Segment::kOnly || how.segment == Segment::kThirdOf3;
  // Nor is a hole that the octets before it leave: each segment of a tagged message is valid by itself.
  const bool inside = how.value.number == of(kOffset, 1);
  return last || (static_cast<Field>(how.value.number >> kFieldBits) != kLonger && !inside);
}

// All octets have come, and L has not: the Read is not done. The value: octets of the last segment.
void without_last(Scene& scene, const Combination& how) {
  Stage stage(scene, how);
  auto segments = stage.compose(stage.draft());
  for (Ulpdu& one : segments) one[0] &= ~std::byte{ddp::Control::kLast};
  Conversation& by = stage.by();
  if (how.delivery == Delivery::kGlued) {
    Burst all(by);
    for (const Ulpdu& one : segments) by.about_next(), all.add(one);
    all.send();
  } else {
    for (const Ulpdu& one : segments) {
      by.about_next();
      const auto fpdu = by.fpdu(one);
      if (how.delivery == Delivery::kDribbled)
        dribble(by, fpdu);
      else
        by.send(fpdu);
    }
  }
  PeerFpdu fpdu;
  const Came came = by.next(fpdu, scene.quiet());
  expect_not_done(scene, "a Read completed before the last segment (L) of its Response");
  if (came != Came::kNothing) return;  // it refuses, or ends
  const auto stag = TaggedLayout::StagField::get(segments.front());
  const auto end = TaggedLayout::ToField::get(segments.back()) + segments.back().size() - TaggedLayout::kSize;
  by.send_ulpdu(by.make().read_response({stag}, {end}, {}));
  if (by.next(fpdu, scene.quiet()) == Came::kNothing && scene.offers(kOrders)) expect_requests_done(scene, by, 1);
}

// --- Atomic Responses. The value: what the identifier differs by, or how long the message is.
constexpr std::uint64_t kLength = 1ULL << 40U;

void wrong_atomic_response(Scene& scene, const Combination& how) {
  Stage stage(scene, how);
  expect_refused(stage, stage.draft(),
                 [&](Ulpdu& ulpdu) {
                   if ((how.value.number & kLength) != 0)
                     return void(ulpdu.resize(UntaggedLayout::kSize + (how.value.number & 0xFFU)));
                   using L = rdmap::AtomicResponseLayout::RequestId;
                   const MutableBytes payload = MutableBytes(ulpdu).subspan(UntaggedLayout::kSize);
                   L::put(payload, L::get(payload) ^ static_cast<std::uint32_t>(how.value.number));
                 },
                 {.any_of = kWrongAtomic, .by_rdmap = true});
  expect_not_done(scene, "an atomic completed by an answer that was refused");
}

// --- What the peer sends: the rules of the auditor judge it. The value: octets of each message, and whether we ask for
// Markers.
constexpr std::uint64_t kMarked = 1ULL << 32U;

std::uint8_t operation_of(Message message) {
  switch (message) {
    case Message::kSendInvalidate: return Order::kSendInvalidate;
    case Message::kSendSolicited: return Order::kSendSolicited;
    case Message::kSendSolicitedInvalidate: return Order::kSendSolicitedInvalidate;
    case Message::kWrite: return Order::kWrite;
    case Message::kReadRequest: return Order::kRead;
    case Message::kFetchAdd: return Order::kFetchAdd;
    case Message::kCmpSwap: return Order::kCmpSwap;
    case Message::kImmediate: return Order::kImmediate;
    case Message::kImmediateSolicited: return Order::kImmediateSolicited;
    default: return Order::kSend;
  }
}

void of_the_peer(Scene& scene, const Combination& how) {
  Opening opening;
  opening.start_up.markers = (how.value.number & kMarked) != 0;
  Conversation& by = scene.connect(opening);
  if (is_atomic(how.message)) atomics::need_memory(scene);
  const std::uint16_t count = how.place == Place::kAfter32Messages ? 36 : 3;
  const auto size = static_cast<std::uint32_t>(how.value.number);
  scene.order(by, {.operation = operation_of(how.message),
                   .count = count,
                   .length = size,
                   .stag = Scene::kOwnStag,
                   .offset = {0x4000},
                   .first = 1,
                   .second = how.message == Message::kCmpSwap ? 2U : 0U});
  for (std::uint16_t i = 0; i < count; ++i) {
    if (how.message == Message::kReadRequest) {
      const auto request = by.expect_read_request(size);
      if (request.size != size) fail("the peer's Read Request asks for another number of octets than it was told");
      constexpr std::size_t kAtOnce = 16000;
      const auto octets = pattern(size);
      for (std::size_t at = 0; at < size || at == 0; at += kAtOnce) {
        const std::size_t piece = std::min(kAtOnce, octets.size() - at);
        by.send_ulpdu(by.make().read_response(request.sink_stag, {request.sink_offset.value + at},
                                              Bytes(octets).subspan(at, piece), at + piece == octets.size()));
      }
    } else if (is_atomic(how.message)) {
      const auto asked = rdmap::parse_atomic_request(by.expect_message(rdmap::Opcode::kAtomicRequest).payload());
      if (!asked) fail("the peer's Atomic Request is malformed");
      by.send_ulpdu(by.make().atomic_response({.request_id = asked->request_id, .original = i}));
    } else {
      by.expect_whole(opcode_of(how.message), is_immediate(how.message) ? 8 : size, {0x4000});
    }
  }
  expect_requests_done(scene, by, count);
}
bool sized(const Combination& how) {
  const bool fixed = is_atomic(how.message) || is_immediate(how.message);
  return !fixed || how.value.number == 0 || how.value.number == kMarked;
}

}  // namespace

std::span<const Rule> stream_rules() {
  static const std::vector<Rule> rules{
      {.name = "response",
       .clause = "RDMAP-5.2.2-05",
       .what =
           "A Read Response whose STag, offset or length is not what was asked for: refused, and the Read is not done",
       .needs = kReads,
       .axes = {kBehindFirst,
                {Message::kReadResponse},
                {{"stag-bit-0", of(kStag, 1)},
                 {"stag-bit-8", of(kStag, 0x100)},
                 {"stag-bit-16", of(kStag, 0x10000)},
                 {"stag-bit-31", of(kStag, 0x80000000)},
                 {"plus-1", of(kOffset, 1)},
                 {"plus-10000", of(kOffset, 0x10000)},
                 {"plus-80000000", of(kOffset, 0x80000000)},
                 {"plus-100000000", of(kOffset, 0x100000000)},
                 {"plus-8000000000000", of(kOffset, 0x8000000000000)},
                 {"longer-1", of(kLonger, 1)},
                 {"longer-4", of(kLonger, 4)},
                 {"longer-256", of(kLonger, 256)},
                 {"longer-30000", of(kLonger, 30000)}},
                kEachSegment,
                kEachDelivery},
       .run = wrong_response,
       .also = {"RDMAP-5.2.2-08", "RDMAP-7.2-01", "SEC-6.2.1-01"},
       .allowed = response_possible},
      {.name = "response-without-last",
       .clause = "DDP-4.1-10",
       .what = "A Read Response has all its octets, and no segment with L: the Read is not done",
       .needs = kReads,
       .axes = {kBehindFirst, {Message::kReadResponse}, {}, {Segment::kOnly, Segment::kThirdOf3}, kEachDelivery},
       .run = without_last,
       .also = {"RDMAP-5.2.2-05"}},
      {.name = "atomic-response",
       .clause = "RDMAPX-5.2.2-10",
       .what = "An Atomic Response of another identifier, by one bit, or of a wrong length: refused, and the atomic is "
               "not done",
       .needs = kOrders | kAtomics,
       .axes = {{Place::kSecond, Place::kMiddle},
                {Message::kAtomicResponse},
                {{"bit-0", 1},
                 {"bit-8", 0x100},
                 {"bit-16", 0x10000},
                 {"bit-31", 0x80000000},
                 {"length-0", kLength},
                 {"length-4", kLength | 4},
                 {"length-11", kLength | 11},
                 {"length-13", kLength | 13},
                 {"length-16", kLength | 16}},
                {},
                kEachDelivery},
       .run = wrong_atomic_response},
      {.name = "peer-sends",
       .clause = "RDMAP-4.1-10",
       .what = "The peer sends so many octets, a few times or 36 times: the auditor judges each octet",
       .needs = kOrders,
       .axes = {{Place::kSecond, Place::kAfter32Messages},
                {Message::kWrite, Message::kReadRequest, Message::kSend, Message::kSendInvalidate,
                 Message::kSendSolicited, Message::kSendSolicitedInvalidate, Message::kImmediate,
                 Message::kImmediateSolicited, Message::kFetchAdd, Message::kCmpSwap},
                {{"0", 0},
                 {"1", 1},
                 {"3", 3},
                 {"256", 256},
                 {"65535", 65535},
                 {"65536", 65536},
                 {"marked-0", kMarked},
                 {"marked-1", kMarked | 1},
                 {"marked-486", kMarked | 486},
                 {"marked-511", kMarked | 511},
                 {"marked-4096", kMarked | 4096},
                 {"marked-65537", kMarked | 65537}},
                {},
                {}},
       .run = of_the_peer,
       .also = {"RDMAP-4.1-11", "RDMAP-4.1-12", "RDMAP-4.1-13", "MPA-4.3-03", "MPA-4.1-02"},
       .allowed = sized,
       .needs_more = [](const Combination& how) -> std::uint32_t {
         return needs_if(is_atomic(how.message) || is_immediate(how.message), kAtomics);
       }},
  };
  return rules;
}

}  // namespace weft::probe::plan
