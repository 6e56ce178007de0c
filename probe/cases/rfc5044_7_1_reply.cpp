// SPDX-License-Identifier: Apache-2.0
// MPA Reply, RFC 5044 section 7.1: what an Initiator makes of wrong ones.
#include "probe/cases/cases.hpp"
#include "probe/cases/errors.hpp"
#include "probe/cases/startups.hpp"
#include "probe/scene.hpp"
#include "probe/way_listening.hpp"

namespace weft::probe {
namespace reply_cases {
namespace {

// A connection whose Request was read, and a Reply that would fit.
struct Asked {
  Conversation& by;
  StartUp fitting;
  [[nodiscard]] std::vector<std::byte> octets() const { return forge(mpa::FrameKind::kReply, fitting); }
};
Asked ask(Scene& scene) {
  Conversation& by = scene.dial();
  const PeerFrame request = by.expect_frame(mpa::FrameKind::kRequest);
  return {by, fitting_reply(request.frame)};
}
// Octets that are no good Reply. Returns whether a Terminate came before the end.
bool ended_with_terminate(const Asked& asked, Bytes octets) {
  asked.by.exchange().prober_breaks_startup = true;
  asked.by.send(octets);
  return expect_end_after_reply(asked.by, asked.fitting.enhanced.has_value());
}

}  // namespace
}  // namespace reply_cases

void add_reply_cases(Cases& cases) {
  using namespace reply_cases;
  // MPA-7.1.1-05: The Initiator compares the received Key with 'MPA ID Rep Frame' and on any difference closes the
  // connection and reports a local error.
  cases.add({.name = "reply-key",
             .clause = "MPA-7.1.1-05",
             .what = "Sixteen Replies, each with another octet of the key altered: the peer closes each connection.",
             .needs = kConnects,
             .also = {"MPA-7.1.2-14", "MPA-7.1.2-18", "MPA-8-04", "MPA-8-09"}}) = [](Scene& scene) {
    bool told = false;
    for (std::size_t at = 0; at < mpa::kKeySize; ++at) {
      const Asked asked = ask(scene);
      auto octets = asked.octets();
      octets[at] ^= std::byte{0x20};
      told |= ended_with_terminate(asked, octets);
    }
    judge_terminate(told);
  };

  // MPA-7.1.2-25: The difference between Request and Reply frames is used to detect an Initiator/Initiator startup.
  cases.add({.name = "reply-is-request",
             .clause = "MPA-7.1.2-25",
             .what = "A Request comes instead of the Reply: the peer closes the connection.",
             .needs = kConnects,
             .also = {"MPA-7.1-09", "MPA-7.1.2-14"}}) = [](Scene& scene) {
    const Asked asked = ask(scene);
    judge_terminate(ended_with_terminate(asked, forge(mpa::FrameKind::kRequest, asked.fitting)));
  };

  // MPA-7.1.1-21: A receiver that cannot interoperate with the received Rev closes the connection and reports a local
  // error.
  cases.add({.name = "reply-revision",
             .clause = "MPA-7.1.1-21",
             .what = "Replies of revision 3 and 255: the peer closes the connection.",
             .needs = kConnects,
             .also = {"MPA-7.1.1-20", "MPA-7.1.2-14"}}) = [](Scene& scene) {
    bool told = false;
    for (const std::uint8_t revision : {std::uint8_t{3}, std::uint8_t{255}}) {
      Asked asked = ask(scene);
      asked.fitting.revision = revision;
      told |= ended_with_terminate(asked, asked.octets());
    }
    judge_terminate(told);
  };

  // MPA-C.2.2-01: A non-permissive Initiator that receives a Reply with Rev 0 closes gracefully.
  cases.add({.name = "reply-revision-zero",
             .clause = "MPA-C.2.2-01",
             .what = "A Reply of revision 0: the peer closes the connection, or goes on as RDMAC's protocol has it.",
             .needs = kConnects,
             .also = {"MPA-7.1.1-20"}}) = [](Scene& scene) {
    // A permissive Initiator goes on with it, as RDMAC's protocol (MPA-C.2.5-01); then its first FPDU comes.
    Asked asked = ask(scene);
    asked.fitting = {.revision = 0, .markers = true, .enhanced = std::nullopt};
    asked.by.exchange().prober_breaks_startup = true;
    asked.by.send(asked.octets());
    if (asked.by.octets(1, scene.patience()).empty()) asked.by.expect_end(kBadReply);
  };

  // MPA-7.1.1-18: The Res bits are not checked on receipt.
  cases.add({.name = "reply-reserved-bits",
             .clause = "MPA-7.1.1-18",
             .what = "All reserved bits of the Reply are set: the startup goes on.",
             .needs = kConnects | kStream,
             .also = {"MPA2-6-05"}}) = [](Scene& scene) {
    scene.expect_alive(scene.connect({.start_up = {.reserved = 0x0F}}));
  };

  // MPA-7.1.1-26: Private Data longer than 512 octets makes the receiver close the connection and report a local
  // error.
  cases.add(
      {.name = "reply-private-data-too-long",
       .clause = "MPA-7.1.1-26",
       .what =
           "PD_Length of the Reply says 513 and more, of 513 octets that are there: the peer closes the connection.",
       .needs = kConnects,
       .also = {"MPA-7.1.2-27", "MPA-7.1.2-30", "MPA-7.1.2-14"}}) = [](Scene& scene) {
    bool told = false;
    for (const std::uint16_t length : {std::uint16_t{513}, std::uint16_t{0x7FFF}, std::uint16_t{0xFFFF}}) {
      Asked asked = ask(scene);
      asked.fitting.private_data = pattern(513 - (asked.fitting.enhanced ? mpa::kEnhancedDataSize : 0));
      asked.fitting.private_data_length = length;
      told |= ended_with_terminate(asked, asked.octets());
    }
    judge_terminate(told);
  };

  // MPA-7.1.1-25: When PD_Length disagrees with the amount of Private Data actually present, the receiver closes the
  // connection and reports a local error.
  cases.add({.name = "reply-cut-short",
             .clause = "MPA-7.1.1-25",
             .what = "FIN comes before the Reply, or at seven places of it: the peer closes the connection.",
             .needs = kConnects,
             .also = {"MPA-8-01", "MPA-7.1.2-14"}}) = [](Scene& scene) {
    // Each part of a Reply, and after it the FIN.
    for (const std::size_t size : {0UL, 1UL, 15UL, 16UL, 19UL, 20UL, 40UL}) {
      Asked asked = ask(scene);
      asked.fitting.private_data = pattern(64);
      const auto octets = asked.octets();
      asked.by.exchange().prober_breaks_startup = true;
      if (size != 0) asked.by.send(Bytes(octets).first(size));
      asked.by.shut();
      asked.by.expect_end("the prober closed it in the middle of its Reply");
    }
  };

  // MPA-8-01: Error 1 is detected: TCP connection closed, terminated or lost, by timeout, excessive retries, RST or
  // FIN.
  cases.add({.name = "reply-reset",
             .clause = "MPA-8-01",
             .what = "RST comes before the Reply, and in the middle of it: another connection works.",
             .needs = kConnects | kStream}) = [](Scene& scene) {
    // A reset shows nothing more on its own connection; that the peer goes on is shown by another connection.
    for (const std::size_t size : {0UL, 10UL, 20UL}) {
      Asked asked = ask(scene);
      asked.fitting.private_data = pattern(64);
      const auto octets = asked.octets();
      asked.by.exchange().prober_breaks_startup = true;
      if (size != 0) asked.by.send(Bytes(octets).first(size));
      asked.by.reset();
    }
    scene.expect_alive(scene.connect());
  };

  // MPA-7.1.2-29: The amount of Private Data exceeds neither PD_Length nor the application buffer.
  cases.add({.name = "reply-octets-behind",
             .clause = "MPA-7.1.2-29",
             .what = "Octets follow the Reply before the initiator's first FPDU: the peer closes the connection.",
             .needs = kConnects,
             .also = {"MPA-7.1.1-25", "MPA-7.1.2-30"}}) = [](Scene& scene) {
    // In one segment with the Reply, while the peer knows that the prober has to wait for its first FPDU.
    const Asked asked = ask(scene);
    auto octets = asked.octets();
    octets.resize(octets.size() + 20, std::byte{0x01});
    asked.by.exchange().prober_breaks_startup = true;
    asked.by.send(octets);
    asked.by.expect_end_sometime("octets followed the Reply (MPA-7.1.1-25)", scene.patience());
  };

  // MPA-7.1.2-15: If the Reply has R=1, or its Private Data is unacceptable, the Initiator leaves MPA and leaves the
  // TCP connection open.
  cases.add({.name = "reply-rejects",
             .clause = "MPA-7.1.2-15",
             .what = "The Reply has R=1: no FPDU follows.",
             .needs = kConnects,
             .also = {"MPA-7.1.4.2-03"}}) = [](Scene& scene) {
    // It leaves TCP open, or its ULP closes it.
    Asked asked = ask(scene);
    asked.fitting.reject = true;
    asked.by.send_frame(asked.fitting);
    if (!asked.by.octets(1, scene.quiet()).empty()) fail("octets came after a Reply that rejects the connection");
  };

  // MPA-7.1.2-31: A reasonable timeout should guard the wait for the entire set of startup frames.
  cases.add({.name = "reply-silence",
             .clause = "MPA-7.1.2-31",
             .what = "The Reply, or the rest of it, does not come: the peer gives up.",
             .needs = kConnects,
             .slow = true}) = [](Scene& scene) {
    std::vector<Conversation*> all;
    for (const std::size_t size : {0UL, 10UL, 40UL}) {
      Asked asked = ask(scene);
      asked.fitting.private_data = pattern(64);
      const auto octets = asked.octets();
      if (size != 0) asked.by.send(Bytes(octets).first(size));
      all.push_back(&asked.by);
    }
    const Instant deadline = now() + std::chrono::seconds(60);
    for (Conversation* by : all) {
      try {
        by->expect_end_sometime("", deadline - now());
      } catch (const Judgement&) {
        warn("the peer waits for the rest of a Reply for more than a minute; a time-out should guard this");
      }
    }
  };

  // MPA-7.1.5-04: TCP recovers from loss, re-segmentation and reordering also while the stacks are being switched.
  cases.add({.name = "reply-single-octets",
             .clause = "MPA-7.1.5-04",
             .what = "The Reply comes octet by octet: the startup goes on.",
             .needs = kConnects | kStream}) = [](Scene& scene) {
    const Asked asked = ask(scene);
    const auto octets = asked.octets();
    for (std::size_t at = 0; at < octets.size(); ++at) asked.by.send(Bytes(octets).subspan(at, 1));
    if (asked.by.octets(2, scene.patience()).size() != 2) fail("no FPDU followed a Reply that came octet by octet");
  };

  // MPA-4.3-03: Every MPA sender is able to generate Markers when the opposite receiver declares their use.
  cases.add({.name = "reply-markers",
             .clause = "MPA-4.3-03",
             .what = "The Reply has M=1: the peer sends Markers.",
             .needs = kConnects | kStream}) = [](Scene& scene) {
    Conversation& by = scene.connect({.start_up = {.markers = true}});
    if (!scene.offers(kOrders)) return scene.expect_alive(by);
    static_cast<void>(scene.order(by, {.operation = Order::kSend, .length = 2000}));
    by.expect_whole(rdmap::Opcode::kSend, 2000);
    scene.expect_alive(by);
  };

  // MPA-4.4-06: CRC checking, and possibly generation, may be switched off only if both endpoints indicate the
  // preference not to use them.
  cases.add({.name = "reply-crc-of-one-frame",
             .clause = "MPA-4.4-06",
             .what = "C is 1 in the Request or the Reply alone, and an FPDU has a wrong CRC: Terminate 2/0/02.",
             .needs = kConnects | kStream,
             .also = {"MPA-4.4-01"}}) = [](Scene& scene) {
    Conversation& by = scene.dial();
    const PeerFrame request = by.expect_frame(mpa::FrameKind::kRequest);
    const StartUp ours = fitting_reply(request.frame, {.crc = !request.frame.crc});
    by.send_frame(ours);
    by.start_fpdus(ours, request.frame);
    by.expect_fpdu("the initiator's first FPDU");
    by.send_ulpdu(by.make().write({}, {}, {}), {.crc_xor = 1});
    by.expect_terminate_or_end({kBadCrc});
  };
}

}  // namespace weft::probe
