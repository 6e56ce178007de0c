// SPDX-License-Identifier: Apache-2.0
// Atomic operations, RFC 7306 section 5. Values are in the byte order of the peer's memory, which its host has: what a
// Read brings is taken as little-endian or big-endian, whichever fits the first operation.
#include <fmt/format.h>

#include "probe/cases/atomics.hpp"

namespace weft::probe {
namespace atomics {
namespace {

// One place of 64 bits in the peer's memory.
class Place {
 public:
  Place(Conversation& by, const Region& region, std::int64_t offset = 0)
      : by_(by), stag_(region.stag), at_(at(region, offset)) {}

  // The value before, as the answer says it.
  std::uint64_t apply(const AtomicOperation& operation) {
    const std::uint32_t id = ++id_ * 0x01000193U;
    by_.send_ulpdu(by_.make().atomic({.operation = operation, .request_id = id, .stag = stag_, .offset = at_}));
    const PeerFpdu fpdu = by_.expect_message(rdmap::Opcode::kAtomicResponse);
    const auto response = rdmap::parse_atomic_response(fpdu.payload());
    if (!response) fail("the Atomic Response is malformed");
    if (response->request_id != id)
      fail(fmt::format("the Atomic Response is of {:#x}; the Request was {:#x}", response->request_id, id));
    if (const auto msn = ddp::UntaggedLayout::MsnField::get(fpdu.ulpdu); msn != id_)
      fail(fmt::format("Atomic Response {} of the stream has MSN {}", id_, msn));
    return response->original;
  }
  // What is there now, by an operation that changes nothing.
  std::uint64_t value() { return apply(add(0)); }
  void set(std::uint64_t value) { apply(swap(0, 0, value, ~0ULL)); }

 private:
  Conversation& by_;
  ddp::Stag stag_;
  ddp::TaggedOffset at_;
  std::uint32_t id_ = 0;
};

void expect(std::uint64_t got, std::uint64_t wanted, const char* what) {
  if (got != wanted) fail(fmt::format("{}: {:#x}, not {:#x}", what, got, wanted));
}

}  // namespace
}  // namespace atomics

void add_atomics_cases(Cases& cases) {
  using namespace atomics;
  constexpr std::uint32_t kBoth = kAtomics | kRegions;
  // RDMAPX-5.1.1-01: FetchAdd returns the original 64-bit value and stores original plus Add Data, added field by
  // field.
  cases.add(
      {.name = "atomic-fetch-add",
       .clause = "RDMAPX-5.1.1-01",
       .what =
           "FetchAdds with and without masks: the value before comes back, and carries stop at the borders of fields.",
       .needs = kBoth,
       .also = {"RDMAPX-5.1.1-02", "RDMAPX-5.1.1-03", "RDMAPX-5.2.2-03", "RDMAPX-1.1-04", "RDMAPX-5.2.1-22",
                "RDMAPX-5-03", "RDMAPX-5.2.1-16", "RDMAPX-5.2.2-08"}}) = [](Scene& scene) {
    Conversation& by = scene.connect();
    Place place(by, scene.region(Region::kPlain, kAllRights));
    place.set(~0ULL);
    expect(place.apply(add(1)), ~0ULL, "FetchAdd does not give the value before");
    expect(place.value(), 0, "0xFFFFFFFFFFFFFFFF and 1");
    place.set(0x00000000FFFFFFFF);
    place.apply(add(0x0000000100000001, 0x8000000080000000));
    expect(place.value(), 0x0000000100000000, "two fields of 32 bits, without a carry between them");
    place.set(0xFFFF);
    place.apply(add(0x0101, 0x8080808080808080));
    expect(place.value(), 0x0000, "eight fields of 8 bits");
    place.set(0xAAAA5555AAAA5555);
    place.apply(add(0xFFFFFFFFFFFFFFFF, 0xFFFFFFFFFFFFFFFF));
    expect(place.value(), 0x5555AAAA5555AAAA, "64 fields of one bit");
  };

  // RDMAPX-5.1.2-01: CmpSwap compares (memory AND Compare Mask) with (Compare Data AND Compare Mask).
  cases.add({.name = "atomic-cmp-swap",
             .clause = "RDMAPX-5.1.2-01",
             .what = "CmpSwaps that hold and fail, with and without masks.",
             .needs = kBoth,
             .also = {"RDMAPX-5.1.2-02", "RDMAPX-5.1.2-03", "RDMAPX-5.1.2-05", "RDMAPX-5.2.1-03", "RDMAPX-5-03",
                      "RDMAPX-1.1-01"}}) = [](Scene& scene) {
    Conversation& by = scene.connect();
    Place place(by, scene.region(Region::kPlain, kAllRights));
    place.set(0x1122334455667788);
    expect(place.apply(swap(0x1122334455667788, ~0ULL, 7, ~0ULL)), 0x1122334455667788,
           "CmpSwap does not give the value before");
    expect(place.value(), 7, "a CmpSwap whose comparison held");
    expect(place.apply(swap(8, ~0ULL, 9, ~0ULL)), 7,
           "CmpSwap does not give the value before, where the comparison failed");
    expect(place.value(), 7, "a CmpSwap whose comparison failed");
    place.set(0x1122334455667788);
    place.apply(swap(0xFFFF3344FFFFFFFF, 0x0000FFFF00000000, 0xAAAAAAAAAAAAAAAA, 0x00000000FFFF0000));
    expect(place.value(), 0x11223344AAAA7788, "a CmpSwap with masks");
    place.apply(swap(0, 0, 0x99, 0xFF));
    expect(place.value(), 0x11223344AAAA7799, "a CmpSwap that compares nothing");
  };

  // RDMAPX-5-05: Every atomic operation works on 64 bits at one 64-bit aligned address.
  cases.add({.name = "atomic-eight-octets",
             .clause = "RDMAPX-5-05",
             .what = "An atomic changes eight octets, which a Read brings in the byte order of the peer's memory.",
             .needs = kBoth,
             .also = {"RDMAPX-5.1.1-08", "RDMAPX-5.1.2-04", "RDMAPX-5.2.1-07", "RDMAPX-5.2.1-08"}}) = [](Scene& scene) {
    // Neighbours are left alone, and a Read brings what the operation stored, in the host's order.
    Conversation& by = scene.connect();
    const Region region = scene.region(Region::kPlain, kAllRights);
    Place place(by, region, 8);
    place.set(0x0102030405060708);
    const auto octets = scene.read_back(by, region, 0, 24);
    for (const std::size_t i : {0U, 1U, 7U, 16U, 17U, 23U}) {
      if (octets[i] != first_content(region, i)) fail("an atomic changed an octet beside its eight");
    }
    const Bytes eight = Bytes(octets).subspan(8, 8);
    if (Be<0, std::uint64_t>::get(eight) != 0x0102030405060708 &&
        Le<0, std::uint64_t>::get(eight) != 0x0102030405060708)
      fail("a Read after the atomic brings octets that are its value in no byte order");
  };

  // RDMAPX-5.2.1-02: The 28 Reserved bits are sent as zero and ignored on receive.
  cases.add({.name = "atomic-reserved-bits",
             .clause = "RDMAPX-5.2.1-02",
             .what = "The reserved bits of an Atomic Request are set: ignored.",
             .needs = kBoth}) = [](Scene& scene) {
    Conversation& by = scene.connect();
    auto ulpdu = by.make().atomic(request(scene.region(Region::kPlain, kAllRights), 0));
    Be<ddp::UntaggedLayout::kSize, std::uint32_t>::put(ulpdu, 0xFFFFFFF0);
    by.send_ulpdu(ulpdu);
    by.expect_message(rdmap::Opcode::kAtomicResponse);
  };

  // RDMAPX-5.2.1-12: Compare Data is zero in FetchAdd and ignored by the receiver.
  cases.add({.name = "atomic-compare-fields",
             .clause = "RDMAPX-5.2.1-12",
             .what = "The compare fields of a FetchAdd hold something: ignored.",
             .needs = kBoth,
             .also = {"RDMAPX-5.2.1-13"}}) = [](Scene& scene) {
    // Compare Data and Compare Mask of a FetchAdd, which has no use for them.
    Conversation& by = scene.connect();
    auto ulpdu = by.make().atomic(request(scene.region(Region::kPlain, kAllRights), 0));
    std::fill(ulpdu.end() - 16, ulpdu.end(), std::byte{0xA5});
    by.send_ulpdu(ulpdu);
    by.expect_message(rdmap::Opcode::kAtomicResponse);
  };

  // RDMAPX-5.2.1-15: An Atomic Request consumes one untagged buffer.
  cases.add({.name = "atomic-one-buffer-each",
             .clause = "RDMAPX-5.2.1-15",
             .what = "300 atomics, one after the other, use the buffers of queue 1 in turn: all are answered.",
             .needs = kBoth}) = [](Scene& scene) {
    // Each takes one buffer of queue 1, as Reads do: more of them than ever go at a time are answered one after the
    // other.
    Conversation& by = scene.connect();
    Place place(by, scene.region(Region::kPlain, kAllRights));
    place.set(0);
    for (std::uint64_t i = 0; i < 300; ++i) expect(place.apply(add(1)), i, "one of 300 FetchAdds");
  };

  // RDMAPX-1.1-05: A peer without support reports a Remote Operation Error such as Unexpected OpCode for an atomic or
  // Immediate Data message.
  cases.add({.name = "atomic-known-or-not",
             .clause = "RDMAPX-1.1-05",
             .what = "A peer without RFC 7306 answers both kinds of atomics by Terminate 0/2/06.",
             .needs = kStream,
             .also = {"RDMAPX-1.1-01", "RDMAPX-8.2-02"}}) = [](Scene& scene) {
    Conversation& by = scene.connect();
    by.send_ulpdu(by.make().atomic({.operation = add(0), .request_id = 1, .stag = kNoSuchStag, .offset = {64}}));
    const auto said = by.expect_terminate({kReadStag, kOpcode});
    if (said.error == kReadStag) return;  // it knows atomics
    Conversation& swapping = scene.connect();
    swapping.send_ulpdu(
        swapping.make().atomic({.operation = swap(0, 0, 0, 0), .request_id = 1, .stag = kNoSuchStag, .offset = {64}}));
    swapping.expect_terminate({kOpcode});
  };

  // RDMAPX-5.3-01: The read-modify-write is atomic against atomics of other streams on the same RNIC.
  cases.add({.name = "atomic-two-streams",
             .clause = "RDMAPX-5.3-01",
             .what = "Two streams add to one place, 640 times: no addition is lost.",
             .needs = kBoth | kSessions,
             .also = {"RDMAPX-5-01", "RDMAPX-5.4-02"}}) = [](Scene& scene) {
    Conversation& one = scene.connect();
    const Region region = scene.region(Region::kPlain, kAllRights);
    Conversation& two = scene.rejoin();
    Place first(one, region), second(two, region);
    first.set(0);
    constexpr int kRounds = 20, kBurst = 16;
    for (int round = 0; round < kRounds; ++round) {
      for (Conversation* by : {&one, &two}) {
        Burst all(*by);
        for (int i = 0; i < kBurst; ++i) all.add(by->make().atomic(request(region, 0)));
        all.send();
      }
      for (Conversation* by : {&one, &two}) {
        for (int i = 0; i < kBurst; ++i) by->expect_message(rdmap::Opcode::kAtomicResponse);
      }
    }
    Conversation& three = scene.rejoin();
    expect(Place(three, region).value(), 2 * kRounds * kBurst, "the sum of two streams' FetchAdds");
  };

  // RDMAPX-5.4-08: An atomic does not complete at the requester before DDP delivers its Response.
  cases.add({.name = "atomic-of-the-peer",
             .clause = "RDMAPX-5.4-08",
             .what = "The peer's own atomics: the auditor judges them, and they complete with our Responses.",
             .needs = kOrders | kAtomics}) = [](Scene& scene) {
    Conversation& by = scene.connect();
    need_memory(scene);
    for (const std::uint8_t kind : std::array<std::uint8_t, 2>{Order::kFetchAdd, Order::kCmpSwap}) {
      scene.order(by, {.operation = kind,
                       .stag = Scene::kOwnStag,
                       .offset = {0x800},
                       .first = 3,
                       .second = kind == Order::kCmpSwap ? 4ULL : 0ULL});
      const auto fpdu = by.expect_message(rdmap::Opcode::kAtomicRequest);
      const auto asked = rdmap::parse_atomic_request(fpdu.payload());
      if (!asked || asked->stag != Scene::kOwnStag || asked->offset.value != 0x800)
        fail("the peer's Atomic Request names another place than it was told");
      by.send_ulpdu(by.make().atomic_response({.request_id = asked->request_id, .original = 9}));
    }
    expect_requests_done(scene, by, 2);
  };
}

}  // namespace weft::probe
