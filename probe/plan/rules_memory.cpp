// SPDX-License-Identifier: Apache-2.0
// The plan of the peer's memory: STags, rights, invalidation, other streams. RFC 5041 section 7.1, RFC 5040 sections
// 5.3 and 7.2, RFC 5042.
#include <algorithm>

#include "probe/plan/axes.hpp"
#include "probe/plan/stage.hpp"

namespace weft::probe::plan {
namespace {

using ddp::TaggedLayout;
using ddp::UntaggedLayout;

const Errors kInvalidations{kCannotInvalidate, kCannotInvalidateOperation, kReadStag, kReadNotAssociated};

// Returns the errors for an STag that grants no access.
Errors stag_errors(Message message) {
  if (message == Message::kWrite) return {kTaggedStag, kTaggedNotAssociated};
  if (is_invalidate(message)) return kInvalidations;
  return {kReadStag, kReadNotAssociated};
}
// Returns the errors for an STag that the peer did not advertise: by chance, it may belong to other memory of the peer.
Errors any_errors(Message message) {
  Errors out = stag_errors(message);
  if (message == Message::kWrite)
    out.insert(out.end(), {kTaggedBounds, kReadRights});
  else
    out.insert(out.end(), {kReadBounds, kReadRights, kReadStag});
  return out;
}

constexpr std::uint64_t kExactly = 1ULL << 32U;  // the STag itself; else what it differs by

std::uint32_t other_stag(std::uint32_t stag, std::uint64_t value) {
  return (value & kExactly) != 0 ? static_cast<std::uint32_t>(value) : stag ^ static_cast<std::uint32_t>(value);
}

void put_stag(Ulpdu& ulpdu, Message message, std::uint64_t value) {
  if (message == Message::kWrite)
    return TaggedLayout::StagField::put(ulpdu, other_stag(TaggedLayout::StagField::get(ulpdu), value));
  if (is_invalidate(message))
    return UntaggedLayout::RsvdUlpWord::put(ulpdu, other_stag(UntaggedLayout::RsvdUlpWord::get(ulpdu), value));
  const MutableBytes payload = MutableBytes(ulpdu).subspan(UntaggedLayout::kSize);
  if (message == Message::kReadRequest) {
    using L = rdmap::ReadRequestLayout::SourceStag;
    return L::put(payload, other_stag(L::get(payload), value));
  }
  using L = rdmap::AtomicRequestLayout::RemoteStag;
  L::put(payload, other_stag(L::get(payload), value));
}

void stag(Scene& scene, const Combination& how) {
  Stage stage(scene, how);
  Draft draft = stage.draft();
  if (is_invalidate(how.message)) draft.region = scene.region(Region::kThisStream, kAllRights);
  expect_refused(stage, draft, [&](Ulpdu& ulpdu) { put_stag(ulpdu, how.message, how.value.number); },
                 {.any_of = any_errors(how.message), .by_rdmap = how.message != Message::kWrite});
}

// --- Rights. The value: those that the memory has, and whether it is used as they allow just before.
constexpr std::uint64_t kUsed = 0x100;

bool right_lacks(const Combination& how) {
  const std::uint64_t right = how.message == Message::kWrite         ? Region::kWrite
                              : how.message == Message::kReadRequest ? Region::kRead
                                                                     : Region::kAtomic;
  return is_possible(how) && (how.value.number & right) == 0;
}

// What the rights allow, after the good messages and before the one that they do not.
void use(Stage& stage, const Region& region, std::vector<Ulpdu>& before) {
  Messages& make = stage.by().make();
  if ((region.rights & Region::kWrite) != 0) before.push_back(make.write(region.stag, region.offset, pattern(16)));
  if ((region.rights & Region::kRead) != 0)
    before.push_back(make.read_request(read_of(region.stag, region.offset, 16)));
  if ((region.rights & Region::kAtomic) != 0)
    before.push_back(make.atomic(atomics::request(region, 0, atomics::add(0))));
}

void rights(Scene& scene, const Combination& how) {
  Stage stage(scene, how);
  const Region region = scene.region(Region::kPlain, static_cast<std::uint8_t>(how.value.number & 0xFFU));
  std::vector<Ulpdu> all;
  if ((how.value.number & kUsed) != 0) use(stage, region, all);
  Draft draft = stage.draft();
  if (how.message != Message::kWrite || how.segment == Segment::kOnly) draft.region = region;
  auto segments = stage.compose(draft);
  Ulpdu& faulty = segments[stage.faulty()];
  if (how.segment != Segment::kOnly) {
    TaggedLayout::StagField::put(faulty, region.stag.value);
    TaggedLayout::ToField::put(faulty, region.offset.value + Stage::kHere);
  }
  const Ulpdu offending = faulty;
  stage.deliver(segments, all);
  const Errors errors =
      how.message == Message::kWrite ? Errors{kTaggedStag, kTaggedNotAssociated, kReadRights} : Errors{kReadRights};
  stage.by().expect_terminate(errors, offending);
  stage.expect_no_trace(draft, how.message != Message::kWrite);
  if (how.message == Message::kWrite && (region.rights & Region::kRead) != 0 && scene.offers(kSessions))
    expect_content(scene, scene.rejoin(), region, Stage::kHere, first_octets(region, Stage::kHere, 20),
                   "memory without the right to be written was written");
}

// --- Memory of another stream, or of another domain. The value: which, and whether its owner uses it just before.

void of_another(Scene& scene, const Combination& how) {
  const auto kind = static_cast<Region::Kind>(how.value.number & 0xFFU);
  const bool foreign = kind == Region::kForeign || kind == Region::kOtherStream || kind == Region::kRevoked;
  Conversation* owner = nullptr;
  Region region;
  std::uint32_t receives = 0;
  if (!foreign) {
    owner = &scene.connect();
    scene.report(*owner);  // the window is bound by then
    region = scene.region(kind, kAllRights);
    receives = 1;
    if ((how.value.number & kUsed) != 0) {
      owner->send_ulpdu(owner->make().write(region.stag, region.offset, pattern(16)));
      scene.read_back(*owner, region, 0, 16);
    }
  }
  Stage stage(scene, how, {}, receives);
  if (foreign) region = scene.region(kind, kAllRights);
  Draft draft = stage.draft();
  const bool in_segments = how.segment != Segment::kOnly && how.message == Message::kWrite;
  if (!in_segments) draft.region = region;
  expect_refused(stage, draft,
                 [&](Ulpdu& ulpdu) {
                   if (!in_segments) return;
                   TaggedLayout::StagField::put(ulpdu, region.stag.value);
                   TaggedLayout::ToField::put(ulpdu, region.offset.value);
                 },
                 {.any_of = stag_errors(how.message),
                  .any_end = is_invalidate(how.message) && how.segment != Segment::kOnly,
                  .by_rdmap = how.message != Message::kWrite});
  if (owner == nullptr) return;
  owner->send_ulpdu(owner->make().write(region.stag, region.offset, pattern(16, 77)));
  if (scene.read_back(*owner, region, 0, 16) != pattern(16, 77))
    fail("memory was lost to its own stream when another one had tried it");
}

// --- Invalidation. The value: of what, and which access follows. The message is the Send with Invalidate.

enum Access : std::uint64_t { kWrites, kReadsIt, kAdds, kInvalidates };
constexpr std::uint64_t kOfWindow = 0x10;

void invalidation(Scene& scene, const Combination& how) {
  Stage stage(scene, how);
  Conversation& by = stage.by();
  const bool window = (how.value.number & kOfWindow) != 0;
  if (window) {
    scene.report(by);
    stage.count_receives(1);
  }
  const Region region = scene.region(window ? Region::kWindow : Region::kThisStream, kAllRights);
  Draft draft = stage.draft();
  draft.region = region;
  auto segments = stage.compose(draft);
  const auto access = static_cast<Access>(how.value.number & 0xFU);
  Messages& make = by.make();
  const Ulpdu late = access == kWrites    ? make.write(region.stag, region.offset, pattern(16, 50))
                     : access == kReadsIt ? make.read_request(read_of(region.stag, region.offset, 16))
                     : access == kAdds    ? make.atomic(atomics::request(region, 0, atomics::add(1)))
                                          : make.send(pattern(4), opcode_of(how.message), region.stag);
  segments.push_back(late);
  // Used until then: what the peer remembers of it is to be forgotten.
  stage.deliver(segments, {make.write(region.stag, region.offset, pattern(16))}, {}, segments.size() - 1);
  stage.count_receives(1);
  by.expect_terminate(stag_errors(access == kWrites        ? Message::kWrite
                                  : access == kInvalidates ? Message::kSendInvalidate
                                                           : Message::kReadRequest),
                      late);
  if (!scene.offers(kReport | kSessions)) return;
  Conversation& other = scene.rejoin();
  if (expect_receives(scene, other, stage.receives()).last_invalidated != region.stag.value)
    fail("the Send with Invalidate completed without its STag");
}

const std::vector<Message> kUses{Message::kWrite,   Message::kReadRequest,    Message::kFetchAdd,
                                 Message::kCmpSwap, Message::kSendInvalidate, Message::kSendSolicitedInvalidate};

std::uint32_t sends_too(const Combination& how) { return atomics_too(how) | needs_if(is_send(how.message), kReceives); }

}  // namespace

std::span<const Rule> memory_rules() {
  constexpr std::uint32_t kSeen = kRegions | kSessions;
  static const std::vector<Rule> rules{
      {.name = "stag",
       .clause = "DDP-7.1-12",
       .what = "An STag that differs from the peer's in one bit or completely: refused, and no trace of the message",
       .needs = kRegions,
       .axes = {kEverywhere,
                kUses,
                {{"zero", kExactly},
                 {"ones", kExactly | 0xFFFFFFFF},
                 {"bit-0", 1},
                 {"bit-7", 0x80},
                 {"bit-8", 0x100},
                 {"bit-15", 0x8000},
                 {"bit-16", 0x10000},
                 {"bit-23", 0x800000},
                 {"bit-24", 0x1000000},
                 {"bit-31", 0x80000000}},
                kEachSegment,
                kEachDelivery},
       .run = stag,
       .also = {"RDMAP-7.2-09", "RDMAP-7.2-07", "DDP-7.1-17", "SEC-5.1.1-01", "RDMAP-5.3-15"},
       .allowed =
           [](const Combination& how) {
             return is_possible(how) && (!is_invalidate(how.message) || how.segment == Segment::kOnly);
           },
       .needs_more = sends_too},
      {.name = "rights",
       .clause = "DDP-7.1-13",
       .what =
           "An access that its memory does not allow, also just after one that it does: refused, and no trace of it",
       .needs = kRegions,
       .axes = {kEverywhere,
                kAccesses,
                {{"none", 0},
                 {"read", 1},
                 {"write", 2},
                 {"read-write", 3},
                 {"atomic", 4},
                 {"read-used", kUsed | 1},
                 {"write-used", kUsed | 2},
                 {"read-write-used", kUsed | 3},
                 {"atomic-used", kUsed | 4}},
                kEachSegment,
                {Delivery::kApart, Delivery::kGlued}},
       .run = rights,
       .also = {"RDMAP-7.2-11", "SEC-2.2.2-02", "SEC-6.3.5-02"},
       .allowed = right_lacks,
       .needs_more = [](const Combination& how) -> std::uint32_t {
         return needs_if(is_atomic(how.message) || (how.value.number & Region::kAtomic) != 0, kAtomics);
       }},
      {.name = "other-stream",
       .clause = "DDP-8.3.1-03",
       .what = "Memory or a window of another stream, or of another domain: refused, and still valid for its owner",
       .needs = kSeen | kOrders,
       .axes = {kBehindFirst,
                kUses,
                {{"region", Region::kThisStream},
                 {"window", Region::kWindow},
                 {"region-used", kUsed | Region::kThisStream},
                 {"window-used", kUsed | Region::kWindow},
                 {"third-stream", Region::kOtherStream},
                 {"domain", Region::kForeign},
                 {"revoked", Region::kRevoked}},
                kEachSegment,
                {Delivery::kApart, Delivery::kGlued}},
       .run = of_another,
       .also = {"DDP-8.3.1-02", "RDMAP-7.2-10", "RDMAP-7.2-08", "SEC-6.1.1-03", "SEC-6.1.1-04", "SEC-2.2.5-02",
                "DDP-8.3-02"},
       .allowed = is_possible,
       .needs_more = sends_too},
      {.name = "invalidate",
       .clause = "RDMAP-5.3-14",
       .what =
           "A Send with Invalidate, whole or in segments, and an access of the STag after it: the access is refused",
       .needs = kOrders | kRegions,
       .axes = {kBehindFirst,
                {Message::kSendInvalidate, Message::kSendSolicitedInvalidate},
                {{"region-write", kWrites},
                 {"region-read", kReadsIt},
                 {"region-add", kAdds},
                 {"region-invalidate", kInvalidates},
                 {"window-write", kOfWindow | kWrites},
                 {"window-read", kOfWindow | kReadsIt},
                 {"window-add", kOfWindow | kAdds},
                 {"window-invalidate", kOfWindow | kInvalidates}},
                {Segment::kOnly, Segment::kThirdOf3},
                kEachDelivery},
       .run = invalidation,
       .also = {"RDMAP-1.2-02", "RDMAP-5.3-13", "RDMAP-5.3-16"},
       .needs_more = [](const Combination& how) -> std::uint32_t {
         return needs_if((how.value.number & 0xFU) == kAdds, kAtomics);
       }},
  };
  return rules;
}

}  // namespace weft::probe::plan
