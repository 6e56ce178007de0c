// SPDX-License-Identifier: Apache-2.0
// The plan of startup frames: RFC 5044 section 7.1 and RFC 6581.
#include <algorithm>

#include "probe/plan/axes.hpp"
#include "probe/plan/stage.hpp"
#include "probe/way_listening.hpp"

namespace weft::probe::plan {
namespace {

// --- Startup frames. The value: octets of Private Data, and which kind of frame.
constexpr std::uint64_t kPlain = 0x10000;

// Before the frame is complete the peer sends nothing, and does not end the connection.
void send_halting(Scene& scene, Conversation& by, Bytes octets) {
  by.send(octets.first(mpa::kKeySize / 2));
  expect_still_waiting(scene, by, "half of the key of a startup frame was sent");
  by.send(octets.subspan(mpa::kKeySize / 2, mpa::kFixedFrameSize - mpa::kKeySize / 2));
  if (octets.size() == mpa::kFixedFrameSize) return;
  expect_still_waiting(scene, by, "a startup frame without its Private Data was sent");
  by.send(octets.subspan(mpa::kFixedFrameSize));
}

void send_startup(Scene& scene, Conversation& by, Bytes octets, Delivery delivery) {
  if (delivery == Delivery::kHalted) return send_halting(scene, by, octets);
  if (delivery == Delivery::kDribbled) return dribble(by, octets);
  by.send(octets);
}

// Returns nothing if the peer accepts the Request; otherwise what came before the connection ended.
std::optional<std::string> refusal_of(Scene& scene, const StartUp& request, Delivery delivery) {
  Conversation& by = scene.dial();
  PeerFrame reply;
  try {
    send_startup(scene, by, forge(mpa::FrameKind::kRequest, request), delivery);
    reply = by.expect_frame(mpa::FrameKind::kReply);
  } catch (const Judgement& judgement) {
    if (judgement.verdict == Verdict::kNotApplicable) throw;
    by.expect_end("the peer has sent no Reply");
    return judgement.what();
  }
  if (reply.frame.reject) fail("the peer rejected the connection, and the Request was good");
  by.start_fpdus(request, reply.frame);
  expect_works(scene, by);
  return std::nullopt;
}

void request_taken(Scene& scene, const Combination& how) {
  const bool plain = (how.value.number & kPlain) != 0;
  const auto size = static_cast<std::size_t>(how.value.number & 0xFFFFU);
  const StartUp request = for_peer(scene, plain ? plain_request() : ordinary_request(scene), size);
  const auto refusal = refusal_of(scene, request, how.delivery);
  if (!refusal) return;
  if (size == 0) fail(*refusal);
  // The buffer of the peer's application may be smaller (MPA-7.1.2-29): then it is so whatever the cuts.
  if (how.delivery != Delivery::kApart && !refusal_of(scene, request, Delivery::kApart))
    fail("the peer takes this Request when it comes at once; in parts: " + *refusal);
}

// What is wrong with a frame: the octet of the key and the bits of it that change; or how much Private Data there is,
// that which is enhanced included.
constexpr std::uint64_t kLong = 0x100000;

void lengthen(StartUp& frame, std::uint64_t value) {
  if ((value & kLong) == 0) return;
  const auto length = static_cast<std::size_t>(value & 0xFFFFU);
  frame.private_data = pattern(length - (frame.enhanced ? mpa::kEnhancedDataSize : 0));
}
void spoil_key(std::vector<std::byte>& octets, std::uint64_t value) {
  if ((value & kLong) != 0) return;
  octets[static_cast<std::size_t>(value >> 8U)] ^= static_cast<std::byte>(value & 0xFFU);
}

void request_refused(Scene& scene, const Combination& how) {
  StartUp request = (how.value.number & kPlain) != 0 ? plain_request() : ordinary_request(scene);
  lengthen(request, how.value.number);
  auto octets = forge(mpa::FrameKind::kRequest, request);
  spoil_key(octets, how.value.number & ~kPlain);
  Conversation& by = scene.dial();
  by.exchange().prober_breaks_startup = true;
  send_startup(scene, by, octets, how.delivery);
  by.expect_end("the Request is improperly formatted (MPA-7.1.2-04)");
}

void reply_refused(Scene& scene, const Combination& how) {
  Conversation& by = scene.dial();
  const PeerFrame request = by.expect_frame(mpa::FrameKind::kRequest);
  StartUp reply = fitting_reply(request.frame);
  lengthen(reply, how.value.number);
  auto octets = forge(mpa::FrameKind::kReply, reply);
  spoil_key(octets, how.value.number);
  by.exchange().prober_breaks_startup = true;
  send_startup(scene, by, octets, how.delivery);
  judge_terminate(expect_end_after_reply(by, reply.enhanced.has_value()));
}

void reply_taken(Scene& scene, const Combination& how) {
  Conversation& by = scene.dial();
  const PeerFrame request = by.expect_frame(mpa::FrameKind::kRequest);
  StartUp reply = fitting_reply(request.frame);
  reply.private_data = pattern(static_cast<std::size_t>(how.value.number));
  if (scene.offers(kOrders) && how.value.number >= kWishSize) {
    const auto wish = serialize(Wish{});
    std::ranges::copy(wish, reply.private_data.begin());
  }
  send_startup(scene, by, forge(mpa::FrameKind::kReply, reply), how.delivery);
  by.start_fpdus(reply, request.frame);
  by.expect_fpdu("the initiator's first FPDU");
}

const std::vector<Delivery> kStartupDeliveries{Delivery::kApart, Delivery::kDribbled, Delivery::kHalted};
const std::vector<Value> kSpoilt{
    {"octet-0-bit-0", 0x0001},   {"octet-0-bit-7", 0x0080},     {"octet-3-bit-5", 0x0320},
    {"octet-4-bit-0", 0x0401},   {"octet-7-bit-0", 0x0701},     {"octet-8-bit-6", 0x0840},
    {"octet-11-bit-1", 0x0B02},  {"octet-12-bit-5", 0x0C20},    {"octet-15-bit-0", 0x0F01},
    {"octet-15-bit-7", 0x0F80},  {"long-513", kLong | 513},     {"long-514", kLong | 514},
    {"long-768", kLong | 768},   {"long-1024", kLong | 1024},   {"long-2048", kLong | 2048},
    {"long-8192", kLong | 8192}, {"long-65535", kLong | 0xFFFF}};
// A plain frame has as much room as an enhanced one.
const std::vector<Value> kSpoiltRequests = [] {
  std::vector<Value> out = kSpoilt;
  out.insert(out.end(), {{"plain-513", kPlain | kLong | 513}, {"plain-1024", kPlain | kLong | 1024}});
  return out;
}();

}  // namespace

std::span<const Rule> startup_rules() {
  static const std::vector<Rule> rules{
      {.name = "request-good",
       .clause = "MPA-7.1.5-04",
       .what = "A Request with this many octets of Private Data is accepted, however it is divided into segments",
       .needs = kListens | kStream,
       .axes = {{},
                {},
                {{"0", 0},
                 {"1", 1},
                 {"127", 127},
                 {"255", 255},
                 {"256", 256},
                 {"257", 257},
                 {"508", 508},
                 {"plain-0", kPlain},
                 {"plain-127", kPlain + 127},
                 {"plain-256", kPlain + 256},
                 {"plain-512", kPlain + 512}},
                {},
                kStartupDeliveries},
       .run = request_taken,
       .also = {"MPA-7.1.2-03"}},
      {.name = "request-wrong",
       .clause = "MPA-7.1.2-04",
       .what =
           "A Request with one bit of its key changed, or with more than 512 octets of Private Data, gets no answer, "
           "and the connection ends",
       .needs = kListens | kStream,
       .axes = {{}, {}, kSpoiltRequests, {}, {Delivery::kApart, Delivery::kDribbled}},
       .run = request_refused,
       .also = {"MPA-7.1.1-03", "MPA-7.1.1-26", "MPA-7.1.2-18", "MPA-7.1.2-27", "MPA-7.1.2-30"}},
      {.name = "reply-good",
       .clause = "MPA-7.1.5-04",
       .what = "A Reply with so many octets of Private Data is taken, whatever its cuts: the first FPDU follows",
       .needs = kConnects | kStream,
       .axes = {{}, {}, {{"0", 0}, {"1", 1}, {"64", 64}, {"255", 255}, {"256", 256}}, {}, kStartupDeliveries},
       .run = reply_taken,
       .also = {"MPA-7.1.2-16"}},
      {.name = "reply-wrong",
       .clause = "MPA-7.1.2-14",
       .what = "A Reply with one bit of its key changed, or with more than 512 octets of Private Data: no FPDU "
               "follows, and "
               "the connection ends",
       .needs = kConnects,
       .axes = {{}, {}, kSpoilt, {}, {Delivery::kApart, Delivery::kDribbled}},
       .run = reply_refused,
       .also = {"MPA-7.1.1-05", "MPA-7.1.1-26", "MPA-7.1.2-18", "MPA-7.1.2-27", "MPA-7.1.2-30"}},
  };
  return rules;
}

}  // namespace weft::probe::plan
