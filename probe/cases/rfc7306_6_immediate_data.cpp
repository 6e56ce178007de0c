// SPDX-License-Identifier: Apache-2.0
// Immediate Data, RFC 7306 section 6.
#include <fmt/format.h>

#include "probe/cases/steps.hpp"
#include "rdmap/control.hpp"

namespace weft::probe {
namespace immediate_data_cases {
namespace {

void expect_immediate(Scene& scene, std::uint8_t kind, bool solicited) {
  Conversation& by = scene.connect();
  scene.order(by, {.operation = kind, .first = 0x1020304050607080});
  const auto fpdu = by.expect_message(rdmap::immediate_opcode(solicited));
  if (fpdu.payload().size() != 8 || Be<0, std::uint64_t>::get(fpdu.payload()) != 0x1020304050607080)
    fail("the peer's Immediate Data has other octets than it was told");
}

}  // namespace
}  // namespace immediate_data_cases

void add_immediate_data_cases(Cases& cases) {
  using namespace immediate_data_cases;
  // RDMAPX-6-01: Write followed by Immediate Data equals the InfiniBand RDMA Write with Immediate, and Immediate Data
  // alone also causes a completion.
  cases.add({.name = "immediate-delivered",
             .clause = "RDMAPX-6-01",
             .what = "Immediate Data, with and without Solicited Event, completes a receive with its eight octets.",
             .needs = kReport | kSessions | kAtomics,
             .also = {"RDMAPX-6.3-02"}}) = [](Scene& scene) {
    Conversation& by = scene.connect({.wish = {.receives = 16}});
    const auto before = scene.report(by);
    for (const bool solicited : {false, true}) {
      Conversation& stream = scene.rejoin();
      stream.send_ulpdu(stream.make().immediate(0x0123456789ABCDEF, solicited));
      const Instant deadline = now() + scene.patience();
      PeerReport after;
      do after = scene.report(by);
      while (after.last_immediate_low == before.last_immediate_low && now() < deadline);
      if (after.last_immediate_high != 0x01234567 || after.last_immediate_low != 0x89ABCDEF)
        fail("Immediate Data came as other octets, or not at all");
    }
  };

  // RDMAPX-6.3-07: The receiver checks that an Immediate Data message has exactly 8 octets.
  cases.add({.name = "immediate-wrong-length",
             .clause = "RDMAPX-6.3-07",
             .what = "Immediate Data of 0, 4, 7, 9 and 16 octets is refused.",
             .needs = kReceives | kAtomics,
             .also = {"RDMAP-4.8-36"}}) = [](Scene& scene) {
    for (const std::size_t size : {std::size_t{0}, std::size_t{4}, std::size_t{7}, std::size_t{9}, std::size_t{16}}) {
      Conversation& by = scene.connect();
      const auto ulpdu = by.make().send(pattern(size), rdmap::Opcode::kImmediate);
      expect_refused(by, ulpdu, {kOperation, kStreamError}, {kTooLong});
    }
  };

  // RDMAPX-6.1-03: On error the Data Sink reports to its ULP and sends a Terminate which the peer passes to its ULP.
  cases.add({.name = "immediate-without-receive",
             .clause = "RDMAPX-6.1-03",
             .what = "Immediate Data without a receive: Terminate 1/2/02.",
             .needs = kOrders | kAtomics,
             .also = {"RDMAPX-6.3-02"}}) = [](Scene& scene) {
    Conversation& by = scene.connect({.wish = {.receives = 0}});
    expect_no_buffer(by, by.make().immediate(1));
  };

  // RDMAPX-8.2-01: DDP validates all DDP segment fields of the four new messages.
  cases.add({.name = "immediate-bad-header",
             .clause = "RDMAPX-8.2-01",
             .what = "Immediate Data of RDMAP version 0, with MO 4, and with MSN 0: each refused with its error.",
             .needs = kReceives | kAtomics,
             .also = {"RDMAPX-8.2-03", "RDMAPX-8.1-02"}}) = [](Scene& scene) {
    Conversation& version = scene.connect();
    auto ulpdu = version.make().immediate(1);
    ddp::UntaggedLayout::RsvdUlp::put(ulpdu, 0x08);
    expect_refused(version, ulpdu, {kVersion});

    Conversation& offset = scene.connect();
    auto shifted = offset.make().immediate(1);
    ddp::UntaggedLayout::MoField::put(shifted, 4);
    expect_refused(offset, shifted, {kOffset, kTooLong});  // its buffer has eight octets

    Conversation& msn = scene.connect();
    auto late = msn.make().immediate(1);
    ddp::UntaggedLayout::MsnField::put(late, 0);
    expect_refused(msn, late, {kMsnRange, kNoBuffer});
  };

  // RDMAPX-4.1-04: The Invalidate STag field of these messages is ignored on receive.
  cases.add({.name = "immediate-invalidate-field",
             .clause = "RDMAPX-4.1-04",
             .what = "Immediate Data with a valid STag in the field that means nothing: the STag stays valid.",
             .needs = kReceives | kRegions | kAtomics}) = [](Scene& scene) {
    Conversation& by = scene.connect();
    const Region region = scene.region(Region::kThisStream, kAllRights);
    auto ulpdu = by.make().immediate(1);
    ddp::UntaggedLayout::RsvdUlpWord::put(ulpdu, region.stag.value);
    by.send_ulpdu(ulpdu);
    by.send_ulpdu(by.make().write(region.stag, region.offset, pattern(4)));
    if (scene.read_back(by, region, 0, 4) != pattern(4)) fail("Immediate Data invalidated an STag");
  };

  // RDMAPX-4.1-05: Opcode 1000b (0x8) is Immediate Data: T=0, QN=0, no STag/TO in the DDP header, no Invalidate STag.
  cases.add({.name = "immediate-of-the-peer",
             .clause = "RDMAPX-4.1-05",
             .what = "The peer's own Immediate Data: eight octets, as it was told.",
             .needs = kOrders | kAtomics,
             .also = {"RDMAPX-6.3-03"}}) = [](Scene& scene) { expect_immediate(scene, Order::kImmediate, false); };

  // DDP-4.3-10: The MSN rises by exactly one, modulo 2^32, for each new message to the same QN on the same DDP
  // Stream.
  cases.add({.name = "immediate-between-sends-of-the-peer",
             .clause = "DDP-4.3-10",
             .what = "The peer sends, and sends Immediate Data, in turn: their MSNs are of one sequence.",
             .needs = kOrders | kAtomics,
             .also = {"DDP-4.3-11", "RDMAPX-6.3-04"}}) = [](Scene& scene) {
    // Sends and Immediate Data share queue 0, and so its Message Sequence Numbers.
    Conversation& by = scene.connect();
    std::optional<std::uint32_t> before;
    for (const std::uint8_t kind : {Order::kSend, Order::kImmediate, Order::kSend, Order::kImmediateSolicited}) {
      scene.order(by, {.operation = kind, .length = 24, .first = 1});
      const bool immediate = kind != Order::kSend;
      const auto opcode =
          immediate ? rdmap::immediate_opcode(kind == Order::kImmediateSolicited) : rdmap::Opcode::kSend;
      const auto fpdu = by.expect_message(
          opcode, nullptr, [&](const PeerFpdu& one) { return one.payload().size() == (immediate ? 8 : 24); });
      const std::uint32_t msn = ddp::UntaggedLayout::MsnField::get(fpdu.ulpdu);
      // A peer may send more of its own in between.
      if (before && static_cast<std::int32_t>(msn - *before) <= 0)
        fail(fmt::format("the peer's {} has MSN {}; one before it on the same queue had {}", rdmap::row(opcode).name,
                         msn, *before));
      before = msn;
    }
  };

  // RDMAPX-4.1-06: Opcode 1001b (0x9) is Immediate Data with Solicited Event: T=0, QN=0, no STag/TO in the DDP
  // header, no Invalidate STag.
  cases.add({.name = "immediate-solicited-of-the-peer",
             .clause = "RDMAPX-4.1-06",
             .what = "The same with Solicited Event.",
             .needs = kOrders | kAtomics}) = [](Scene& scene) {
    expect_immediate(scene, Order::kImmediateSolicited, true);
  };
}

}  // namespace weft::probe
