// SPDX-License-Identifier: Apache-2.0
#include "probe/cases/startups.hpp"

#include <algorithm>

#include "probe/verdict.hpp"
#include "rdmap/control.hpp"

namespace weft::probe {
namespace {

// The length, DDP's header, the control field and the CRC.
constexpr std::size_t kTerminateSize = mpa::bare_fpdu_size(ddp::UntaggedLayout::kSize + 4);

bool is_terminate(Bytes octets) {
  return octets.size() == kTerminateSize && ddp::UntaggedLayout::RsvdUlp::get(octets.subspan(mpa::kLengthSize)) ==
                                                rdmap::control_octet(rdmap::Opcode::kTerminate);
}

// A peer that takes no RTR at all rejects every Request that names some. One case tells of it.
[[noreturn]] void tell_rejected(Scene& scene, const StartUp& request) {
  if (request.enhanced && request.enhanced->peer_to_peer &&
      ask(scene, for_peer(scene, enhanced_request(kEveryRtr))).reply.frame.reject) {
    not_applicable("the peer rejects every RTR kind: see enhanced-rtr-offers");
  }
  fail("the peer rejected the connection, and the Request was good");
}

}  // namespace

StartUp enhanced_request(const mpa::EnhancedData& data) {
  StartUp request;
  request.enhanced = data;
  return request;
}

StartUp plain_request(std::uint8_t revision) {
  StartUp request;
  request.revision = revision;
  request.enhanced.reset();
  return request;
}

StartUp ordinary_request(const Scene& scene) { return scene.offers(kEnhanced) ? StartUp{} : plain_request(); }

std::vector<StartUp> requests_of_each_kind(const Scene& scene) {
  std::vector<StartUp> all{plain_request()};
  if (scene.offers(kEnhanced)) all.emplace_back();
  return all;
}

StartUp for_peer(const Scene& scene, StartUp request, std::size_t size) {
  if (scene.offers(kOrders)) request.private_data = serialize(Wish{});
  if (size > request.private_data.size()) request.private_data.resize(size, std::byte{0x5A});
  return request;
}

Answered ask(Scene& scene, const StartUp& request) {
  Answered out{.by = &scene.dial()};
  out.by->send_frame(request);
  out.reply = out.by->expect_frame(mpa::FrameKind::kReply);
  return out;
}

Answered expect_accepted(Scene& scene, const StartUp& request) {
  const StartUp whole = request.private_data.empty() ? for_peer(scene, request) : request;
  Answered out = ask(scene, whole);
  if (out.reply.frame.reject) tell_rejected(scene, whole);
  out.by->start_fpdus(whole, out.reply.frame);
  return out;
}

std::optional<Answered> accepted_unless_too_long(Scene& scene, const StartUp& request, std::size_t size) {
  const StartUp whole = for_peer(scene, request, size);
  Answered out{.by = &scene.dial()};
  out.by->send_frame(whole);
  try {
    out.reply = out.by->expect_frame(mpa::FrameKind::kReply);
  } catch (const Judgement&) {
    if (size == 0) throw;
    out.by->expect_end("the peer has sent no Reply");
    return std::nullopt;
  }
  if (out.reply.frame.reject) fail("the peer rejected the connection, and the Request was good");
  out.by->start_fpdus(whole, out.reply.frame);
  return out;
}

void expect_works(Scene& scene, Conversation& by) {
  by.send_ulpdu(by.make().write({}, {}, {}));
  scene.expect_alive(by);
}

Conversation& begin_wrongly(Scene& scene, Bytes octets) {
  Conversation& by = scene.dial();
  by.exchange().prober_breaks_startup = true;
  by.send(octets);
  return by;
}

void expect_not_answered(Scene& scene, Bytes octets, const std::string& why) {
  begin_wrongly(scene, octets).expect_end(why);
}

bool expect_end_after_reply(Conversation& by, bool enhanced) {
  const auto some = by.octets(kTerminateSize, by.patience());
  if (!some.empty() && (!enhanced || !is_terminate(some)))
    fail(std::string("octets came although the connection had to end: ") + kBadReply);
  by.expect_end(kBadReply);
  return !some.empty();
}

void judge_terminate(bool came) {
  if (came) warn("a Terminate came before the end: RFC 6581 section 8 asks for one, RFC 5044 section 8 for none");
}

void expect_end_without_fpdu(Conversation& by, const std::string& why) {
  PeerFpdu fpdu;
  switch (by.next_any(fpdu, by.patience())) {
    case Came::kFin:
    case Came::kReset: return;
    case Came::kFpdu: fail("an FPDU came, and the connection had to end without one: " + why);
    case Came::kNothing: fail("the connection stayed open, and had to end: " + why);
  }
}

void expect_still_waiting(Scene& scene, Conversation& by, const std::string& why) {
  constexpr Duration kLongest = std::chrono::milliseconds(200), kTimeOut = std::chrono::seconds(1);
  try {
    by.expect_silence(std::min(scene.quiet(), kLongest), why);
  } catch (const Judgement&) {
    const auto& parts = by.exchange().parts;
    if (parts.empty() || parts.back().kind == Part::kOctets || parts.back().at < kTimeOut) throw;
    not_applicable("the peer ended the startup after more than a second, as by a time-out of its own (MPA-7.1.2-26)");
  }
}

}  // namespace weft::probe
