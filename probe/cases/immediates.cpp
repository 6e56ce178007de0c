// SPDX-License-Identifier: Apache-2.0
// Immediate Data, RFC 7306 section 6.
#include <fmt/format.h>

#include "probe/cases/steps.hpp"
#include "rdmap/control.hpp"

namespace weft::probe {
namespace immediates {
namespace {

void delivered(Scene& scene) {
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
}

void wrong_length(Scene& scene) {
  for (const std::size_t size : {std::size_t{0}, std::size_t{4}, std::size_t{7}, std::size_t{9}, std::size_t{16}}) {
    Conversation& by = scene.connect();
    const auto ulpdu = by.make().send(pattern(size), rdmap::Opcode::kImmediate);
    by.send_ulpdu(ulpdu);
    by.expect_terminate({kOperation, kStreamError}, ulpdu, {kTooLong});
  }
}

void without_receive(Scene& scene) {
  Conversation& by = scene.connect({.wish = {.receives = 0}});
  const auto ulpdu = by.make().immediate(1);
  by.send_ulpdu(ulpdu);
  by.expect_terminate({kNoBuffer}, ulpdu);
}

void bad_header(Scene& scene) {
  Conversation& version = scene.connect();
  auto ulpdu = version.make().immediate(1);
  ddp::UntaggedLayout::RsvdUlp::put(ulpdu, 0x08);
  version.send_ulpdu(ulpdu);
  version.expect_terminate({kVersion}, ulpdu);

  Conversation& offset = scene.connect();
  auto shifted = offset.make().immediate(1);
  ddp::UntaggedLayout::MoField::put(shifted, 4);
  offset.send_ulpdu(shifted);
  offset.expect_terminate({kOffset, kTooLong}, shifted);  // its buffer has eight octets

  Conversation& msn = scene.connect();
  auto late = msn.make().immediate(1);
  ddp::UntaggedLayout::MsnField::put(late, 0);
  msn.send_ulpdu(late);
  msn.expect_terminate({kMsnRange, kNoBuffer}, late);
}

void invalidate_field(Scene& scene) {
  Conversation& by = scene.connect();
  const Region region = scene.region(Region::kThisStream, kAllRights);
  auto ulpdu = by.make().immediate(1);
  ddp::UntaggedLayout::RsvdUlpWord::put(ulpdu, region.stag.value);
  by.send_ulpdu(ulpdu);
  by.send_ulpdu(by.make().write(region.stag, region.offset, pattern(4)));
  if (scene.read_back(by, region, 0, 4) != pattern(4)) fail("Immediate Data invalidated an STag");
}

void expect_immediate(Scene& scene, std::uint8_t kind, bool solicited) {
  Conversation& by = scene.connect();
  scene.order(by, {.operation = kind, .first = 0x1020304050607080});
  const auto fpdu = by.expect_message(rdmap::immediate_opcode(solicited));
  if (fpdu.payload().size() != 8 || Be<0, std::uint64_t>::get(fpdu.payload()) != 0x1020304050607080)
    fail("the peer's Immediate Data has other octets than it was told");
}
// Sends and Immediate Data share queue 0, and so its Message Sequence Numbers.
void between_sends_of_the_peer(Scene& scene) {
  Conversation& by = scene.connect();
  std::optional<std::uint32_t> before;
  for (const std::uint8_t kind : {Order::kSend, Order::kImmediate, Order::kSend, Order::kImmediateSolicited}) {
    scene.order(by, {.operation = kind, .length = 24, .first = 1});
    const bool immediate = kind != Order::kSend;
    const auto opcode = immediate ? rdmap::immediate_opcode(kind == Order::kImmediateSolicited) : rdmap::Opcode::kSend;
    const auto fpdu = by.expect_message(
        opcode, nullptr, [&](const PeerFpdu& one) { return one.payload().size() == (immediate ? 8 : 24); });
    const std::uint32_t msn = ddp::UntaggedLayout::MsnField::get(fpdu.ulpdu);
    // A peer may send more of its own in between.
    if (before && static_cast<std::int32_t>(msn - *before) <= 0)
      fail(fmt::format("the peer's {} has MSN {}; one before it on the same queue had {}", rdmap::row(opcode).name, msn,
                       *before));
    before = msn;
  }
}
void plain_of_the_peer(Scene& scene) { expect_immediate(scene, Order::kImmediate, false); }
void solicited_of_the_peer(Scene& scene) { expect_immediate(scene, Order::kImmediateSolicited, true); }

}  // namespace
}  // namespace immediates

std::span<const Case> immediates_cases() {
  using namespace immediates;
  static const std::vector<Case> cases{
      {.name = "immediate-delivered",
       .clause = "RDMAPX-6-01",
       .what = "Immediate Data, with and without Solicited Event, completes a receive with its eight octets.",
       .needs = kReport | kSessions | kAtomics,
       .run = delivered,
       .also = {"RDMAPX-6.3-02"}},
      {.name = "immediate-wrong-length",
       .clause = "RDMAPX-6.3-07",
       .what = "Immediate Data of 0, 4, 7, 9 and 16 octets is refused.",
       .needs = kReceives | kAtomics,
       .run = wrong_length,
       .also = {"RDMAP-4.8-36"}},
      {.name = "immediate-without-receive",
       .clause = "RDMAPX-6.1-03",
       .what = "Immediate Data without a receive: Terminate 1/2/02.",
       .needs = kOrders | kAtomics,
       .run = without_receive,
       .also = {"RDMAPX-6.3-02"}},
      {.name = "immediate-bad-header",
       .clause = "RDMAPX-8.2-01",
       .what = "Immediate Data of RDMAP version 0, with MO 4, and with MSN 0: each refused with its error.",
       .needs = kReceives | kAtomics,
       .run = bad_header,
       .also = {"RDMAPX-8.2-03", "RDMAPX-8.1-02"}},
      {.name = "immediate-invalidate-field",
       .clause = "RDMAPX-4.1-04",
       .what = "Immediate Data with a valid STag in the field that means nothing: the STag stays valid.",
       .needs = kReceives | kRegions | kAtomics,
       .run = invalidate_field},
      {.name = "immediate-of-the-peer",
       .clause = "RDMAPX-4.1-05",
       .what = "The peer's own Immediate Data: eight octets, as it was told.",
       .needs = kOrders | kAtomics,
       .run = plain_of_the_peer,
       .also = {"RDMAPX-6.3-03"}},
      {.name = "immediate-between-sends-of-the-peer",
       .clause = "DDP-4.3-10",
       .what = "The peer sends, and sends Immediate Data, in turn: their MSNs are of one sequence.",
       .needs = kOrders | kAtomics,
       .run = between_sends_of_the_peer,
       .also = {"DDP-4.3-11", "RDMAPX-6.3-04"}},
      {.name = "immediate-solicited-of-the-peer",
       .clause = "RDMAPX-4.1-06",
       .what = "The same with Solicited Event.",
       .needs = kOrders | kAtomics,
       .run = solicited_of_the_peer},
  };
  return cases;
}

}  // namespace weft::probe
