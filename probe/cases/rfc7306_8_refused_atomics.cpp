// SPDX-License-Identifier: Apache-2.0
// Atomic operations that the peer refuses, RFC 7306 sections 5 and 8.
#include <array>

#include "probe/cases/atomics.hpp"

namespace weft::probe {
namespace atomics {
namespace {

void refused_atomic(Conversation& by, const rdmap::AtomicRequest& request, const Errors& any_of) {
  expect_refused(by, by.make().atomic(request), any_of);
}

}  // namespace
}  // namespace atomics

void add_refused_atomics_cases(Cases& cases) {
  using namespace atomics;
  constexpr std::uint32_t kBoth = kAtomics | kRegions;
  // RDMAPX-8.2-05: An unaligned atomic causes a Terminate with Layer 0 Remote Operation Error 0x07 (catastrophic,
  // localised to RDMAP Stream).
  cases.add({.name = "atomic-misaligned",
             .clause = "RDMAPX-8.2-05",
             .what = "FetchAdds and CmpSwaps one to seven octets off: Terminate 0/2/07, and no octet is changed.",
             .needs = kBoth | kSessions,
             .also = {"RDMAPX-8.2-04", "RDMAPX-5.1.1-05", "RDMAPX-5.1.1-06", "RDMAPX-5.1.1-07", "RDMAPX-5.1.2-07",
                      "RDMAPX-5.1.2-08", "RDMAPX-5.1.2-09", "RDMAPX-5.1.2-10", "RDMAP-4.8-33"}}) = [](Scene& scene) {
    for (std::int64_t offset = 1; offset < 8; ++offset) {
      Conversation& by = scene.connect();
      const Region region = scene.region(Region::kPlain, kAllRights);
      refused_atomic(by, request(region, offset, offset % 2 != 0 ? add(1) : swap(0, 0, 1, ~0ULL)), {kStreamError});
      scene.expect_untouched(region, 0, 16);
    }
  };

  // RDMAPX-5.1.1-05: FetchAdd on an unaligned address is surfaced as an error.
  cases.add(
      {.name = "atomic-aligned-by-address",
       .clause = "RDMAPX-5.1.1-05",
       .what = "Atomics in a region whose first address is odd: those at aligned addresses are done, those at aligned "
               "distances from its first octet are not.",
       .needs = kBoth | kSessions,
       .also = {"RDMAPX-8.2-05", "RDMAPX-5.1.2-07"}}) = [](Scene& scene) {
    // What is aligned is the address, and not the distance from the region's first octet.
    const auto first_aligned = [](const Region& region) {
      return static_cast<std::int64_t>((8 - region.offset.value % 8) % 8);
    };
    Conversation& by = scene.connect();
    const Region region = scene.region(Region::kOdd, kAllRights);
    if (first_aligned(region) == 0) not_applicable("the peer's odd region begins at an aligned address");
    by.send_ulpdu(by.make().atomic(request(region, first_aligned(region))));
    by.expect_message(rdmap::Opcode::kAtomicResponse);
    for (const std::int64_t offset : {0L, 8L}) {
      Conversation& wrong = scene.connect();
      const Region again = scene.region(Region::kOdd, kAllRights);
      refused_atomic(wrong, request(again, offset), {kStreamError});
      scene.expect_untouched(again, static_cast<std::size_t>(offset), 8);
    }
  };

  // RDMAPX-8.2-06: STag validity, stream/PD association, access rights, bounds and wrap of the 8 octets are checked
  // for an atomic although RFC 7306 does not list them.
  cases.add({.name = "atomic-unknown-stag",
             .clause = "RDMAPX-8.2-06",
             .what = "An atomic on an STag that does not exist: Terminate 0/1/00 with its DDP header.",
             .needs = kBoth,
             .also = {"RDMAPX-5.2.1-06", "RDMAPX-8.1-02"}}) = [](Scene& scene) {
    Conversation& by = scene.connect();
    need_memory(scene);
    refused_atomic(by, {.operation = add(1), .stag = kNoSuchStag, .offset = {64}}, {kReadStag});
  };

  // RDMAPX-8.2-06: STag validity, stream/PD association, access rights, bounds and wrap of the 8 octets are checked
  // for an atomic although RFC 7306 does not list them.
  cases.add({.name = "atomic-other-domain",
             .clause = "RDMAPX-8.2-06",
             .what = "An atomic on an STag of another protection domain is refused.",
             .needs = kBoth,
             .also = {"SEC-6.1.1-03"}}) = [](Scene& scene) {
    Conversation& by = scene.connect();
    refused_atomic(by, request(scene.region(Region::kForeign, kAllRights), 0), {kReadNotAssociated, kReadStag});
  };

  // RDMAPX-8.2-06: STag validity, stream/PD association, access rights, bounds and wrap of the 8 octets are checked
  // for an atomic although RFC 7306 does not list them.
  cases.add({.name = "atomic-other-stream",
             .clause = "RDMAPX-8.2-06",
             .what = "An atomic on an STag of another stream is refused.",
             .needs = kBoth,
             .also = {"SEC-6.1.1-04"}}) = [](Scene& scene) {
    Conversation& by = scene.connect();
    refused_atomic(by, request(scene.region(Region::kOtherStream, kAllRights), 0), {kReadNotAssociated, kReadStag});
  };

  // RDMAPX-8.2-06: STag validity, stream/PD association, access rights, bounds and wrap of the 8 octets are checked
  // for an atomic although RFC 7306 does not list them.
  cases.add({.name = "atomic-no-right",
             .clause = "RDMAPX-8.2-06",
             .what = "Atomics on memory without the right for them: Terminate 0/1/02.",
             .needs = kBoth,
             .also = {"SEC-2.2.2-02"}}) = [](Scene& scene) {
    for (const std::uint8_t rights : std::array<std::uint8_t, 3>{0, Region::kRead, kReadWrite}) {
      Conversation& by = scene.connect();
      need_memory(scene);
      refused_atomic(by, request(scene.region(Region::kPlain, rights), 0), {kReadRights});
    }
  };

  // RDMAPX-8.2-06: STag validity, stream/PD association, access rights, bounds and wrap of the 8 octets are checked
  // for an atomic although RFC 7306 does not list them.
  cases.add({.name = "atomic-out-of-bounds",
             .clause = "RDMAPX-8.2-06",
             .what = "Atomics before and past the end of the region: Terminate 0/1/01.",
             .needs = kBoth,
             .also = {"SEC-6.2.1-01"},
             .last = true}) = [](Scene& scene) {
    for (const std::int64_t offset : {-8L, 4096L, 1L << 40}) {
      Conversation& by = scene.connect();
      const auto beyond = request(scene.region(Region::kPlain, kAllRights), offset);
      refused_atomic(by, beyond, bounds_errors(false, beyond.offset, 8));
    }
    Conversation& by = scene.connect();
    refused_atomic(by,
                   {.operation = add(1), .stag = scene.region(Region::kPlain, kAllRights).stag, .offset = {~0ULL - 7}},
                   {kReadBounds, kReadWrap});
  };

  // RDMAPX-5.2.1-18: An Atomic Request with an unsupported AOpCode is surfaced as an error.
  cases.add({.name = "atomic-unknown-operation",
             .clause = "RDMAPX-5.2.1-18",
             .what = "AOpCodes 1, 3, 7 and 15: a Terminate (0/2/06 or 0/2/ff), and no octet is changed.",
             .needs = kBoth | kSessions,
             .also = {"RDMAPX-10.1-01"}}) = [](Scene& scene) {
    for (const std::uint32_t code : {1U, 3U, 7U, 15U}) {
      Conversation& by = scene.connect();
      const Region region = scene.region(Region::kPlain, kAllRights);
      auto ulpdu = by.make().atomic(request(region, 0));
      Be<ddp::UntaggedLayout::kSize, std::uint32_t>::put(ulpdu, code);
      expect_refused(by, ulpdu, {kOpcode, kOperation});
      scene.expect_untouched(region, 0, 8);
    }
  };

  // RDMAPX-5.2.1-01: The Atomic Request header immediately follows the DDP header: Reserved (28 bits), AOpCode (4),
  // Request Identifier (32), Remote STag (32), Remote TO (64), Add/Swap Data (64), Add/Swap Mask (64), Compare Data
  // (64), Compare Mask (64).
  cases.add({.name = "atomic-wrong-length",
             .clause = "RDMAPX-5.2.1-01",
             .what = "Atomic Requests of 0, 51 and 53 octets end the stream.",
             .needs = kAtomics}) = [](Scene& scene) {
    for (const std::size_t size : {std::size_t{0}, std::size_t{51}, std::size_t{53}}) {
      Conversation& by = scene.connect();
      const auto ulpdu = by.make().send(std::vector<std::byte>(size), rdmap::Opcode::kAtomicRequest);
      by.send_ulpdu(ulpdu);
      by.expect_end_sometime("the Atomic Request's length is wrong", scene.patience());
    }
  };

  // RDMAPX-8.2-01: DDP validates all DDP segment fields of the four new messages.
  cases.add({.name = "atomic-wrong-place",
             .clause = "RDMAPX-8.2-01",
             .what = "Atomic Requests with MSN 0 and with MO 4: Terminates of DDP, and no octet is changed.",
             .needs = kBoth | kSessions}) = [](Scene& scene) {
    // A place on the queue that has no buffer, and one within a buffer that is not its begin.
    const auto refuse = [&](auto change, const Errors& any_of) {
      Conversation& by = scene.connect();
      const Region region = scene.region(Region::kPlain, kAllRights);
      auto ulpdu = by.make().atomic(request(region, 0));
      change(ulpdu);
      expect_refused(scene, by, ulpdu, any_of);
      scene.expect_untouched(region, 0, 8);
    };
    refuse([](auto& ulpdu) { ddp::UntaggedLayout::MsnField::put(ulpdu, 0); }, {kMsnRange, kNoBuffer});
    refuse([](auto& ulpdu) { ddp::UntaggedLayout::MoField::put(ulpdu, 4); }, {kOffset, kTooLong});
  };
}

}  // namespace weft::probe
