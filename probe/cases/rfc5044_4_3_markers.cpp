// SPDX-License-Identifier: Apache-2.0
// Markers, RFC 5044 sections 4.2, 4.3 and 8.
#include <algorithm>

#include "probe/cases/mpa_steps.hpp"

namespace weft::probe {
namespace markers_cases {
namespace {

constexpr const char* kLost = "a Write in a stream with Markers was lost, or changed";

// A connection on which the prober's stream has Markers, because the peer asked for them.
Conversation& with_markers(Scene& scene) {
  Conversation& by = connect_again(scene);
  if (!by.framing().markers) not_applicable("the peer does not ask for Markers");
  return by;
}

// Writes of many sizes, so that Markers come to lie at every place of an FPDU.
std::vector<std::byte> send_writes(Scene& scene, Conversation& by, const FpduFault& fault = {}) {
  const Region region = target(scene);
  std::vector<std::byte> wanted;
  for (std::size_t i = 1; wanted.size() < 50'000; ++i) {
    const std::size_t size = 1 + (i * 37) % 700;
    const auto payload = pattern(size, static_cast<std::uint8_t>(i));
    by.send_ulpdu(by.make().write(region.stag, at(region, static_cast<std::int64_t>(wanted.size())), payload), fault);
    wanted.insert(wanted.end(), payload.begin(), payload.end());
  }
  return wanted;
}

void delivered(Scene& scene, const FpduFault& fault) {
  Conversation& by = with_markers(scene);
  if (scene.offers(kRegions)) {
    const auto wanted = send_writes(scene, by, fault);
    expect_content(scene, by, target(scene), 0, wanted, kLost);
  } else {
    for (int i = 0; i < 200; ++i) by.send_ulpdu(by.make().write(kNoSuchStag, {}, {}), fault);
    by.expect_empty_read();
  }
}

// Between good Writes one of 600 octets, in which at least one Marker lies, with this fault.
Region send_wrong(Scene& scene, Conversation& by, const FpduFault& fault) {
  const Region region = target(scene);
  send_before(by, region);
  by.send_ulpdu(by.make().write(region.stag, at(region, 256), pattern(600)), fault);
  send_behind(by, region);
  return region;
}

}  // namespace
}  // namespace markers_cases

void add_markers_cases(Cases& cases) {
  using namespace markers_cases;
  // MPA-4.3-03: Every MPA sender is able to generate Markers when the opposite receiver declares their use.
  cases.add({.name = "markers-from-peer",
             .clause = "MPA-4.3-03",
             .what = "The prober asks for Markers: the peer takes that, and its answers have them.",
             .needs = kStream,
             .also = {"MPA-4.3-11"}}) = [](Scene& scene) {
    // Any peer, whatever application it serves.
    Conversation& by = scene.connect({.start_up = {.markers = true}});
    for (int i = 0; i < 40; ++i) by.expect_empty_read();
  };

  // MPA-4.3-03: Every MPA sender is able to generate Markers when the opposite receiver declares their use.
  cases.add(
      {.name = "markers-in-read-responses",
       .clause = "MPA-4.3-03",
       .what = "The prober asks for Markers, and reads 1 to 60000 octets: each Marker is in its place, and is right.",
       .needs = kRegions,
       .also = {"MPA-4.3-04", "MPA-4.3-05", "MPA-4.3-15"}}) = [](Scene& scene) {
    // The prober asks for Markers. What the peer sends is read and judged FPDU by FPDU: every Marker in its place, with
    // the right pointer, under the CRC.
    Conversation& by = scene.connect({.start_up = {.markers = true}});
    const Region region = target(scene);
    for (const std::uint32_t size : {1U, 3U, 64U, 480U, 508U, 512U, 1000U, 5000U, 60'000U})
      expect_content(scene, by, region, 0, first_octets(region, 0, size), "an RDMA Read brought other octets");
  };

  // MPA-4.3-03: Every MPA sender is able to generate Markers when the opposite receiver declares their use.
  cases.add({.name = "markers-in-orders",
             .clause = "MPA-4.3-03",
             .what = "The prober asks for Markers, and has the peer write, send and read: each Marker is in its place.",
             .needs = kOrders | kReads,
             .also = {"MPA-4.3-04", "MPA-4.3-05", "MPA-4.3-16", "MPA-4.5-02"}}) = [](Scene& scene) {
    for (const std::optional<int> segment : {std::optional<int>{}, std::optional<int>{536}}) {
      Conversation& by = scene.connect({.socket = {.max_segment = segment}, .start_up = {.markers = true}});
      for (const std::uint32_t size : {0U, 1U, 2U, 3U, 4U, 479U, 506U, 508U, 3000U, 100'000U}) {
        scene.order(by, {.operation = Order::kWrite, .length = size, .stag = Scene::kOwnStag, .offset = {0x4000}});
        by.expect_whole(rdmap::Opcode::kWrite, size, {0x4000});
        scene.order(by, {.operation = Order::kSend, .length = size});
        by.expect_whole(rdmap::Opcode::kSend, size);
      }
      const auto request = scene.provoke_read(by, {0x8000}, 32);
      by.send_ulpdu(by.make().read_response(request.sink_stag, request.sink_offset, pattern(32)));
      scene.expect_alive(by);
    }
  };

  // MPA-5.2-01: On an ordered stream the receiver determines FPDU boundaries from the ULPDU_Length fields.
  cases.add({.name = "markers-everywhere",
             .clause = "MPA-5.2-01",
             .what = "FPDUs of many sizes have Markers at every place: all are delivered.",
             .needs = kStream,
             .also = {"MPA-6-04", "MPA-6-02"}}) = [](Scene& scene) { delivered(scene, {}); };

  // MPA-5.1-06: A receiver operates correctly even when FPDU Alignment is lost.
  cases.add({.name = "markers-single-octets",
             .clause = "MPA-5.1-06",
             .what = "An FPDU with Markers comes in segments of one octet: it is delivered.",
             .needs = kRegions,
             .also = {"MPA-A.4-01", "MPA-A.4-02"}}) = [](Scene& scene) {
    Conversation& by = with_markers(scene);
    const Region region = target(scene);
    const auto payload = pattern(1200);
    const auto write = by.fpdu(by.make().write(region.stag, region.offset, payload));
    std::vector<std::size_t> cuts(write.size());
    for (std::size_t i = 0; i < cuts.size(); ++i) cuts[i] = i;
    by.send_in_pieces(write, cuts);
    expect_content(scene, by, region, 0, payload, kLost);
  };

  // MPA-3-06: DDP may hand over a ULPDU of any size from 1 to 64768 octets.
  cases.add({.name = "markers-far-back",
             .clause = "MPA-3-06",
             .what = "Markers point back by up to 64 KiB, within the longest ULPDU: it is delivered.",
             .needs = kRegions}) = [](Scene& scene) {
    // An FPDU of the longest ULPDU: its Markers point back by nearly all that 16 bits can say.
    Conversation& by = with_markers(scene);
    const Region region = target(scene);
    const auto payload = pattern(64'768 - ddp::TaggedLayout::kSize);
    by.send_ulpdu(by.make().write(region.stag, region.offset, payload));
    if (const Reaction seen = reaction_of(by); seen == Reaction::kSilent)
      fail("after a ULPDU of 64768 octets the peer neither goes on nor ends");
    else if (seen != Reaction::kWentOn)
      warn("the peer refuses a ULPDU of 64768 octets, which MPA allows");
    expect_content(scene, by, region, 0, payload, kLost);
  };

  // MPA-4.2-03: The reserved half of a Marker is ignored on receipt, except that its received value enters the CRC.
  cases.add({.name = "markers-reserved",
             .clause = "MPA-4.2-03",
             .what = "The reserved half of Markers is set, and the CRC is over what was sent: the FPDUs are delivered.",
             .needs = kStream}) = [](Scene& scene) { delivered(scene, {.marker_reserved = 0xFFFF}); };

  // MPA-4.2-06: The receiver treats the two least significant bits of FPDUPTR as zero in position arithmetic, while
  // using them as received for the CRC.
  cases.add(
      {.name = "markers-low-bits",
       .clause = "MPA-4.2-06",
       .what = "The two lowest bits of FPDUPTR are set, and the CRC is over what was sent: the FPDUs are delivered.",
       .needs = kStream,
       .also = {"MPA-4.3-10"}}) = [](Scene& scene) { delivered(scene, {.marker_pointer_xor = 3}); };

  // MPA-8-03: Error 3 is detected: with a valid CRC, Marker and ULPDU_Length disagree on an FPDU start.
  cases.add(
      {.name = "markers-wrong-pointer",
       .clause = "MPA-8-03",
       .what =
           "FPDUPTR is wrong, and the CRC is right: Terminate 2/0/03, and nothing of it is placed. A peer that does "
           "not look is told of.",
       .needs = kStream,
       .also = {"MPA-5.2-02", "MPA-8-06", "MPA-6-02", "RDMAP-IANA-3.3-03"}}) = [](Scene& scene) {
    // The pointer is wrong, and the CRC right. In an ordered stream a receiver need not look at Markers.
    for (const int change : {0x0004, 0x8000}) {
      Conversation& by = with_markers(scene);
      const Region region = send_wrong(scene, by, {.marker_pointer_xor = static_cast<std::uint16_t>(change)});
      by.send_ulpdu(by.make().read_request({.sink_stag = {7}, .sink_offset = {0x1234}}));
      PeerFpdu answer;
      const Came came = by.next(answer, by.patience(), message_of(rdmap::Opcode::kReadResponse));
      if (came != Came::kFpdu) {
        expect_mpa_error(by, {kMarkerMismatch});
      } else if (answer.is(rdmap::Opcode::kReadResponse)) {
        expect_content(scene, by, region, 256, pattern(600),
                       "an FPDU with a wrong Marker was neither refused nor placed");
        warn("the peer does not look at Markers in an ordered stream, as MPA-8-08 allows it");
      } else {
        const auto said = rdmap::parse_terminate(answer.payload());
        if (!said || said->meant().error != kMarkerMismatch)
          fail("the answer to a wrong Marker is no Terminate 2/0/03");
        by.shut();
        by.expect_end_sometime("a Terminate is the last message of its direction", by.patience());
      }
      expect_only_before(scene, region);
    }
  };

  // MPA-6-03: Verification includes the CRC when checking is enabled.
  cases.add(
      {.name = "markers-missing",
       .clause = "MPA-6-03",
       .what = "Markers are left out where the peer asked for them: a Terminate of layer 2, and nothing is placed.",
       .needs = kStream,
       .also = {"MPA-6-04"}}) = [](Scene& scene) {
    Conversation& by = with_markers(scene);
    const Region region = send_wrong(scene, by, {.no_markers = true});
    expect_mpa_error(by, {kBadCrc, kMarkerMismatch});
    expect_only_before(scene, region);
  };

  // MPA-4.4-18: With CRC checking enabled the receiver first computes the CRC of the incoming FPDU over the same
  // fields.
  cases.add({.name = "markers-flipped",
             .clause = "MPA-4.4-18",
             .what = "Each octet of a Marker is inverted in turn: Terminate 2/0/02, for the CRC covers Markers.",
             .needs = kStream,
             .also = {"MPA-4.3-01", "MPA-8-02"}}) = [](Scene& scene) {
    // Each octet of a Marker is inverted, and the CRC is that of the right octets.
    for (std::size_t octet = 0; octet < mpa::kMarkerSize; ++octet) {
      Conversation& by = with_markers(scene);
      const Region region = target(scene);
      // After the first FPDU, which brings the stream to `position`, the next Marker lies so far into the next one.
      send_before(by, region);
      const std::size_t marker = mpa::octets_to_marker(by.position());
      by.send_ulpdu(by.make().write(region.stag, at(region, 256), pattern(600)), {.flip = marker + octet});
      send_behind(by, region);
      expect_mpa_error(by, {kBadCrc});
    }
    expect_only_before(scene, target(scene));
  };

  // MPA-6-03: Verification includes the CRC when checking is enabled.
  cases.add({.name = "markers-not-asked-for",
             .clause = "MPA-6-03",
             .what = "Markers come though the peer did not ask for any: Terminate 2/0/02, and nothing is placed.",
             .needs = kStream,
             .also = {"MPA-5.2-01"}}) = [](Scene& scene) {
    // The peer has not asked for them: a Marker is then the length field of an FPDU, and the CRC is wrong.
    Conversation& by = scene.connect();
    if (by.framing().markers) not_applicable("the peer asks for Markers");
    if (!by.framing().crc) not_applicable("the peer does without CRCs: a Marker is an FPDU of ULPDU_Length 0 then");
    const Region region = target(scene);
    send_before(by, region);
    Framer marked({.crc = true, .markers = true});
    by.send(marked.fpdu(by.make().write(region.stag, at(region, 256), pattern(600))));
    send_behind(by, region);
    expect_mpa_error(by, {kBadCrc});
    expect_only_before(scene, region);
  };
}

}  // namespace weft::probe
