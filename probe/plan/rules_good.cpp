// SPDX-License-Identifier: Apache-2.0
// The plan of what is right: it is delivered, whole, whatever its size, its place and its cuts; also with bits set that
// mean nothing.
#include <fmt/format.h>

#include "probe/plan/axes.hpp"
#include "probe/plan/stage.hpp"
#include "rdmap/atomics.hpp"
#include "rdmap/control.hpp"

namespace weft::probe::plan {
namespace {

using ddp::TaggedLayout;
using ddp::UntaggedLayout;

// The message has its effect. Its segments were delivered; what followed was, too.
void expect_effect(Stage& stage, const Draft& draft) {
  Scene& scene = stage.scene();
  Conversation& by = stage.by();
  const auto payload = pattern(draft.size, draft.first);
  switch (draft.message) {
    case Message::kWrite:
      return expect_content(scene, by, draft.region, static_cast<std::size_t>(draft.offset), payload,
                            "a Write was lost, or changed");
    case Message::kReadRequest: {
      const auto octets = by.expect_read_response(Scene::kOwnStag, {0x30000}, draft.size);
      const auto wanted = first_octets(draft.region, static_cast<std::size_t>(draft.offset), draft.size);
      for (std::size_t i = 0; i < draft.size; ++i) {
        const auto at = static_cast<std::size_t>(draft.offset) + i;
        // Skips octets that the good Writes before and after this message changed.
        if (at < 512 || (at >= kBehind && at < kBehind + kAround)) continue;
        if (octets[i] != wanted[i]) fail(fmt::format("a Read of {} octets brought another octet at {}", draft.size, i));
      }
      return;
    }
    case Message::kSend:
    case Message::kSendSolicited:
    case Message::kSendInvalidate:
    case Message::kSendSolicitedInvalidate: {
      PeerReport before = look(scene, by);
      before.receives_done = stage.receives();
      expect_delivered(scene, by, payload, before);
      if (is_invalidate(draft.message) && look(scene, by).last_invalidated != draft.region.stag.value)
        fail("a Send with Invalidate completed without its STag");
      return;
    }
    case Message::kImmediate:
    case Message::kImmediateSolicited: {
      const PeerReport seen = expect_receives(scene, by, stage.receives() + 1);
      if (seen.last_immediate_high != 0x01234567 || seen.last_immediate_low != 0x89ABCDEF)
        fail("Immediate Data came as other octets");
      return;
    }
    case Message::kReadResponse:
    case Message::kAtomicResponse: return expect_requests_done(scene, by, 1);
    case Message::kTerminate: {
      by.expect_end_sometime("a Terminate came", by.patience());
      // The peer's program may learn of it a little later.
      Conversation& other = scene.rejoin();
      const Instant deadline = now() + scene.patience();
      while (look(scene, other).terminate_received == 0) {
        if (now() > deadline) fail("a Terminate was not taken for one");
      }
      return;
    }
    case Message::kFetchAdd:
    case Message::kCmpSwap: return;
  }
}

void delivered(Scene& scene, const Combination& how) {
  Stage stage(scene, how);
  Draft draft = stage.draft();
  if (is_invalidate(how.message)) draft.region = scene.region(Region::kThisStream, kAllRights);
  if (is_send(how.message) || how.message == Message::kWrite || how.message == Message::kReadRequest)
    draft.size = static_cast<std::size_t>(how.value.number);
  if (is_send(how.message) && draft.size > scene.advert().receive_size)
    not_applicable(fmt::format("the peer's receives have {} octets", scene.advert().receive_size));
  // After what follows: it may have the whole of the memory.
  if (draft.size > 2048) draft.offset = 0;
  const auto segments = stage.compose(draft);
  const bool covers = draft.size > kBehind && draft.message == Message::kWrite;
  if (!covers) {
    stage.deliver(segments);
    return expect_effect(stage, draft);
  }
  for (const Ulpdu& one : segments) stage.by().send_ulpdu(one);
  expect_effect(stage, draft);
}
bool size_possible(const Combination& how) {
  if (!is_possible(how)) return false;
  if (is_send(how.message)) return how.value.number <= 1024;
  const bool sized = how.message == Message::kWrite || how.message == Message::kReadRequest;
  if (how.delivery != Delivery::kApart && how.value.number > 4096) return false;
  // A ULPDU has at most 64,768 octets.
  return sized ? how.value.number <= 64000 || how.message == Message::kReadRequest || how.segment != Segment::kOnly
               : how.value.number == 0;
}

// --- Bits that mean nothing. The value: which.

enum Bits : std::uint64_t { kDdp = 1, kRdmap, kWord, kPad };

void reserved(Scene& scene, const Combination& how) {
  Stage stage(scene, how);
  Draft draft = stage.draft();
  if (how.message != Message::kReadResponse) draft.size = 61;  // so that there is PAD
  if (is_invalidate(how.message)) draft.region = scene.region(Region::kThisStream, kAllRights);
  auto segments = stage.compose(draft);
  FpduFault fault;
  Ulpdu& one = segments[stage.faulty()];
  switch (static_cast<Bits>(how.value.number & 0xFU)) {
    case kDdp: one[0] |= static_cast<std::byte>(how.value.number >> 8U); break;
    case kRdmap: one[1] |= static_cast<std::byte>(how.value.number >> 8U); break;
    case kWord: UntaggedLayout::RsvdUlpWord::put(one, static_cast<std::uint32_t>(how.value.number >> 8U)); break;
    case kPad: fault.pad = static_cast<std::byte>(how.value.number >> 8U); break;
  }
  stage.deliver(segments, fault);
  expect_effect(stage, draft);
}
bool word_is_free(const Combination& how) {
  if (!is_possible(how)) return false;
  return (how.value.number & 0xFU) != kWord || (!is_tagged(how.message) && !is_invalidate(how.message));
}

// --- Atomics. The value: a row of the table.

struct Sum {
  std::string_view label;
  std::uint64_t before;
  rdmap::AtomicOperation operation;
};
const std::vector<Sum>& sums() {
  using atomics::add, atomics::swap;
  constexpr std::uint64_t kAll = ~0ULL, kHigh = 0xFFFFFFFF00000000, kLow = 0xFFFFFFFF, kTop = 1ULL << 63U;
  static const std::vector<Sum> all{
      {"add-0", 0x1122334455667788, add(0)},
      {"add-1-at-7fffffff", 0x7FFFFFFF, add(1)},
      {"add-1-at-ffffffff", kLow, add(1)},
      {"add-1-at-top", kTop - 1, add(1)},
      {"add-1-at-ones", kAll, add(1)},
      {"add-ones", 5, add(kAll)},
      {"add-high", 0x0000000100000000, add(0x8000000000000000)},
      {"add-mask-32", 0x7FFFFFFFFFFFFFFF, add(0x0000000100000001, 0x8000000080000000)},
      {"add-mask-top", kAll, add(1, kTop)},
      {"add-mask-bit-0", 1, add(1, 1)},
      {"swap-equal", 0x1122334455667788, swap(0x1122334455667788, kAll, 3, kAll)},
      {"swap-high-differs", 0x1122334455667788, swap(0x9922334455667788, kAll, 3, kAll)},
      {"swap-low-differs", 0x1122334455667788, swap(0x1122334455667789, kAll, 3, kAll)},
      {"swap-middle-differs", 0x1122334455667788, swap(0x1122334555667788, kAll, 3, kAll)},
      {"swap-zero", 0, swap(0, kAll, kAll, kAll)},
      {"swap-ones", kAll, swap(kAll, kAll, 0, kAll)},
      {"swap-compare-high", 0x1122334455667788, swap(0x1122334400000000, kHigh, kAll, kAll)},
      {"swap-compare-low", 0x1122334455667788, swap(0xFFFFFFFF55667788, kLow, 0, kAll)},
      {"swap-compare-high-differs", 0x1122334455667788, swap(0x1122334500000000, kHigh, kAll, kAll)},
      {"swap-into-high", 0x1122334455667788, swap(0, 0, kAll, kHigh)},
      {"swap-into-low", 0x1122334455667788, swap(0, 0, 0, kLow)},
      {"swap-into-nothing", 0x1122334455667788, swap(0x1122334455667788, kAll, 0, 0)},
  };
  return all;
}

void atomic_value(Scene& scene, const Combination& how) {
  Stage stage(scene, how);
  Conversation& by = stage.by();
  const Sum& sum = sums()[static_cast<std::size_t>(how.value.number)];
  Draft draft = stage.draft();
  draft.operation = sum.operation;
  const auto ask = [&](const rdmap::AtomicOperation& operation, std::uint32_t id) {
    return by.make().atomic({.operation = operation,
                             .request_id = id,
                             .stag = draft.region.stag,
                             .offset = at(draft.region, draft.offset)});
  };
  // The value before it in the same TCP segment, and the look at it after.
  std::vector<Ulpdu> before{ask(atomics::swap(0, 0, sum.before, ~0ULL), 1)};
  auto segments = stage.compose(draft);
  segments.push_back(ask(atomics::add(0), 2));
  stage.deliver(segments, before);
  const auto answer = [&](std::uint32_t id) {
    const auto response = rdmap::parse_atomic_response(by.expect_message(rdmap::Opcode::kAtomicResponse).payload());
    if (!response) fail("the Atomic Response is malformed");
    if (response->request_id != id)
      fail(fmt::format("the Atomic Response is of {:#x}; the Request was {:#x}", response->request_id, id));
    return response->original;
  };
  answer(1);
  if (const auto said = answer(0x01020304); said != sum.before)
    fail(fmt::format("an atomic says {:#x} was there; it was {:#x}", said, sum.before));
  const auto wanted = rdmap::apply(sum.operation, sum.before);
  if (const auto there = answer(2); there != wanted)
    fail(fmt::format("after an atomic {:#x} is there, not {:#x}", there, wanted));
}

std::vector<Value> sum_values() {
  std::vector<Value> out;
  for (std::size_t i = 0; i < sums().size(); ++i) out.push_back({sums()[i].label, i});
  return out;
}

constexpr std::uint32_t kAll = kReport | kRegions | kSessions | kOrders;
std::uint32_t needs_of_good(const Combination& how) {
  return needs_of_message(how) | (is_send(how.message) ? std::uint32_t{kReceives} : 0U);
}

const std::vector<Message> kNoAtomic = messages_that([](Message one) { return !is_atomic(one); });

}  // namespace

std::span<const Rule> good_rules() {
  static const std::vector<Rule> rules{
      {.name = "good",
       .clause = "DDP-3-04",
       .what = "A message of this many octets takes effect as a whole, wherever it is in the stream and however it is "
               "divided",
       .needs = kAll,
       .axes = {kEverywhere,
                kNoAtomic,
                {{"0", 0},
                 {"1", 1},
                 {"3", 3},
                 {"4", 4},
                 {"255", 255},
                 {"256", 256},
                 {"257", 257},
                 {"1023", 1023},
                 {"1024", 1024},
                 {"4095", 4095},
                 {"32768", 32768},
                 {"65535", 65535},
                 {"65536", 65536}},
                {Segment::kOnly, Segment::kThirdOf3},
                kEachDelivery},
       .run = delivered,
       .also = {"MPA-5.1-06", "RDMAP-5.3-02", "RDMAP-5.3-03", "DDP-5.2-05", "RDMAP-5.2.1-11", "RDMAP-5.2.2-06",
                "RDMAP-5.4-06", "DDP-5.4-05"},
       .allowed = size_possible,
       .needs_more = needs_of_good},
      {.name = "reserved",
       .clause = "DDP-4.1-12",
       .what = "Bits that mean nothing are set: ignored, and the message has its effect",
       .needs = kAll,
       .axes = {kEverywhere,
                kNoAtomic,
                {{"ddp-04", kDdp | 0x0400},
                 {"ddp-20", kDdp | 0x2000},
                 {"ddp-3c", kDdp | 0x3C00},
                 {"rdmap-10", kRdmap | 0x1000},
                 {"rdmap-20", kRdmap | 0x2000},
                 {"rdmap-30", kRdmap | 0x3000},
                 {"word-1", kWord | 0x100},
                 {"word-ones", kWord | 0xFFFFFFFF00},
                 {"pad-a5", kPad | 0xA500},
                 {"pad-ff", kPad | 0xFF00}},
                kEachSegment,
                kEachDelivery},
       .run = reserved,
       .also = {"RDMAP-4.1-21", "MPA-4.1-04"},
       .allowed = word_is_free,
       .needs_more = needs_of_good},
      {.name = "atomic-value",
       .clause = "RDMAPX-5.1.2-01",
       .what = "FetchAdds and CmpSwaps at the edges of their values, with and without masks",
       .needs = kRegions | kAtomics,
       .axes = {kEverywhere, {Message::kFetchAdd}, sum_values(), {}, kEachDelivery},
       .run = atomic_value,
       .also = {"RDMAPX-5.1.1-01", "RDMAPX-5.1.1-02", "RDMAPX-5.1.2-02", "RDMAPX-5.1.2-03", "RDMAPX-5.2.2-03",
                "RDMAPX-5.4-09"}},
  };
  return rules;
}

}  // namespace weft::probe::plan
