// SPDX-License-Identifier: Apache-2.0
// The plan of the bounds of memory: RFC 5041 section 7.1, RFC 5040 section 7.2.
#include <algorithm>

#include "probe/plan/axes.hpp"
#include "probe/plan/stage.hpp"

namespace weft::probe::plan {
namespace {

using ddp::TaggedLayout;
using ddp::UntaggedLayout;

// --- Bounds

enum Edge : std::uint64_t { kBefore, kAllBefore, kAcross, kAtEnd, kUpToTop, kWraps, kFar };
constexpr std::uint64_t kEdgeBits = 8;

// Where the faulty segment of `size` octets begins.
std::uint64_t begin_of(const Region& region, std::size_t size, std::uint64_t value) {
  const std::uint64_t base = region.offset.value;
  switch (static_cast<Edge>(value & 0xFFU)) {
    case kBefore: return base - 1;
    case kAllBefore: return base - size;
    case kAcross: return base + region.length - size + 1;
    case kAtEnd: return base + region.length;
    case kUpToTop: return 0 - static_cast<std::uint64_t>(size);
    case kWraps: return 0 - static_cast<std::uint64_t>(size) / 2;
    case kFar: return base + (1ULL << (value >> kEdgeBits));
  }
  std::unreachable();
}

std::size_t put_begin(Ulpdu& ulpdu, Message message, const Region& region, std::uint64_t value) {
  if (message == Message::kWrite) {
    const std::size_t size = ulpdu.size() - TaggedLayout::kSize;
    TaggedLayout::ToField::put(ulpdu, begin_of(region, size, value));
    return size;
  }
  const MutableBytes payload = MutableBytes(ulpdu).subspan(UntaggedLayout::kSize);
  if (message == Message::kReadRequest) {
    using L = rdmap::ReadRequestLayout;
    const std::size_t size = L::Size::get(payload);
    L::SourceTo::put(payload, begin_of(region, size, value));
    return size;
  }
  rdmap::AtomicRequestLayout::RemoteTo::put(payload, begin_of(region, 8, value));
  return 8;
}

void bounds(Scene& scene, const Combination& how, Region::Kind kind) {
  Stage stage(scene, how);
  if (kind == Region::kWindow) {
    scene.report(stage.by());  // it is bound by then
    stage.count_receives(1);
  }
  Draft draft = stage.draft();
  const bool all = is_atomic(how.message) || kind == Region::kWindow;
  draft.region = scene.region(kind, all ? kAllRights : kReadWrite);
  draft.offset = draft.region.length < 2048 ? 256 : Stage::kHere;
  const bool write = how.message == Message::kWrite;
  const std::size_t octets = is_atomic(how.message) ? 8 : how.segment == Segment::kOnly ? draft.size : draft.size / 3;
  Errors errors = bounds_errors(write, {begin_of(draft.region, octets, how.value.number)}, octets);
  if (kind == Region::kTop) errors.push_back(write ? kTaggedWrap : kReadWrap);
  expect_refused(stage, draft, [&](Ulpdu& ulpdu) { put_begin(ulpdu, how.message, draft.region, how.value.number); },
                 {.any_of = errors, .by_rdmap = !write});
  const bool readable = kind != Region::kWindow && scene.offers(kSessions);
  if (!readable || !write) return;
  // The end of the region, where a part of what lay across would be.
  const std::size_t size = 32, from = draft.region.length - size;
  expect_content(scene, scene.rejoin(), draft.region, from, first_octets(draft.region, from, size),
                 "a part of a Write that lies beyond the region was placed");
}
void bounds_plain(Scene& scene, const Combination& how) { bounds(scene, how, Region::kPlain); }
void bounds_odd(Scene& scene, const Combination& how) { bounds(scene, how, Region::kOdd); }
void bounds_top(Scene& scene, const Combination& how) { bounds(scene, how, Region::kTop); }
void bounds_window(Scene& scene, const Combination& how) { bounds(scene, how, Region::kWindow); }
// Far from the region, where a peer that does not check has no memory. It has some close above that which ends below
// 2^64.
bool bounds_far(const Combination& how) {
  const auto edge = static_cast<Edge>(how.value.number & 0xFFU);
  return edge == kUpToTop || edge == kWraps || edge == kFar;
}
bool bounds_top_far(const Combination& how) { return static_cast<Edge>(how.value.number & 0xFFU) == kFar; }
// An address of an atomic that is not aligned is wrong in two ways.
bool bounds_possible(const Combination& how) {
  const auto edge = static_cast<Edge>(how.value.number & 0xFFU);
  return is_possible(how) && !(is_atomic(how.message) && (edge == kBefore || edge == kAcross || edge == kWraps));
}

// The Read's size alone is too large.
void read_size(Scene& scene, const Combination& how) {
  Stage stage(scene, how);
  Draft draft = stage.draft();
  draft.offset = 0;
  const auto size = static_cast<std::uint32_t>(how.value.number);
  expect_refused(stage, draft,
                 [&](Ulpdu& ulpdu) {
                   rdmap::ReadRequestLayout::Size::put(MutableBytes(ulpdu).subspan(UntaggedLayout::kSize), size);
                 },
                 {.any_of = {kReadBounds, kReadWrap}, .by_rdmap = true});
}

constexpr std::uint64_t far(std::uint64_t bit) { return kFar | bit << kEdgeBits; }
const std::vector<Value> kEdges{
    {"before", kBefore}, {"all-before", kAllBefore}, {"across", kAcross}, {"at-end", kAtEnd},  {"up-to-2-64", kUpToTop},
    {"wraps", kWraps},   {"bit-17", far(17)},        {"bit-24", far(24)}, {"bit-31", far(31)}, {"bit-32", far(32)},
    {"bit-40", far(40)}, {"bit-48", far(48)},        {"bit-63", far(63)}};
const std::vector<Value> kNearEdges{{"before", kBefore}, {"all-before", kAllBefore}, {"across", kAcross},
                                    {"at-end", kAtEnd},  {"bit-31", far(31)},        {"bit-32", far(32)}};
// Edges of memory that ends close below 2^64.
const std::vector<Value> kTopEdges = [] {
  std::vector<Value> out = kNearEdges;
  out.insert(out.end(), {{"up-to-2-64", kUpToTop}, {"wraps", kWraps}});
  return out;
}();

}  // namespace

std::span<const Rule> bounds_rules() {
  constexpr std::uint32_t kSeen = kRegions | kSessions;
  static const std::vector<Rule> rules{
      {.name = "bounds",
       .clause = "DDP-7.1-14",
       .what = "A message beyond its memory, at an edge or by one bit of its offset: Terminate of the bounds, and no "
               "trace of it",
       .needs = kSeen,
       .axes = {kEverywhere, kAccesses, kEdges, kEachSegment, kEachDelivery},
       .run = bounds_plain,
       .also = {"DDP-7.1-15", "DDP-7.1-16", "RDMAP-7.2-12", "RDMAP-7.2-13", "RDMAP-7.2-14", "SEC-6.2.1-01"},
       .allowed = bounds_possible,
       .needs_more = atomics_too,
       .last = bounds_far},
      {.name = "bounds-odd",
       .clause = "DDP-7.1-14",
       .what = "The same of memory whose first octet and length are odd",
       .needs = kSeen,
       .axes = {{}, {Message::kWrite, Message::kReadRequest}, kNearEdges, kEachSegment, kEachDelivery},
       .run = bounds_odd,
       .also = {"DDP-7.1-15", "RDMAP-7.2-12", "RDMAP-7.2-13"},
       .allowed = bounds_possible,
       .last = bounds_far},
      {.name = "bounds-top",
       .clause = "DDP-7.1-16",
       .what = "The same of memory whose offsets end close below 2^64",
       .needs = kSeen,
       .axes = {{}, {Message::kWrite, Message::kReadRequest}, kTopEdges, kEachSegment, kEachDelivery},
       .run = bounds_top,
       .also = {"DDP-7.1-14", "DDP-7.1-15", "RDMAP-7.2-14", "RDMAP-7.2-13"},
       .allowed = bounds_possible,
       .last = bounds_top_far},
      {.name = "bounds-window",
       .clause = "DDP-8.3.1-04",
       .what = "The same for a window, inside the region of which it covers a part",
       .needs = kSeen | kOrders,
       .axes = {kBehindFirst, kAccesses, kEdges, kEachSegment, kEachDelivery},
       .run = bounds_window,
       .also = {"DDP-7.1-14", "DDP-7.1-15", "RDMAP-7.2-12", "RDMAP-7.2-13", "SEC-6.2.1-02"},
       .allowed = bounds_possible,
       .needs_more = atomics_too,
       .last = bounds_far},
      {.name = "read-size",
       .clause = "RDMAP-7.2-13",
       .what = "A Read of more octets than there are: Terminate 0/1/01, and no octet of it",
       .needs = kRegions,
       .axes = {kEverywhere,
                {Message::kReadRequest},
                {{"10001", 0x10001},
                 {"20000", 0x20000},
                 {"1000000", 0x1000000},
                 {"7fffffff", 0x7FFFFFFF},
                 {"80000000", 0x80000000},
                 {"ffffffff", 0xFFFFFFFF}},
                {},
                kEachDelivery},
       .run = read_size,
       .also = {"RDMAP-7.2-12"},
       .last = [](const Combination& how) { return how.value.number >= 0x1000000; }},
  };
  return rules;
}

}  // namespace weft::probe::plan
