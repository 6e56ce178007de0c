// SPDX-License-Identifier: Apache-2.0
// The CRC of an FPDU, RFC 5044 sections 4.4, 6 and 8.
#include <algorithm>

#include "probe/cases/mpa_steps.hpp"
#include "probe/cases/startups.hpp"

namespace weft::probe {
namespace crc_cases {
namespace {

// Between good Writes a Write whose CRC is wrong, into memory that could be written: it ends the stream, and neither it
// nor what comes after was placed.
void refused_between_good_ones(Scene& scene, Conversation& by, const FpduFault& fault) {
  const Region region = target(scene);
  send_before(by, region);
  by.send_ulpdu(by.make().write(region.stag, at(region, 256), pattern(256)), fault);
  send_behind(by, region);
  expect_mpa_error(by, {kBadCrc});
  expect_only_before(scene, region);
}

// One end alone asks for CRCs: they are generated and checked in both directions.
void asked_for_by_one(Scene& scene, bool ours) {
  Conversation& by = scene.connect({.start_up = {.crc = ours}});
  if (!by.framing().crc) not_applicable("the peer does without CRCs where the prober does");
  by.expect_empty_read();  // the CRC of its answer is checked
  refused_between_good_ones(scene, by, {.crc_xor = 1});
}

}  // namespace
}  // namespace crc_cases

void add_crc_cases(Cases& cases) {
  using namespace crc_cases;
  // MPA-4.4-09: Once the peer's startup frame requires CRCs (C=1), CRCs are generated and checked until the
  // connection terminates.
  cases.add(
      {.name = "crc-while-memory-changes",
       .clause = "MPA-4.4-09",
       .what =
           "Memory is written to by its owner while it is read: the CRCs of the Read Responses are right nevertheless.",
       .needs = kOrders | kRegions | kSessions}) = [](Scene& scene) {
    // The peer's program writes to its memory while the peer answers Reads of it. Which octets come is open; their CRCs
    // are right.
    Conversation& by = scene.connect();
    const Region region = scene.region(Region::kPlain, kReadWrite);
    Conversation& writer = scene.rejoin();
    for (std::uint8_t round = 0; round < 30; ++round) {
      for (std::uint8_t i = 0; i < 4; ++i) {
        by.send_ulpdu(by.make().read_request({.sink_stag = Scene::kOwnStag,
                                              .size = region.length,
                                              .source_stag = region.stag,
                                              .source_offset = region.offset}));
        scene.order(writer, {.operation = Order::kFill, .stag = region.stag, .first = round * 4U + i});
      }
      for (int i = 0; i < 4; ++i) by.expect_read_response(Scene::kOwnStag, {}, region.length);
    }
  };

  // MPA-4.4-01: Every implementation supports CRC generation and checking.
  cases.add({.name = "ordinary",
             .clause = "MPA-4.4-01",
             .what = "An ordinary connection with CRCs works.",
             .needs = kStream}) = [](Scene& scene) {
    // What every other case begins with.
    try {
      scene.expect_alive(scene.connect());
    } catch (const Judgement& judgement) {
      fail(std::string("an ordinary connection does not work: ") + judgement.what());
    }
  };

  // MPA-4.4-19: A received CRC that differs from the computed value makes the FPDU invalid.
  cases.add({.name = "crc-wrong-write",
             .clause = "MPA-4.4-19",
             .what = "Between good Writes one has a wrong CRC: Terminate 2/0/02, and only the first one is placed.",
             .needs = kStream,
             .also = {"MPA-4.4-01", "MPA-6-01", "MPA-6-03", "MPA-8-02", "MPA-8-11", "MPA-8-13", "MPA-8-15", "MPA-8-16",
                      "DDP-6.2.2-02"}}) = [](Scene& scene) {
    refused_between_good_ones(scene, scene.connect(), {.crc_xor = 1});
  };

  // MPA-4.4-19: A received CRC that differs from the computed value makes the FPDU invalid.
  cases.add(
      {.name = "crc-wrongly-computed",
       .clause = "MPA-4.4-19",
       .what = "CRCs in the other octet order, without the final inversion, of zeros and of ones: Terminate 2/0/02.",
       .needs = kStream,
       .also = {"MPA-4.4-13", "MPA-8-02"}}) = [](Scene& scene) {
    // What a wrong computation gives: another octet order, no final inversion, nothing at all.
    Conversation& first = scene.connect();
    const Region region = target(scene);
    const auto right_crc = [&](Conversation& by) {
      Framer like_this(by.framing());
      const auto octets = like_this.fpdu(by.make().write(region.stag, at(region, 256), pattern(256)));
      return mpa::CrcField::get(Bytes(octets).last(mpa::kCrcSize));
    };
    if (first.framing().markers) not_applicable("the peer wants Markers: crc-wrong-write has the rest");
    const std::uint32_t right = right_crc(first);
    for (const std::uint32_t crc : {__builtin_bswap32(right), ~right, 0U, 0xFFFFFFFFU})
      refused_between_good_ones(scene, connect_again(scene), {.crc = crc});
  };

  // MPA-4.4-18: With CRC checking enabled the receiver first computes the CRC of the incoming FPDU over the same
  // fields.
  cases.add(
      {.name = "crc-each-octet",
       .clause = "MPA-4.4-18",
       .what = "Each octet of an FPDU is inverted in turn: each time Terminate 2/0/02, and nothing of it is placed.",
       .needs = kStream,
       .also = {"MPA-4.4-14", "MPA-6-01", "MPA-8-02"}}) = [](Scene& scene) {
    // Each octet of an FPDU, with a PAD of three octets, is inverted in turn. Where this makes the FPDU longer, good
    // ones fill it up.
    constexpr std::size_t kPayload = 17;
    constexpr std::size_t kSize = mpa::bare_fpdu_size(ddp::TaggedLayout::kSize + kPayload);
    constexpr std::size_t kMostLength = 0x10000;
    for (std::size_t flipped = 0; flipped < kSize; ++flipped) {
      Conversation& by = connect_again(scene);
      if (by.framing().markers) not_applicable("the peer wants Markers: markers-flipped is the case for it");
      const Region region = target(scene);
      send_before(by, region);
      auto octets = by.fpdu(by.make().write(region.stag, at(region, 256), pattern(kPayload)), {.flip = flipped});
      const std::size_t filling = flipped < mpa::kLengthSize ? kMostLength : 1;
      const std::size_t until = octets.size() + filling;
      while (octets.size() < until) {
        const auto good = by.fpdu(by.make().write(region.stag, at(region, kBehind),
                                                  pattern(region.length == 0 ? 0
                                                          : filling > 1      ? 2048
                                                                             : kAround)));
        octets.insert(octets.end(), good.begin(), good.end());
      }
      by.send(octets);
      expect_mpa_error(by, {kBadCrc});
    }
    expect_only_before(scene, target(scene));
  };

  // MPA-8-13: After delivering any error MPA passes or delivers no further FPDU on that half connection.
  cases.add({.name = "crc-wrong-send",
             .clause = "MPA-8-13",
             .what = "The second of three Sends has a wrong CRC: Terminate 2/0/02, and only the first one completes.",
             .needs = kReceives | kReport | kSessions | kRegions,
             .also = {"MPA-6-01", "MPA-4.4-19", "DDP-6.2.2-02"}}) = [](Scene& scene) {
    // A Send is not completed, nor are those after it; the one before it is.
    Conversation& by = scene.connect();
    by.send_ulpdu(by.make().send(pattern(10)));
    by.send_ulpdu(by.make().send(pattern(11)), {.crc_xor = 0x80000000});
    by.send_ulpdu(by.make().send(pattern(12)));
    expect_mpa_error(by, {kBadCrc});
    Conversation& other = scene.rejoin();
    const PeerReport seen = expect_receives(scene, other, 1);
    if (seen.last_length != 10) fail("another Send completed than the one before the wrong FPDU");
  };

  // MPA-6-01: An FPDU is verified before its ULPDU is passed to DDP.
  cases.add({.name = "crc-wrong-read-response",
             .clause = "MPA-6-01",
             .what = "The answer to the peer's Read has a wrong CRC: Terminate 2/0/02, and the Read does not complete.",
             .needs = kReads | kReport | kSessions | kRegions,
             .also = {"MPA-4.4-19"}}) = [](Scene& scene) {
    // The answer to the peer's own Read is wrong: the Read does not complete.
    Conversation& by = scene.connect();
    const auto request = scene.provoke_read(by, {0x8000}, 64);
    by.send_ulpdu(by.make().read_response(request.sink_stag, request.sink_offset, pattern(64)), {.crc_xor = 0x100});
    expect_mpa_error(by, {kBadCrc});
    if (look(scene, scene.rejoin()).requests_done != 0) fail("a Read completed by an answer whose CRC is wrong");
  };

  // MPA-9.1-01: Data that sits at an FPDU boundary but fails FPDU validation leads the receiver to report an error to
  // DDP.
  cases.add({.name = "crc-noise",
             .clause = "MPA-9.1-01",
             .what = "Random octets come where an FPDU should begin: Terminate 2/0/02.",
             .needs = kStream,
             .also = {"MPA-8-02"}}) = [](Scene& scene) {
    // Noise where an FPDU should begin, whose first octets are taken for a length.
    Conversation& by = scene.connect();
    const Region region = target(scene);
    send_before(by, region);
    std::vector<std::byte> octets(0x10100);
    for (auto& octet : octets) octet = static_cast<std::byte>(scene.random());
    by.send(octets);
    expect_mpa_error(by, {kBadCrc});
    expect_only_before(scene, region);
  };

  // MPA-7.1.2-17: The Responder receives and validates at least one FPDU before it sends any FPDU or Marker.
  cases.add(
      {.name = "crc-wrong-first",
       .clause = "MPA-7.1.2-17",
       .what = "The first FPDU of the stream has a wrong CRC: the peer, which may not send yet, ends the connection.",
       .needs = kStream | kListens,
       .also = {"MPA-6-01"}}) = [](Scene& scene) {
    // Before the first good FPDU a Responder may send nothing, not even a Terminate.
    Conversation& by = scene.connect({.prober_first = false});
    const Region region = target(scene);
    by.send_ulpdu(by.make().write(region.stag, at(region, 256), pattern(256)), {.crc_xor = 1});
    by.expect_end("the first FPDU was wrong, and a Responder that has seen no good one may send none (MPA-7.1.2-17)");
    if (sees_memory(scene)) scene.expect_untouched(region, 0, 512);
  };

  // MPA-4.4-06: CRC checking, and possibly generation, may be switched off only if both endpoints indicate the
  // preference not to use them.
  cases.add(
      {.name = "crc-asked-for-by-us",
       .clause = "MPA-4.4-06",
       .what = "The prober asks for CRCs, whatever the peer does: they are generated, and wrong ones end the stream.",
       .needs = kStream,
       .also = {"MPA-4.4-09", "MPA-4.4-01"}}) = [](Scene& scene) { asked_for_by_one(scene, true); };

  // MPA-4.4-06: CRC checking, and possibly generation, may be switched off only if both endpoints indicate the
  // preference not to use them.
  cases.add({.name = "crc-asked-for-by-peer",
             .clause = "MPA-4.4-06",
             .what = "The peer alone asks for CRCs: they are generated, and wrong ones end the stream.",
             .needs = kStream,
             .also = {"MPA-4.4-09"}}) = [](Scene& scene) { asked_for_by_one(scene, false); };

  // MPA-4.4-05: The default configuration of a connection is to use CRCs.
  cases.add({.name = "crc-preference",
             .clause = "MPA-4.4-05",
             .what =
                 "The peer's Request has C = 1, or where it listens, its Reply to a Request with C = 0: CRCs are the "
                 "default.",
             .needs = kNoNeed,
             .also = {"MPA-4.4-04"}}) = [](Scene& scene) {
    // C = 0 in a frame of the peer's is a wish to do without CRCs. Whether its administrator asked for that cannot be
    // seen.
    bool wants = false;
    if (scene.peer_connects()) {
      wants = scene.dial().expect_frame(mpa::FrameKind::kRequest).frame.crc;
    } else {
      StartUp request = ordinary_request(scene);
      request.crc = false;
      const Answered answered = ask(scene, for_peer(scene, std::move(request)));
      if (answered.reply.frame.reject) not_applicable("the peer rejects a Request with C = 0");
      wants = answered.reply.frame.crc;
    }
    if (!wants)
      warn("the peer's C is 0, which is right where its administrator has asked for no CRCs, and nowhere else");
  };

  // MPA-4.1-08: With CRCs disabled the receiver does not check the CRC field.
  cases.add({.name = "crc-off-garbage",
             .clause = "MPA-4.1-08",
             .what = "CRCs are off in both directions, and the CRC field holds garbage: the FPDUs are delivered.",
             .needs = kReceives,
             .also = {"MPA-4.4-10", "MPA-7.1.1-09", "MPA-7.1.1-13"}}) = [](Scene& scene) {
    Conversation& by = scene.connect({.start_up = {.crc = false}});
    if (by.framing().crc) not_applicable("the peer insists on CRCs");
    for (const std::uint32_t crc : {0U, 0xDEADBEEFU, 0xFFFFFFFFU})
      by.send_ulpdu(by.make().send(pattern(32)), {.crc = crc});
    scene.expect_alive(by);
  };
}

}  // namespace weft::probe
