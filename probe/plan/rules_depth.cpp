// SPDX-License-Identifier: Apache-2.0
// The plan of IRD and ORD, of which Reads and atomics take alike: RFC 5040 section 6.1, RFC 7306 section 5, RFC 6581
// section 9.
#include <algorithm>

#include "probe/plan/axes.hpp"
#include "probe/plan/stage.hpp"

namespace weft::probe::plan {
namespace {

// --- The peer answers. The value: its IRD.

Opening with_ird(std::uint16_t depth) {
  Opening opening;
  opening.wish.ird = depth;
  opening.start_up.enhanced->ord = depth;
  return opening;
}

Ulpdu request(Conversation& by, Message message, const Region& region, std::uint32_t size, std::uint32_t id) {
  if (message == Message::kReadRequest) {
    auto read = read_of(region.stag, region.offset, size);
    read.sink_offset = {id * 0x10000ULL};
    return by.make().read_request(read);
  }
  auto atomic =
      atomics::request(region, 0, message == Message::kCmpSwap ? atomics::swap(1, ~0ULL, 2, ~0ULL) : atomics::add(0));
  atomic.request_id = id;
  return by.make().atomic(atomic);
}

// As many as allowed at once, Reads and the message's kind in turn: all are answered, in their order.
void within_ird(Scene& scene, const Combination& how) {
  const auto depth = static_cast<std::uint32_t>(how.value.number);
  Stage stage(scene, how, with_ird(static_cast<std::uint16_t>(depth)));
  Conversation& by = stage.by();
  const Region region = scene.region(Region::kPlain, kAllRights);
  std::vector<Ulpdu> all;
  const auto kind = [&](std::uint32_t i) { return i % 2 == 0 ? how.message : Message::kReadRequest; };
  for (std::uint32_t i = 0; i < depth; ++i) all.push_back(request(by, kind(i), region, 1000, i + 1));
  stage.deliver(all);
  for (std::uint32_t i = 0; i < depth; ++i) {
    if (kind(i) == Message::kReadRequest) {
      by.expect_read_response(Scene::kOwnStag, {(i + 1) * 0x10000ULL}, 1000);
      continue;
    }
    const auto response = rdmap::parse_atomic_response(by.expect_message(rdmap::Opcode::kAtomicResponse).payload());
    if (!response || response->request_id != i + 1) fail("an atomic was not answered in its turn");
  }
}

// Long Reads that we do not take, and more after them than the IRD allows.
void beyond_ird(Scene& scene, const Combination& how) {
  Opening opening = with_ird(static_cast<std::uint16_t>(how.value.number));
  opening.socket.receive_buffer = 4096;
  Stage stage(scene, how, opening);
  Conversation& by = stage.by();
  by.exceed_ird();
  const Region large = scene.region(Region::kPlain, kReadWrite),
               region = how.message == Message::kReadRequest ? large : scene.region(Region::kPlain, kAllRights);
  constexpr std::uint32_t kRequests = 64;
  std::vector<Ulpdu> all;
  for (std::uint32_t i = 0; i < how.value.number; ++i)
    all.push_back(request(by, Message::kReadRequest, large, 65536, i));
  for (std::uint32_t i = 0; i < kRequests; ++i) all.push_back(request(by, how.message, region, 65536, 100 + i));
  Burst burst(by);
  for (const Ulpdu& one : all) burst.add(one);
  burst.send();
  // A peer may be so fast that it never has more than it allows.
  PeerFpdu fpdu;
  for (std::size_t answered = 0; answered < all.size();) {
    const Came came = by.next(fpdu, by.patience());
    if (came != Came::kFpdu)
      fail("more requests than the IRD came, and the stream fell silent, or ended without a Terminate");
    if (fpdu.is(rdmap::Opcode::kTerminate)) {
      const auto said = rdmap::parse_terminate(fpdu.payload());
      const Errors errors{kNoBuffer, kMsnRange, kStreamError};
      if (!said || std::ranges::find(errors, said->meant().error) == errors.end())
        fail("the Terminate after more requests than the IRD names something else");
      by.shut();
      return by.expect_end_sometime("a Terminate is the last message of its direction", by.patience());
    }
    answered += fpdu.last() ? 1 : 0;
  }
  not_applicable("the peer answered the requests as fast as they came");
}

// --- The peer asks. The value: our IRD, and the kind that is asked for first.
constexpr std::uint64_t kAtomicFirst = 0x100;
std::uint32_t either_atomic(const Combination& how) {
  return is_atomic(how.message) || (how.value.number & kAtomicFirst) != 0 ? std::uint32_t{kAtomics} : 0U;
}

void answer(Conversation& by, const PeerFpdu& fpdu) {
  if (fpdu.is(rdmap::Opcode::kReadRequest)) {
    const auto request = rdmap::parse_read_request(fpdu.payload());
    if (!request) fail("the peer's Read Request is malformed");
    return by.send_ulpdu(by.make().read_response(request->sink_stag, request->sink_offset, pattern(request->size)));
  }
  const auto asked = rdmap::parse_atomic_request(fpdu.payload());
  if (!fpdu.is(rdmap::Opcode::kAtomicRequest) || !asked)
    fail("something else came than the requests that the peer was told to make");
  by.send_ulpdu(by.make().atomic_response({.request_id = asked->request_id, .original = 1}));
}

bool is_request(const PeerFpdu& fpdu) {
  return fpdu.is(rdmap::Opcode::kReadRequest) || fpdu.is(rdmap::Opcode::kAtomicRequest);
}
// The peer may ask for no octets at any time; the Requests that it was told to make ask for some.
PeerFpdu expect_request(Conversation& by, rdmap::Opcode opcode) {
  return by.expect_message(opcode, nullptr, [](const PeerFpdu& fpdu) {
    const auto request = rdmap::parse_read_request(fpdu.payload());
    return !fpdu.is(rdmap::Opcode::kReadRequest) || !request || request->size != 0;
  });
}

void within_ord(Scene& scene, const Combination& how) {
  const auto depth = static_cast<std::uint16_t>(how.value.number & 0xFFU);
  Opening opening;
  opening.start_up.enhanced->ird = depth;
  opening.wish.ord = depth;
  Conversation& by = scene.connect(opening);
  if (either_atomic(how) != 0) atomics::need_memory(scene);
  const std::uint16_t each = static_cast<std::uint16_t>(depth + 1);
  const auto order = [&](std::uint8_t operation) {
    scene.order(by, {.operation = operation,
                     .count = each,
                     .length = 8,
                     .stag = Scene::kOwnStag,
                     .offset = {0x3000},
                     .first = 1,
                     .second = operation == Order::kCmpSwap ? 2U : 0U});
  };
  order((how.value.number & kAtomicFirst) != 0 ? Order::kFetchAdd : Order::kRead);
  order(how.message == Message::kReadRequest ? Order::kRead
        : how.message == Message::kFetchAdd  ? Order::kFetchAdd
                                             : Order::kCmpSwap);
  const std::uint32_t all = 2U * each;
  const auto opcode = [&](std::uint32_t i) {
    const bool atomic = i < each ? (how.value.number & kAtomicFirst) != 0 : is_atomic(how.message);
    return atomic ? rdmap::Opcode::kAtomicRequest : rdmap::Opcode::kReadRequest;
  };
  std::vector<PeerFpdu> outstanding;
  for (std::uint32_t i = 0; i < depth; ++i) outstanding.push_back(expect_request(by, opcode(i)));
  by.expect_silence(scene.quiet(), "our IRD is used up by requests that are not answered", is_request);
  for (std::uint32_t done = 0; done < all; ++done) {
    answer(by, outstanding.front());
    outstanding.erase(outstanding.begin());
    if (done + depth < all) outstanding.push_back(expect_request(by, opcode(done + depth)));
  }
  expect_requests_done(scene, by, all);
}

const std::vector<Message> kRequests{Message::kReadRequest, Message::kFetchAdd, Message::kCmpSwap};

}  // namespace

std::span<const Rule> depth_rules() {
  static const std::vector<Rule> rules{
      {.name = "ird-within",
       .clause = "RDMAP-6.1-05",
       .what = "As many Reads and atomics at once as the peer's IRD says: all are answered, in their order",
       .needs = kOrders | kRegions | kEnhanced | kAtomics,
       .axes = {{Place::kSecond, Place::kMiddle, Place::kAfter32Messages},
                kRequests,
                {{"1", 1}, {"2", 2}, {"3", 3}, {"4", 4}, {"8", 8}, {"16", 16}},
                {},
                {Delivery::kApart, Delivery::kGlued}},
       .run = within_ird,
       .also = {"RDMAPX-5-08", "RDMAPX-7-15", "MPA2-3-01", "RDMAP-5.2.2-03"}},
      {.name = "ird-beyond",
       .clause = "RDMAP-6.1-09",
       .what = "Long Reads that are not taken, and 64 requests more than the IRD after them: the stream ends by a "
               "Terminate",
       .needs = kOrders | kRegions | kEnhanced,
       .axes = {{Place::kSecond, Place::kAfter32Messages}, kRequests, {{"1", 1}, {"2", 2}, {"4", 4}}, {}, {}},
       .run = beyond_ird,
       .also = {"RDMAP-5.2.1-02", "SEC-6.4.3.3-03"},
       .needs_more = either_atomic},
      {.name = "ord",
       .clause = "RDMAP-6.1-08",
       .what = "Our IRD is used up by Reads and atomics of the peer's: the next one waits for an answer",
       .needs = kOrders | kEnhanced,
       .axes = {{},
                kRequests,
                {{"1-read", 1},
                 {"2-read", 2},
                 {"4-read", 4},
                 {"1-atomic", kAtomicFirst | 1},
                 {"2-atomic", kAtomicFirst | 2},
                 {"4-atomic", kAtomicFirst | 4}},
                {},
                {}},
       .run = within_ord,
       .also = {"MPA2-9.1-10", "MPA2-3-02", "SEC-6.4.3.3-04", "RDMAPX-5-08"},
       .needs_more = either_atomic},
  };
  return rules;
}

}  // namespace weft::probe::plan
