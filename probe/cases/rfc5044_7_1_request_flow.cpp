// SPDX-License-Identifier: Apache-2.0
// The MPA Request, RFC 5044 section 7.1: flags and revisions that are taken, and Requests that do not come.
#include <fmt/format.h>

#include "probe/cases/mpa_steps.hpp"
#include "probe/cases/startups.hpp"

namespace weft::probe {
namespace request_flow_cases {
namespace {

constexpr auto kLongestWait = std::chrono::seconds(65);  // for a peer's timeout; RNICs take up to a minute

// It closes, with or without a Reply of its own revision first (RFC 5044 appendix C.2.1). One that can interoperate all
// the same goes on (MPA-7.1.1-21).
void revision_2_of_one_that_knows_1(Scene& scene) {
  const StartUp request = for_peer(scene, plain_request(2));
  Conversation& by = scene.dial();
  by.send_frame(request);
  const auto first = by.octets(1, by.patience());
  if (first.empty()) return by.expect_end("the Request has revision 2, and the peer knows revision 1 alone");
  by.give_back({.octets = first});
  const PeerFrame reply = by.expect_frame(mpa::FrameKind::kReply);
  if (reply.frame.enhanced) fail("an unenhanced Request got an enhanced Reply");
  by.start_fpdus(request, reply.frame);
  if (!reply.frame.reject && reaction_of(by) == Reaction::kSilent)
    fail("the peer accepted revision 2 without enhanced data, and does not answer after its Reply");
}

// SHOULD, and no time is given.
void expect_time_out(Conversation& by, const std::string& of, Instant deadline) {
  PeerFpdu fpdu;
  if (by.next(fpdu, deadline - now()) == Came::kNothing)
    warn(fmt::format("the peer waits for {} for more than {} s", of, kLongestWait.count()));
  if (!by.octets(1, {}).empty()) fail("octets came while the peer waited for " + of);
}

}  // namespace
}  // namespace request_flow_cases

void add_request_flow_cases(Cases& cases) {
  using namespace request_flow_cases;
  // MPA2-6-09: A host accepting MPA connections goes on accepting Rev 1 Requests even if it supports Rev 2.
  cases.add({.name = "request-revision-1",
             .clause = "MPA2-6-09",
             .what = "The Request has revision 1: it is accepted by an unenhanced Reply, and FPDUs follow.",
             .needs = kListens,
             .also = {"MPA2-10-04", "MPA2-10-06", "MPA-7.1.2-09"}}) = [](Scene& scene) {
    const Answered answered = expect_accepted(scene, plain_request());
    if (answered.reply.frame.enhanced) fail("an unenhanced Request got an enhanced Reply");
    if ((answered.reply.octets[16] & std::byte{0x10}) != std::byte{}) fail("the Reply has S, and the Request had not");
    if (answered.reply.frame.revision != 1)
      warn(fmt::format("the Reply to revision 1 has revision {}", answered.reply.frame.revision));
    expect_works(scene, *answered.by);
  };

  // MPA2-10-09: An enhanced Responder that receives S=0 responds with S=0.
  cases.add(
      {.name = "request-revision-2-plain",
       .clause = "MPA2-10-09",
       .what =
           "The Request has revision 2 and no enhanced data: it is accepted by a Reply without enhanced data, or the "
           "peer knows revision 1 alone, and closes.",
       .needs = kListens,
       .also = {"MPA2-10-04", "MPA2-10-07", "MPA2-6-06"}}) = [](Scene& scene) {
    // S, not the revision, makes a frame an enhanced one.
    if (!scene.offers(kEnhanced)) return revision_2_of_one_that_knows_1(scene);
    const Answered answered = expect_accepted(scene, plain_request(2));
    if ((answered.reply.octets[16] & std::byte{0x10}) != std::byte{}) fail("the Reply has S, and the Request had not");
    expect_works(scene, *answered.by);
  };

  // MPA-7.1.1-18: The Res bits are not checked on receipt.
  cases.add(
      {.name = "request-reserved-bits",
       .clause = "MPA-7.1.1-18",
       .what =
           "Requests of each revision that the peer speaks have reserved bits set: each is accepted, and FPDUs follow.",
       .needs = kListens,
       .also = {"MPA2-6-05"}}) = [](Scene& scene) {
    for (const std::uint8_t bits : std::initializer_list<std::uint8_t>{1, 2, 4, 8, 15}) {
      for (StartUp request : requests_of_each_kind(scene)) {
        request.reserved = bits;
        expect_works(scene, *expect_accepted(scene, request).by);
      }
    }
  };

  // MPA2-6-07: Rev is two or higher if any enhanced connection establishment feature is used.
  cases.add({.name = "request-s-of-revision-1",
             .clause = "MPA2-6-07",
             .what = "The Request has S set and revision 1: the peer answers without S, or of revision 2, or closes.",
             .needs = kListens}) = [](Scene& scene) {
    // RFC 5044 does not check the bit, RFC 6581 wants revision 2 with it: every answer is right, but none at all, and
    // one that is itself enhanced and of revision 1.
    StartUp start_up = plain_request();
    start_up.enhanced_flag = true;
    start_up = for_peer(scene, start_up, 26);
    Conversation& by = scene.dial();
    by.send_frame(start_up);
    const auto reply = by.octets(mpa::kFixedFrameSize, by.patience());
    if (reply.size() == mpa::kFixedFrameSize) {
      constexpr std::byte kEnhancedBit{0x10};
      const bool enhanced = (reply[mpa::kKeySize] & kEnhancedBit) != std::byte{0};
      if (enhanced && reply[mpa::kKeySize + 1] < std::byte{2})
        fail("the Reply has S set, and its revision is less than 2");
    }
    if (!reply.empty()) return;
    by.expect_end("a Request came whose revision is 1 and whose S is set");
  };

  // MPA-7.1.1-15: R is not checked when received in a Request.
  cases.add({.name = "request-reject-bit",
             .clause = "MPA-7.1.1-15",
             .what = "The Request has R set, which means nothing there: it is accepted.",
             .needs = kListens}) = [](Scene& scene) {
    StartUp start_up = plain_request();
    start_up.reject = true;
    Conversation& by = scene.dial();
    by.exchange().prober_breaks_startup = true;
    start_up = for_peer(scene, start_up);
    by.send_frame(start_up);
    const PeerFrame reply = by.expect_frame(mpa::FrameKind::kReply);
    if (reply.frame.reject) fail("the peer answered R in a Request by R in its Reply");
    by.start_fpdus(start_up, reply.frame);
    expect_works(scene, by);
  };

  // MPA-4.3-03: Every MPA sender is able to generate Markers when the opposite receiver declares their use.
  cases.add({.name = "request-flags",
             .clause = "MPA-4.3-03",
             .what = "Requests with every combination of M, C and revision: FPDUs are framed as both frames say.",
             .needs = kListens,
             .also = {"MPA-7.1.1-06", "MPA-7.1.1-08", "MPA-7.1.1-11", "MPA-7.1.1-12", "MPA-7.1.2-22"}}) =
      [](Scene& scene) {
        // M, C and the revision, all of them: FPDUs are framed as the two frames say.
        for (unsigned bits = 0; bits < 4; ++bits) {
          for (StartUp request : requests_of_each_kind(scene)) {
            request.markers = (bits & 1U) != 0;
            request.crc = (bits & 2U) != 0;
            expect_works(scene, *expect_accepted(scene, request).by);
          }
        }
      };

  // MPA-7.1.5-04: TCP recovers from loss, re-segmentation and reordering also while the stacks are being switched.
  cases.add({.name = "request-single-octets",
             .clause = "MPA-7.1.5-04",
             .what = "Each octet of the Request comes in a segment of its own: it is accepted.",
             .needs = kListens}) = [](Scene& scene) {
    const StartUp start_up = for_peer(scene, plain_request());
    const auto octets = forge(mpa::FrameKind::kRequest, start_up);
    std::vector<std::size_t> cuts;
    for (std::size_t cut = 1; cut < octets.size(); ++cut) cuts.push_back(cut);
    Conversation& by = scene.dial();
    by.send_in_pieces(octets, cuts);
    const PeerFrame reply = by.expect_frame(mpa::FrameKind::kReply);
    by.start_fpdus(start_up, reply.frame);
    expect_works(scene, by);
  };

  // MPA-7.1.2-03: An endpoint started in Responder mode waits for a received and validated Request before entering
  // Full Operation.
  cases.add(
      {.name = "request-waited-for",
       .clause = "MPA-7.1.2-03",
       .what = "No Request comes, then 19 octets of it, then the rest: the peer sends nothing before it is complete.",
       .needs = kListens,
       .also = {"MPA-7.1.2-12"}}) = [](Scene& scene) {
    Conversation& by = scene.dial();
    expect_still_waiting(scene, by, "no Request was sent yet");
    const StartUp start_up = for_peer(scene, plain_request());
    const auto octets = forge(mpa::FrameKind::kRequest, start_up);
    by.send(Bytes(octets).first(19));
    expect_still_waiting(scene, by, "only 19 octets of the Request were sent");
    by.send(Bytes(octets).subspan(19));
    by.start_fpdus(start_up, by.expect_frame(mpa::FrameKind::kReply).frame);
    expect_works(scene, by);
  };

  // MPA-7.1.2-26: A Responder should put a timeout on the wait for the Request, to detect Responder/Responder
  // startups.
  cases.add({.name = "request-silence",
             .clause = "MPA-7.1.2-26",
             .what = "No octet comes on a new connection: the peer closes it after a while.",
             .needs = kListens,
             .slow = true}) = [](Scene& scene) {
    Conversation& by = scene.dial();
    by.exchange().prober_breaks_startup = true;
    expect_time_out(by, "a Request", now() + kLongestWait);
  };

  // MPA-7.1.2-31: A reasonable timeout should guard the wait for the entire set of startup frames.
  cases.add({.name = "request-stalls",
             .clause = "MPA-7.1.2-31",
             .what = "A part of the Request comes and no more: the peer closes the connection after a while.",
             .needs = kListens,
             .also = {"MPA-7.1.1-25"},
             .slow = true}) = [](Scene& scene) {
    StartUp start_up = plain_request();
    start_up.private_data.resize(6);
    const auto octets = forge(mpa::FrameKind::kRequest, start_up);
    std::vector<Conversation*> all;
    for (const std::size_t cut : {1U, 16U, 19U, 20U, 25U})
      all.push_back(&begin_wrongly(scene, Bytes(octets).first(cut)));
    const Instant deadline = now() + kLongestWait;
    for (Conversation* by : all) expect_time_out(*by, "the rest of a Request", deadline);
  };
}

}  // namespace weft::probe
