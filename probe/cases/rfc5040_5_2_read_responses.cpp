// SPDX-License-Identifier: Apache-2.0
// Responses of ours that are wrong, or answer nothing: RFC 5040 section 5.2.2 and RFC 7306 section 5.2.2, the peer as
// requester.
#include "probe/cases/steps.hpp"

namespace weft::probe {
namespace read_responses_cases {
namespace {

constexpr std::uint32_t kAsked = 64;

// What a peer may call an answer that does not fit: DDP's errors of its sink, or RDMAP's.
const Errors kWrongAnswer{kTaggedStag, kTaggedBounds, kTaggedWrap,  kTaggedNotAssociated,     kOpcode,
                          kOperation,  kProtection,   kStreamError, rdmap::kLocalCatastrophic};
// No code is fixed for a Response that answers nothing. This one says that the peer itself has failed: there are better
// ones.
const Errors kPoorAnswer{{rdmap::Layer::kDdp, 0, 0}};

struct Asked {
  Conversation& by;
  rdmap::ReadRequest request;
};
Asked ask(Scene& scene) {
  Conversation& by = scene.connect();
  return {by, scene.provoke_read(by, {0x4000}, kAsked)};
}

void refused(Conversation& by, Bytes ulpdu) { expect_refused(by, ulpdu, kWrongAnswer, kPoorAnswer); }

const Errors kWrongAtomic{
    kOpcode, kOperation, kStreamError, kNoBuffer, kMsnRange, kQueue, kTooLong, kOffset, rdmap::kLocalCatastrophic};

rdmap::AtomicRequest ask_for_atomic(Scene& scene, Conversation& by) {
  scene.order(by, {.operation = Order::kFetchAdd, .stag = Scene::kOwnStag, .offset = {0x40}, .first = 1});
  const auto asked = rdmap::parse_atomic_request(by.expect_message(rdmap::Opcode::kAtomicRequest).payload());
  if (!asked) fail("the peer's Atomic Request is malformed");
  return *asked;
}

}  // namespace
}  // namespace read_responses_cases

void add_read_responses_cases(Cases& cases) {
  using namespace read_responses_cases;
  constexpr std::uint32_t kAtomicOrders = kOrders | kAtomics;
  // RDMAP-5.2.2-05: An invalid Read Response is surfaced as an error.
  cases.add({.name = "answer-other-stag",
             .clause = "RDMAP-5.2.2-05",
             .what = "A Read Response with another STag than the Request's sink ends the stream by a Terminate.",
             .needs = kReads,
             .also = {"RDMAP-5.2.2-08", "RDMAP-7.2-01"}}) = [](Scene& scene) {
    auto [by, request] = ask(scene);
    refused(by, by.make().read_response({request.sink_stag.value ^ 0x10000U}, request.sink_offset, pattern(kAsked)));
  };

  // RDMAP-5.2.2-05: An invalid Read Response is surfaced as an error.
  cases.add({.name = "answer-other-offset",
             .clause = "RDMAP-5.2.2-05",
             .what = "Read Responses that begin before or after the sink end the stream.",
             .needs = kReads,
             .also = {"RDMAP-5.2.2-08"}}) = [](Scene& scene) {
    for (const std::int64_t by_octets : {-1L, 1L, 4096L, -65536L}) {
      auto [by, request] = ask(scene);
      refused(by, by.make().read_response(request.sink_stag,
                                          {request.sink_offset.value + static_cast<std::uint64_t>(by_octets)},
                                          pattern(kAsked)));
    }
  };

  // RDMAP-5.2.2-05: An invalid Read Response is surfaced as an error.
  cases.add({.name = "answer-too-long",
             .clause = "RDMAP-5.2.2-05",
             .what = "A Read Response one octet longer than what was asked for ends the stream.",
             .needs = kReads,
             .also = {"RDMAP-5.2.2-08"}}) = [](Scene& scene) {
    auto [by, request] = ask(scene);
    refused(by, by.make().read_response(request.sink_stag, request.sink_offset, pattern(kAsked + 1)));
  };

  // RDMAP-5.2.2-05: An invalid Read Response is surfaced as an error.
  cases.add({.name = "answer-too-long-in-segments",
             .clause = "RDMAP-5.2.2-05",
             .what = "The last segment of a Read Response goes beyond what was asked for (a bug of siw until 2026).",
             .needs = kReads,
             .also = {"SEC-6.2.1-01"}}) = [](Scene& scene) {
    // Each segment fits by itself; together they are longer than what was asked for.
    auto [by, request] = ask(scene);
    by.send_ulpdu(by.make().read_response(request.sink_stag, request.sink_offset, pattern(kAsked), false));
    refused(by, by.make().read_response(request.sink_stag, {request.sink_offset.value + kAsked}, pattern(16)));
  };

  // RDMAP-5.2.2-05: An invalid Read Response is surfaced as an error.
  cases.add({.name = "answer-second-elsewhere",
             .clause = "RDMAP-5.2.2-05",
             .what = "The second segment of a Read Response has an offset far past the sink.",
             .needs = kReads,
             .also = {"SEC-6.2.1-01"}}) = [](Scene& scene) {
    auto [by, request] = ask(scene);
    by.send_ulpdu(by.make().read_response(request.sink_stag, request.sink_offset, pattern(16), false));
    refused(by, by.make().read_response(request.sink_stag, {request.sink_offset.value + 0x100000}, pattern(16)));
  };

  // RDMAP-5.2.2-05: An invalid Read Response is surfaced as an error.
  cases.add({.name = "answer-too-short",
             .clause = "RDMAP-5.2.2-05",
             .what = "A Read Response whose last segment comes too early does not count as one.",
             .needs = kReads}) = [](Scene& scene) {
    auto [by, request] = ask(scene);
    by.send_ulpdu(by.make().read_response(request.sink_stag, request.sink_offset, pattern(kAsked / 2)));
    PeerFpdu fpdu;
    const Came came = by.next(fpdu, scene.patience());
    if (came == Came::kNothing) fail("a Read Response that is too short was neither refused nor ended the stream");
    if (came == Came::kFpdu && !fpdu.is(rdmap::Opcode::kTerminate)) fail("a Read Response that is too short was taken");
  };

  // RDMAP-5.2.2-05: An invalid Read Response is surfaced as an error.
  cases.add({.name = "answer-empty",
             .clause = "RDMAP-5.2.2-05",
             .what = "A Read Response of no octets to a Read of 64 does not count as one.",
             .needs = kReads}) = [](Scene& scene) {
    auto [by, request] = ask(scene);
    by.send_ulpdu(by.make().read_response(request.sink_stag, request.sink_offset, {}));
    PeerFpdu fpdu;
    if (by.next(fpdu, scene.patience()) == Came::kNothing)
      fail("a Read Response of no octets to a Read of 64 was neither refused nor ended the stream");
  };

  // RDMAP-5.2.2-05: An invalid Read Response is surfaced as an error.
  cases.add(
      {.name = "answer-unsolicited",
       .clause = "RDMAP-5.2.2-05",
       .what =
           "A Read Response that answers nothing, into memory that could be written: refused, and nothing is placed.",
       .needs = kStream}) = [](Scene& scene) {
    Conversation& by = scene.connect();
    const auto stag = scene.offers(kRegions) ? scene.region(Region::kPlain, kReadWrite).stag : kNoSuchStag;
    const auto offset = scene.offers(kRegions) ? scene.region(Region::kPlain, kReadWrite).offset : ddp::TaggedOffset{};
    const auto ulpdu = by.make().read_response(stag, offset, pattern(32));
    expect_refused(by, ulpdu, kWrongAnswer, kPoorAnswer);
    if (scene.offers(kRegions | kSessions)) scene.expect_untouched(scene.region(Region::kPlain, kReadWrite), 0, 32);
  };

  // RDMAP-5.2.2-05: An invalid Read Response is surfaced as an error.
  cases.add({.name = "answer-twice",
             .clause = "RDMAP-5.2.2-05",
             .what = "A Read is answered twice: the second Response ends the stream.",
             .needs = kReads}) = [](Scene& scene) {
    auto [by, request] = ask(scene);
    const auto ulpdu = by.make().read_response(request.sink_stag, request.sink_offset, pattern(kAsked));
    by.send_ulpdu(ulpdu);
    refused(by, ulpdu);
  };

  // RDMAP-5.5-12: Read Responses are delivered to the ULP after, and in the order in which, DDP delivered them to
  // RDMAP.
  cases.add({.name = "answer-order",
             .clause = "RDMAP-5.5-12",
             .what = "Of two Reads the second is answered first: whatever happens, others are served.",
             .needs = kOrders}) = [](Scene& scene) {
    Conversation& by = scene.connect();
    scene.order(by,
                {.operation = Order::kRead, .count = 2, .length = kAsked, .stag = Scene::kOwnStag, .offset = {0x4000}});
    by.expect_read_request(kAsked);
    const auto second = by.expect_read_request(kAsked);
    by.send_ulpdu(by.make().read_response(second.sink_stag, second.sink_offset, pattern(kAsked)));
    // Two Reads into one place cannot be told apart by STag and TO: then the answer is good for the first.
    PeerFpdu fpdu;
    static_cast<void>(by.next(fpdu, scene.quiet()));
  };

  // RDMAP-5.2.2-06: The TO of the Read Response may start at a non-zero value.
  cases.add({.name = "answer-in-segments",
             .clause = "RDMAP-5.2.2-06",
             .what = "A Read Response in sixteen segments is a good one.",
             .needs = kReads | kOrders}) = [](Scene& scene) {
    auto [by, request] = ask(scene);
    const auto octets = pattern(kAsked);
    for (std::uint32_t i = 0; i < kAsked; i += 4)
      by.send_ulpdu(by.make().read_response(request.sink_stag, {request.sink_offset.value + i},
                                            Bytes(octets).subspan(i, 4), i + 4 == kAsked));
    scene.expect_alive(by);
  };

  // RDMAPX-5.2.2-10: An invalid Atomic Response is surfaced as an error.
  cases.add({.name = "atomic-answer-unsolicited",
             .clause = "RDMAPX-5.2.2-10",
             .what = "An Atomic Response that answers nothing is refused.",
             .needs = kAtomics}) = [](Scene& scene) {
    Conversation& by = scene.connect();
    const auto ulpdu = by.make().atomic_response({.request_id = 1, .original = 2});
    expect_refused(by, ulpdu, kWrongAtomic);
  };

  // RDMAPX-5.2.2-10: An invalid Atomic Response is surfaced as an error.
  cases.add({.name = "atomic-answer-of-another",
             .clause = "RDMAPX-5.2.2-10",
             .what = "An Atomic Response with another identifier than the Request's is refused.",
             .needs = kAtomicOrders}) = [](Scene& scene) {
    Conversation& by = scene.connect();
    const auto asked = ask_for_atomic(scene, by);
    const auto ulpdu = by.make().atomic_response({.request_id = asked.request_id + 1, .original = 2});
    expect_refused(by, ulpdu, kWrongAtomic);
  };

  // RDMAPX-5.2.2-10: An invalid Atomic Response is surfaced as an error.
  cases.add({.name = "atomic-answer-wrong-length",
             .clause = "RDMAPX-5.2.2-10",
             .what = "Atomic Responses of 4, 11 and 13 octets are refused.",
             .needs = kAtomicOrders}) = [](Scene& scene) {
    for (const std::size_t size : {std::size_t{4}, std::size_t{11}, std::size_t{13}}) {
      Conversation& by = scene.connect();
      ask_for_atomic(scene, by);
      const auto ulpdu = by.make().send(std::vector<std::byte>(size), rdmap::Opcode::kAtomicResponse);
      expect_refused(by, ulpdu, kWrongAtomic);
    }
  };
}

}  // namespace weft::probe
