// SPDX-License-Identifier: Apache-2.0
#include "probe/cases/startups.hpp"

#include "probe/verdict.hpp"

namespace weft::probe {

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
  if (out.reply.frame.reject) fail("the peer rejected the connection, and the Request was good");
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

void expect_end_without_fpdu(Conversation& by, const std::string& why) {
  PeerFpdu fpdu;
  switch (by.next_any(fpdu, by.patience())) {
    case Came::kFin:
    case Came::kReset: return;
    case Came::kFpdu: fail("an FPDU came, and the connection had to end without one: " + why);
    case Came::kNothing: fail("the connection stayed open, and had to end: " + why);
  }
}

}  // namespace weft::probe
