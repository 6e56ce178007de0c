// SPDX-License-Identifier: Apache-2.0
// FPDUs, RFC 5044 sections 3 to 5: length, PAD, cuts across segments.
#include <algorithm>

#include "probe/cases/mpa_steps.hpp"

namespace weft::probe {
namespace fpdu_cases {
namespace {

constexpr const char* kLost = "a Write was lost, or changed";
constexpr std::size_t kLongest = 64768;  // octets of a ULPDU, section 3
constexpr std::size_t kHeader = ddp::TaggedLayout::kSize;

// FPDUs of many sizes in one stream, which is cut by `next_cut` whatever lies there.
template <typename NextCut>
void resegmented(Scene& scene, std::size_t largest, NextCut next_cut) {
  Conversation& by = scene.connect();
  const Region region = target(scene);
  std::vector<std::byte> stream, wanted;
  for (std::size_t size = 1; size < largest; size += 1 + size / 7) {
    const auto payload = pattern(size, static_cast<std::uint8_t>(size));
    const auto write =
        by.fpdu(by.make().write(region.stag, at(region, static_cast<std::int64_t>(wanted.size())), payload));
    stream.insert(stream.end(), write.begin(), write.end());
    wanted.insert(wanted.end(), payload.begin(), payload.end());
  }
  std::vector<std::size_t> cuts;
  for (std::size_t cut = next_cut(); cut < stream.size(); cut += next_cut()) cuts.push_back(cut);
  by.send_in_pieces(stream, cuts);
  expect_content(scene, by, region, 0, wanted, kLost);
}

// The stream ends, by a FIN or a RST, within the length, the header, the payload and the CRC of a Write.
void ends_within(Scene& scene, bool reset) {
  std::uint32_t ended = 0;
  for (const std::size_t left_out :
       {std::size_t{1}, std::size_t{4}, std::size_t{40}, std::size_t{54}, std::size_t{65}}) {
    Conversation& by = connect_again(scene);
    const Region region = target(scene);
    send_before(by, region);
    by.expect_empty_read();
    const auto write = by.fpdu(by.make().write(region.stag, at(region, kBehind), pattern(48)));
    by.send(Bytes(write).first(write.size() - std::min(left_out, write.size() - 1)));
    if (reset) {
      by.reset();
    } else {
      by.shut();
      by.expect_end_sometime("the stream ended within an FPDU", scene.patience());
    }
    ++ended;
  }
  expect_only_before(scene, target(scene));
  Conversation& by = scene.rejoin();
  const Instant deadline = now() + scene.patience();
  while (look(scene, by).connections_ended < ended) {
    if (now() > deadline) fail("the peer's application was not told of the end of a connection");
  }
}

}  // namespace
}  // namespace fpdu_cases

void add_fpdu_cases(Cases& cases) {
  using namespace fpdu_cases;
  constexpr std::uint32_t kSees = kRegions | kSessions;
  // MPA-4.1-04: The receiver ignores the contents of the PAD apart from including them in the CRC.
  cases.add({.name = "fpdu-pad-not-zero",
             .clause = "MPA-4.1-04",
             .what = "PAD octets are not zero, and the CRC over them is right: the FPDUs are delivered.",
             .needs = kRegions}) = [](Scene& scene) {
    // PADs of one, two and three octets that are not zero, right CRCs over them.
    Conversation& by = scene.connect();
    const Region region = target(scene);
    for (std::size_t size = 1; size <= 4; ++size)
      by.send_ulpdu(by.make().write(region.stag, at(region, static_cast<std::int64_t>(16 * size)), pattern(size)),
                    {.pad = std::byte{0xA5}});
    for (std::size_t size = 1; size <= 4; ++size)
      expect_content(scene, by, region, 16 * size, pattern(size), "a Write whose PAD is not zero was lost, or changed");
  };

  // MPA-5.1-06: A receiver operates correctly even when FPDU Alignment is lost.
  cases.add(
      {.name = "fpdu-cut-everywhere",
       .clause = "MPA-5.1-06",
       .what = "FPDUs with PADs of every size are cut at each of their octets, in the length, the CRC and the PAD too: "
               "all are delivered.",
       .needs = kStream,
       .also = {"MPA-A.4-01", "MPA-A.4-02", "MPA-6-02", "DDP-3-04"}}) = [](Scene& scene) {
    // Each cut of FPDUs with PADs of every size. An RDMA Read that travels with the first piece is answered before the
    // second one goes out: the peer has then dealt with the first one by itself.
    Conversation& by = scene.connect();
    const Region region = target(scene);
    std::vector<std::byte> wanted;
    const bool seen = scene.offers(kRegions);
    for (std::size_t size = seen ? 4 : 0; size < (seen ? 8 : 1); ++size) {
      const auto payload = pattern(size, static_cast<std::uint8_t>(size));
      const std::size_t octets = mpa::bare_fpdu_size(kHeader + size);
      for (std::size_t cut = 1; cut < octets; ++cut) {
        auto first = by.fpdu(by.make().read_request({.sink_stag = {7}, .sink_offset = {0x1234}}));
        const auto write =
            by.fpdu(by.make().write(region.stag, at(region, static_cast<std::int64_t>(wanted.size())), payload));
        const std::size_t there = std::min(cut, write.size() - 1);
        first.insert(first.end(), write.begin(), write.begin() + static_cast<std::ptrdiff_t>(there));
        by.send(first);
        by.expect_read_response({7}, {0x1234}, 0);
        by.send(Bytes(write).subspan(there));
        wanted.insert(wanted.end(), payload.begin(), payload.end());
      }
    }
    if (seen) expect_content(scene, by, region, 0, wanted, kLost);
    by.expect_empty_read();
  };

  // MPA-A.4-01: Receivers do not depend on FPDU Alignment to TCP segment boundaries.
  cases.add({.name = "fpdu-single-octets",
             .clause = "MPA-A.4-01",
             .what = "A stream of FPDUs comes in segments of one octet: all are delivered.",
             .needs = kRegions,
             .also = {"MPA-5.1-06", "MPA-A.4-02", "MPA-A.5.2-01", "MPA-5.2-01", "DDP-3-04"}}) = [](Scene& scene) {
    resegmented(scene, 100, [] { return std::size_t{1}; });
  };

  // MPA-A.4-02: Receivers cope with incomplete FPDUs, unaligned FPDU starts and any mixture of both in one segment.
  cases.add({.name = "fpdu-random-cuts",
             .clause = "MPA-A.4-02",
             .what = "A stream of FPDUs of many sizes is cut at places that a seed gives: all are delivered.",
             .needs = kRegions,
             .also = {"MPA-5.1-06", "MPA-5.2-01", "MPA-A.5.2-01", "MPA-6-04", "DDP-3-04"}}) = [](Scene& scene) {
    resegmented(scene, 3000, [&] { return 1 + static_cast<std::size_t>(scene.random() % 97); });
  };

  // MPA-5.2-01: On an ordered stream the receiver determines FPDU boundaries from the ULPDU_Length fields.
  cases.add({.name = "fpdu-many-in-one",
             .clause = "MPA-5.2-01",
             .what = "Many FPDUs of many sizes come at once: the length fields tell where each begins.",
             .needs = kRegions,
             .also = {"MPA-6-02", "MPA-6-04", "DDP-3-04"}}) = [](Scene& scene) {
    resegmented(scene, 4000, [] { return std::size_t{1} << 20U; });
  };

  // MPA-6-06: ULPDU_Length is used to determine that the whole FPDU is present before the ULPDU is forwarded to DDP.
  cases.add(
      {.name = "fpdu-stall",
       .clause = "MPA-6-06",
       .what = "A Write and a Send stall in the middle of their FPDU: nothing of them is placed or completed until the "
               "rest is there.",
       .needs = kSees | kReceives | kReport,
       .also = {"MPA-6-01", "DDP-4.1-09"}}) = [](Scene& scene) {
    // Half a Write and half a Send wait for their rest; the rest comes, and both are there.
    Conversation& by = scene.connect();
    const Region region = target(scene);
    const auto write = by.fpdu(by.make().write(region.stag, region.offset, pattern(400)));
    by.send(Bytes(write).first(300));
    by.expect_silence(scene.quiet(), "only a part of an FPDU was sent");
    Conversation& other = scene.rejoin();
    expect_content(scene, other, region, 0, first_octets(region, 0, 400), "a part of an FPDU was placed");
    by.send(Bytes(write).subspan(300));
    expect_content(scene, by, region, 0, pattern(400), kLost);

    const auto send = by.fpdu(by.make().send(pattern(100)));
    by.send(Bytes(send).first(send.size() - 1));
    by.expect_silence(scene.quiet(), "only a part of an FPDU was sent");
    expect_receives(scene, other, 0);
    by.send(Bytes(send).last(1));
    expect_no_more_receives(scene, other, 1);
  };

  // MPA-8-01: Error 1 is detected: TCP connection closed, terminated or lost, by timeout, excessive retries, RST or
  // FIN.
  cases.add({.name = "fpdu-fin-within",
             .clause = "MPA-8-01",
             .what = "The stream ends by a FIN within an FPDU: the peer ends the connection, and places nothing of it.",
             .needs = kSees | kReport,
             .also = {"MPA-6-06"}}) = [](Scene& scene) { ends_within(scene, false); };

  // MPA-8-01: Error 1 is detected: TCP connection closed, terminated or lost, by timeout, excessive retries, RST or
  // FIN.
  cases.add({.name = "fpdu-reset-within",
             .clause = "MPA-8-01",
             .what = "The stream ends by a RST within an FPDU: the peer hears of it, and places nothing of the FPDU.",
             .needs = kSees | kReport,
             .also = {"MPA-6-06"}}) = [](Scene& scene) { ends_within(scene, true); };

  // MPA-3-06: DDP may hand over a ULPDU of any size from 1 to 64768 octets.
  cases.add(
      {.name = "fpdu-length-0",
       .clause = "MPA-3-06",
       .what = "An FPDU has a ULPDU_Length of 0, which no sender may send: the peer goes on or ends the connection.",
       .needs = kStream}) = [](Scene& scene) {
    // A ULPDU of no octets. No sender may make one, and the RFC names no reaction: anything but a hang.
    Conversation& by = scene.connect();
    by.send_ulpdu({});
    if (reaction_of(by) == Reaction::kSilent) fail("after an FPDU of ULPDU_Length 0 the peer neither goes on nor ends");
  };

  // MPA-3-06: DDP may hand over a ULPDU of any size from 1 to 64768 octets.
  cases.add({.name = "fpdu-length-largest",
             .clause = "MPA-3-06",
             .what = "An FPDU has a ULPDU of 64768 octets, the longest: it is delivered.",
             .needs = kRegions}) = [](Scene& scene) {
    // The longest ULPDU that there may be. It is longer than the MULPDU of most paths, so a refusal is told, and no
    // more.
    Conversation& by = scene.connect();
    const Region region = target(scene);
    const auto payload = pattern(kLongest - kHeader);
    by.send_ulpdu(by.make().write(region.stag, region.offset, payload));
    switch (reaction_of(by)) {
      case Reaction::kWentOn: expect_content(scene, by, region, 0, payload, kLost); return;
      case Reaction::kSilent: fail("after a ULPDU of 64768 octets the peer neither goes on nor ends");
      default: warn("the peer refuses a ULPDU of 64768 octets, which MPA allows");
    }
  };

  // MPA-3-05: DDP must never hand MPA a ULPDU longer than 64768 octets.
  cases.add({.name = "fpdu-length-beyond",
             .clause = "MPA-3-05",
             .what = "ULPDUs have 64769 and 65535 octets, more than MPA allows: they are delivered or refused.",
             .needs = kRegions}) = [](Scene& scene) {
    // More than MPA allows, all of it there: taken or refused, and no hang.
    for (const std::size_t size : {kLongest + 1, std::size_t{65535}}) {
      Conversation& by = connect_again(scene);
      const Region region = target(scene);
      by.send_ulpdu(by.make().write(region.stag, region.offset, pattern(size - kHeader)));
      switch (reaction_of(by)) {
        case Reaction::kWentOn: expect_content(scene, by, region, 0, pattern(size - kHeader), kLost); break;
        case Reaction::kSilent: fail("after a ULPDU of more than 64768 octets the peer neither goes on nor ends");
        default: break;
      }
    }
  };

  // MPA-6-06: ULPDU_Length is used to determine that the whole FPDU is present before the ULPDU is forwarded to DDP.
  cases.add({.name = "fpdu-length-announced",
             .clause = "MPA-6-06",
             .what = "Length fields announce 64768, 64769 and 65535 octets that do not come: nothing is placed.",
             .needs = kStream,
             .also = {"MPA-8-01"}}) = [](Scene& scene) {
    // Announced by the length field, and not there: nothing is made of what is there.
    for (const std::uint16_t length : {std::uint16_t{64768}, std::uint16_t{64769}, std::uint16_t{65535}}) {
      Conversation& by = connect_again(scene);
      const Region region = target(scene);
      send_before(by, region);
      by.send_ulpdu(by.make().write(region.stag, at(region, kBehind), pattern(64)), {.length = length});
      // A length beyond the largest may be refused at once.
      const Reaction seen = reaction_within(by, scene.quiet());
      if (seen == Reaction::kWentOn) fail("the peer sends an FPDU though nothing was asked for");
      if (seen == Reaction::kSilent) {
        by.shut();
        by.expect_end_sometime("the stream ended within an FPDU", scene.patience());
      }
    }
    expect_only_before(scene, target(scene));
  };

  // MPA-4.5-08: MULPDU is not reduced below 128 octets even if EMSS falls below 128.
  cases.add({.name = "fpdu-tiny-segments",
             .clause = "MPA-4.5-08",
             .what = "TCP segments have 88 octets or less: the peer's ULPDUs still have 128 octets or more.",
             .needs = kOrders,
             .also = {"MPA-4.5-09"}}) = [](Scene& scene) {
    // The peer's stream where its segments are as small as TCP lets them be.
    constexpr std::uint32_t kMessage = 3000;
    Conversation& by = scene.connect({.socket = {.max_segment = 88}});
    scene.order(by, {.operation = Order::kWrite, .length = kMessage, .stag = Scene::kOwnStag, .offset = {0x4000}});
    std::size_t seen = 0;
    for (bool last = false; !last;) {
      const PeerFpdu fpdu = by.expect_message(rdmap::Opcode::kWrite, nullptr, [&](const PeerFpdu& one) {
        return ddp::TaggedLayout::ToField::get(one.ulpdu) == 0x4000 + seen;
      });
      last = fpdu.last();
      seen += fpdu.payload().size();
      if (!last && fpdu.ulpdu.size() < 128)
        fail("the peer cuts a message into ULPDUs of less than 128 octets, where TCP segments are smaller still");
    }
    if (seen != kMessage) fail("the peer's RDMA Write has another length than it was ordered to have");
  };

  // DDP-5.2-04: The Data Source sends all octets of the ULP message.
  cases.add({.name = "fpdu-bulk-from-peer",
             .clause = "DDP-5.2-04",
             .what =
                 "The peer sends messages of 0 to 200000 octets, of every kind, in segments of three sizes: they are "
                 "complete, and the auditor's rules hold.",
             .needs = kOrders | kRegions,
             .also = {"DDP-5.2-02", "MPA-4.5-03", "DDP-5.2-07", "DDP-5.2-10"}}) = [](Scene& scene) {
    // Long and short messages of every kind, for the auditor's rules of segments and their order.
    for (const std::optional<int> segment : {std::optional<int>{}, std::optional<int>{536}, std::optional<int>{1460}}) {
      Conversation& by = connect_again(scene, {.socket = {.max_segment = segment}});
      for (const std::uint32_t size : {0U, 1U, 3U, 508U, 1461U, 70'000U, 200'000U}) {
        const Order write{.operation = Order::kWrite, .length = size, .stag = Scene::kOwnStag, .offset = {0xFFFF'FFF0}};
        scene.order(by, write);
        by.expect_whole(rdmap::Opcode::kWrite, size, write.offset);
        scene.order(by, {.operation = Order::kSend, .length = size});
        by.expect_whole(rdmap::Opcode::kSend, size);
      }
      const Region region = target(scene);
      expect_content(scene, by, region, 0, first_octets(region, 0, 60'000), "an RDMA Read brought other octets");
    }
  };
}

}  // namespace weft::probe
