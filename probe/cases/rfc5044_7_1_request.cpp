// SPDX-License-Identifier: Apache-2.0
// The MPA Request, RFC 5044 section 7.1: what a Responder makes of wrong ones.
#include <fmt/format.h>

#include "probe/cases/startups.hpp"

namespace weft::probe {
namespace request_cases {
namespace {

constexpr const char* kBadRequest = "the Request is improperly formatted (MPA-7.1.2-04)";

Ulpdu octets_of(const StartUp& start_up) { return forge(mpa::FrameKind::kRequest, start_up); }

// Where it may be cut: in the key, in front of the flags, in the length, in front of the Private Data and in it.
constexpr std::array<std::size_t, 8> kCuts{1, 8, 15, 16, 18, 19, 20, 25};

Ulpdu frame_of_26() {
  StartUp start_up = plain_request();
  start_up.private_data.resize(6);
  return octets_of(start_up);
}

}  // namespace
}  // namespace request_cases

void add_request_cases(Cases& cases) {
  using namespace request_cases;
  // MPA-7.1.1-03: The Responder compares the received Key with 'MPA ID Req Frame' and on any difference closes the
  // connection and reports a local error.
  cases.add({.name = "request-key",
             .clause = "MPA-7.1.1-03",
             .what =
                 "Sixteen Requests, each with another octet of the key altered: the peer closes each connection, and "
                 "sends no Reply.",
             .needs = kListens,
             .also = {"MPA-7.1.2-04", "MPA-7.1.2-18", "MPA-8-04", "MPA-8-09"}}) = [](Scene& scene) {
    const auto right = octets_of(ordinary_request(scene));
    for (std::size_t at = 0; at < mpa::kKeySize; ++at) {
      auto request = right;
      request[at] ^= std::byte{0x20};
      expect_not_answered(scene, request, kBadRequest);
    }
  };

  // MPA-7.1.2-25: The difference between Request and Reply frames is used to detect an Initiator/Initiator startup.
  cases.add({.name = "request-is-reply",
             .clause = "MPA-7.1.2-25",
             .what = "A Reply comes instead of a Request: the peer closes the connection, and sends nothing.",
             .needs = kListens,
             .also = {"MPA-7.1-09", "MPA-7.1.2-18", "MPA-8-04"}}) = [](Scene& scene) {
    expect_not_answered(scene, forge(mpa::FrameKind::kReply, ordinary_request(scene)),
                        "a Reply came where a Request was due");
  };

  // MPA-7.1.3-02: In the example MPA closes or resets TCP at once if the first octets are not a well-formed Request.
  cases.add({.name = "request-other-protocol",
             .clause = "MPA-7.1.3-02",
             .what = "A request of HTTP comes instead of MPA's: the peer closes or resets the connection at once.",
             .needs = kListens,
             .also = {"MPA-7.1.2-04", "MPA-8-09"}}) = [](Scene& scene) {
    const std::string_view text = "GET / HTTP/1.1\r\nHost: an.example\r\nAccept: */*\r\n\r\n";
    expect_not_answered(scene, std::as_bytes(std::span(text)), "the first octets are no Request");
  };

  // MPA-7.1.1-26: Private Data longer than 512 octets makes the receiver close the connection and report a local
  // error.
  cases.add(
      {.name = "request-private-data-513",
       .clause = "MPA-7.1.1-26",
       .what =
           "The Private Data has 513 octets, all of them there: the peer closes the connection, and sends no Reply.",
       .needs = kListens,
       .also = {"MPA-7.1.2-27", "MPA-7.1.2-30", "MPA2-7-07", "MPA2-9-03"}}) = [](Scene& scene) {
    StartUp plain = plain_request();
    plain.private_data.resize(513);
    expect_not_answered(scene, octets_of(plain), "the Private Data has 513 octets");
    if (!scene.offers(kEnhanced)) return;
    StartUp enhanced;
    enhanced.private_data.resize(509);
    expect_not_answered(scene, octets_of(enhanced), "the Private Data has 513 octets, enhanced data included");
  };

  // MPA-7.1.2-27: PD_Length is validated.
  cases.add({.name = "request-length-too-large",
             .clause = "MPA-7.1.2-27",
             .what = "PD_Length is 0x0201, 0x0400, 0x7FFF, 0x8000 and 0xFFFF: the peer closes each connection without "
                     "waiting for the rest.",
             .needs = kListens,
             .also = {"MPA-7.1.1-26", "MPA-7.1.2-29", "MPA-7.1.2-30", "MPA-8-09"}}) = [](Scene& scene) {
    // The length alone is wrong: no octet has to be waited for.
    for (const std::uint16_t length : std::initializer_list<std::uint16_t>{0x0201, 0x0400, 0x7FFF, 0x8000, 0xFFFF}) {
      StartUp plain = plain_request();
      plain.private_data_length = length;
      plain.private_data.resize(512);
      expect_not_answered(scene, octets_of(plain), fmt::format("PD_Length is {:#06x}", length));
    }
  };

  // MPA-7.1.1-28: The Private Data field is between 0 and 512 octets long.
  cases.add(
      {.name = "request-length-allowed",
       .clause = "MPA-7.1.1-28",
       .what =
           "Requests with Private Data of up to 512 octets, of odd lengths too: each is answered, and FPDUs follow.",
       .needs = kListens,
       .also = {"MPA-7.1.1-23", "MPA-7.1.1-24", "MPA-7.1.1-30"}}) = [](Scene& scene) {
    std::size_t refused = 0;
    for (const std::size_t size : {0U, 1U, 23U, 255U, 256U, 257U, 508U, 511U, 512U}) {
      if (const auto answered = accepted_unless_too_long(scene, plain_request(), size)) {
        expect_works(scene, *answered->by);
      } else if (refused == 0) {
        refused = size;
      }
    }
    if (refused != 0)
      warn(fmt::format("the peer closes from {} octets of Private Data on: its application's buffer may be smaller",
                       refused));
  };

  // MPA-7.1.1-25: When PD_Length disagrees with the amount of Private Data actually present, the receiver closes the
  // connection and reports a local error.
  cases.add(
      {.name = "request-cut-by-fin",
       .clause = "MPA-7.1.1-25",
       .what = "A FIN comes in the middle of the Request, at eight places: the peer closes each connection, and sends "
               "no Reply.",
       .needs = kListens,
       .also = {"MPA-7.1.2-30", "MPA-8-01"}}) = [](Scene& scene) {
    const auto whole = frame_of_26();
    for (const std::size_t cut : kCuts) {
      Conversation& by = begin_wrongly(scene, Bytes(whole).first(cut));
      by.shut();
      by.expect_end(fmt::format("the Request ended after {} octets", cut));
    }
  };

  // MPA-8-01: Error 1 is detected: TCP connection closed, terminated or lost, by timeout, excessive retries, RST or
  // FIN.
  cases.add(
      {.name = "request-cut-by-reset",
       .clause = "MPA-8-01",
       .what = "An RST comes in the middle of the Request, at eight places: the peer takes new connections as before.",
       .needs = kListens}) = [](Scene& scene) {
    const auto whole = frame_of_26();
    for (const std::size_t cut : kCuts) begin_wrongly(scene, Bytes(whole).first(cut)).reset();
  };

  // MPA-7.1.2-29: The amount of Private Data exceeds neither PD_Length nor the application buffer.
  cases.add({.name = "request-octets-behind",
             .clause = "MPA-7.1.2-29",
             .what =
                 "Octets follow the Request in its own segment, an octet, many, and the Request again: the peer closes "
                 "the connection.",
             .needs = kListens,
             .also = {"MPA-7.1.1-25", "MPA-7.1.2-30"}}) = [](Scene& scene) {
    // "If the receiver detects that" - one that takes the octets for the first FPDU does not, and is told so.
    const auto right = octets_of(for_peer(scene, plain_request()));
    for (const auto& surplus : {pattern(1), pattern(64), right}) {
      auto octets = right;
      octets.insert(octets.end(), surplus.begin(), surplus.end());
      Conversation& by = begin_wrongly(scene, octets);
      const auto answer = by.octets(mpa::kFixedFrameSize, by.patience());
      if (!answer.empty())
        warn(fmt::format(
            "the peer answered a Request with {} octets after it in its segment, which an Initiator may not "
            "send before the Reply",
            surplus.size()));
      by.expect_end("octets came after the Request, before the Reply");
    }
  };

  // MPA-7.1.1-21: A receiver that cannot interoperate with the received Rev closes the connection and reports a local
  // error.
  cases.add({.name = "request-revision-unknown",
             .clause = "MPA-7.1.1-21",
             .what = "The Request has revision 3, 127 and 255, and 1 and 2 with another bit set: the peer closes each "
                     "connection, with or without a Reply of its own revision first.",
             .needs = kListens,
             .also = {"MPA-7.1.1-20", "MPA-7.1.2-04"}}) = [](Scene& scene) {
    // A Reply of its own revision may come before the end (RFC 5044 appendix C.2.1).
    for (const std::uint8_t revision : std::initializer_list<std::uint8_t>{3, 0x11, 0x12, 127, 0x81, 0x82, 255}) {
      Conversation& by = begin_wrongly(scene, octets_of(for_peer(scene, plain_request(revision))));
      if (!by.octets(mpa::kFixedFrameSize, by.patience()).empty())
        by.expect_end_sometime(fmt::format("there is no revision {}", revision), by.patience());
      else
        by.expect_end(fmt::format("there is no revision {}", revision));
    }
  };

  // MPA-C.2.1-01: A non-permissive Responder that receives Rev 0 sends a Reply with Rev 1 and then closes gracefully.
  cases.add(
      {.name = "request-revision-0",
       .clause = "MPA-C.2.1-01",
       .what = "The Request has RDMAC's revision 0: the peer closes the connection, or answers with revision 0, M and "
               "C.",
       .needs = kListens,
       .also = {"MPA-7.1.1-20", "MPA-7.1.1-21", "MPA-C.2.3-01", "MPA-C.2.4-01"}}) = [](Scene& scene) {
    // RDMAC's revision: refused, by a Reply or without; a permissive peer answers as RDMAC would.
    StartUp rdmac = for_peer(scene, plain_request(0));
    rdmac.markers = true;
    Conversation& by = scene.dial();
    by.send_frame(rdmac);
    if (by.octets(1, by.patience()).empty()) {
      by.expect_end("revision 0 is not spoken, and there is no Reply");
      return;
    }
    // The rest of the Reply's fixed part: 15 octets of the key, flags, revision, length.
    const auto rest = by.octets(mpa::kFixedFrameSize - 1, by.patience());
    if (rest.size() != mpa::kFixedFrameSize - 1) fail("less than a Reply came");
    const auto flags = std::to_integer<unsigned>(rest[15]);
    const auto revision = std::to_integer<unsigned>(rest[16]);
    if (revision != 0 || (flags & 0x20U) != 0) {
      by.expect_end_sometime("revision 0 was answered by another one", by.patience());
    } else if ((flags & 0xC0U) != 0xC0U) {
      fail("the peer took revision 0, and its Reply has not both M and C (MPA-C.2.4-01)");
    }
  };
}

}  // namespace weft::probe
