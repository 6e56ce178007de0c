// SPDX-License-Identifier: Apache-2.0
// RDMAP versions and opcodes, RFC 5040 section 4.1.
#include "probe/cases/steps.hpp"
#include "rdmap/control.hpp"

namespace weft::probe {
namespace rdmap_header_cases {
namespace {

using ddp::TaggedLayout;

void change(Ulpdu& ulpdu, int clear, int set) {
  const int control = TaggedLayout::RsvdUlp::get(ulpdu);
  TaggedLayout::RsvdUlp::put(ulpdu, static_cast<std::uint8_t>((control & ~clear) | set));
}

}  // namespace
}  // namespace rdmap_header_cases

void add_rdmap_header_cases(Cases& cases) {
  using namespace rdmap_header_cases;
  // RDMAP-4.1-19: A received RV other than the version in use is an error.
  cases.add({.name = "rdmap-version",
             .clause = "RDMAP-4.1-19",
             .what = "Sends, Writes and Read Requests of RDMAP version 0, 2 and 3: Terminate 0/2/05.",
             .needs = kStream,
             .also = {"RDMAP-4.8-31", "RDMAP-7.2-03", "RDMAP-7.2-06", "RDMAP-4.8-39"}}) = [](Scene& scene) {
    for (const int bits : {0x00, 0x80, 0xC0}) {
      for (int kind = 0; kind < 3; ++kind) {
        Conversation& by = scene.connect();
        auto ulpdu = kind == 0   ? by.make().send(pattern(4))
                     : kind == 1 ? by.make().write(kNoSuchStag, {0}, {})
                                 : by.make().read_request(read_of({0}, {0}, 0));
        change(ulpdu, rdmap::Control::kVersionMask, bits);
        expect_refused(scene, by, ulpdu, {kVersion});
      }
    }
  };

  // RDMAP-4.1-21: The two Rsv bits of RDMAP Control are ignored on receive.
  cases.add({.name = "rdmap-reserved-bits",
             .clause = "RDMAP-4.1-21",
             .what = "Messages with the two reserved bits of RDMAP's control set are taken like others.",
             .needs = kRegions | kReceives}) = [](Scene& scene) {
    Conversation& by = scene.connect();
    const Region region = scene.region(Region::kPlain, kReadWrite);
    auto write = by.make().write(region.stag, region.offset, pattern(8));
    change(write, 0, 0x30);
    by.send_ulpdu(write);
    auto send = by.make().send(pattern(8));
    change(send, 0, 0x20);
    by.send_ulpdu(send);
    auto read = by.make().read_request(read_of(region.stag, region.offset, 8));
    change(read, 0, 0x10);
    by.send_ulpdu(read);
    if (by.expect_read_response(Scene::kOwnStag, {0x10000}, 8) != pattern(8))
      fail("a Write with reserved RDMAP bits set was not placed");
    scene.expect_alive(by);
  };

  // RDMAP-4.1-15: Opcodes 1000b to 1111b are reserved in RFC 5040 and not valid on receive.
  cases.add({.name = "rdmap-unassigned-opcode",
             .clause = "RDMAP-4.1-15",
             .what = "Opcodes 0xC to 0xF, untagged and tagged: Terminate 0/2/06.",
             .needs = kStream,
             .also = {"RDMAP-IANA-3.4-01", "RDMAP-4.8-32", "RDMAP-7.2-02", "RDMAP-7.2-05"}}) = [](Scene& scene) {
    // 0xC to 0xE are unassigned, 0xF is for experiments: on both kinds of message.
    for (const std::uint8_t opcode : std::array<std::uint8_t, 4>{0xC, 0xD, 0xE, 0xF}) {
      const auto control = static_cast<std::uint8_t>(rdmap::Control::kVersion | opcode);
      Conversation& by = scene.connect();
      expect_refused(scene, by, by.make().untagged(control, 0, pattern(8)), {kOpcode});
      Conversation& tagged = scene.connect();
      auto write = tagged.make().write(kNoSuchStag, {0}, {});
      TaggedLayout::RsvdUlp::put(write, control);
      expect_refused(scene, tagged, write, {kOpcode});
    }
  };

  // RDMAP-4.1-16: A known opcode with the wrong T flag or wrong QN does not follow figure 4 and is an error.
  cases.add({.name = "rdmap-wrong-model",
             .clause = "RDMAP-4.1-16",
             .what = "Opcodes of untagged messages in a tagged segment, and the other way round: Terminate 0/2/06.",
             .needs = kStream}) = [](Scene& scene) {
    for (std::uint8_t opcode = 0; opcode <= 0xB; ++opcode) {
      const auto& row = *rdmap::find_opcode(opcode);
      const auto control = rdmap::control_octet(row.opcode);
      Conversation& by = scene.connect();
      if (row.tagged()) {
        expect_refused(scene, by, by.make().untagged(control, 0, pattern(8)), {kOpcode, kQueue});
      } else {
        auto write = by.make().write(kNoSuchStag, {0}, {});
        TaggedLayout::RsvdUlp::put(write, control);
        expect_refused(scene, by, write, {kOpcode});
      }
    }
  };

  // RDMAP-4.1-16: A known opcode with the wrong T flag or wrong QN does not follow figure 4 and is an error.
  cases.add({.name = "rdmap-wrong-queue",
             .clause = "RDMAP-4.1-16",
             .what = "Each untagged opcode on each queue that is not its own: refused.",
             .needs = kStream,
             .also = {"RDMAP-5.4-08"}}) = [](Scene& scene) {
    for (std::uint8_t opcode = 0; opcode <= 0xB; ++opcode) {
      const auto& row = *rdmap::find_opcode(opcode);
      if (row.tagged()) continue;
      for (std::uint32_t queue = 0; queue < 4; ++queue) {
        if (queue == std::to_underlying(*row.queue)) continue;
        Conversation& by = scene.connect();
        // Queues 2 and 3 have no buffer for what they do not expect: DDP may be the one that objects.
        const auto ulpdu = by.make().untagged(rdmap::control_octet(row.opcode), queue, pattern(8));
        expect_refused(by, ulpdu, {kOpcode, kQueue, kNoBuffer, kMsnRange, kOffset, kTooLong});
      }
    }
  };

  // RDMAP-4.1-24: The Invalidate STag field of Send, Send with SE, Read Request and Terminate is ignored on receive.
  cases.add(
      {.name = "rdmap-invalidate-field",
       .clause = "RDMAP-4.1-24",
       .what = "Sends and a Read Request with a valid STag where nothing is to be invalidated: the STag stays valid.",
       .needs = kRegions | kReceives,
       .also = {"RDMAPX-4.1-04"}}) = [](Scene& scene) {
    // The Invalidate STag field of messages that have none of it: ignored.
    Conversation& by = scene.connect();
    const Region region = scene.region(Region::kThisStream, kAllRights);
    by.send_ulpdu(by.make().send(pattern(4), rdmap::Opcode::kSend, region.stag));
    by.send_ulpdu(by.make().send(pattern(4), rdmap::Opcode::kSendSolicited, region.stag));
    auto request = by.make().read_request(read_of(region.stag, region.offset, 4));
    ddp::UntaggedLayout::RsvdUlpWord::put(request, region.stag.value);
    by.send_ulpdu(request);
    by.expect_read_response(Scene::kOwnStag, {0x10000}, 4);
    by.send_ulpdu(by.make().write(region.stag, region.offset, pattern(4)));
    if (scene.read_back(by, region, 0, 4) != pattern(4)) fail("an STag in a field that means nothing was invalidated");
  };
}

}  // namespace weft::probe
