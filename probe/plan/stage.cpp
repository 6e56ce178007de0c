// SPDX-License-Identifier: Apache-2.0
#include "probe/plan/stage.hpp"

#include <algorithm>
#include <thread>
#include <utility>

#include "rdmap/text.hpp"

namespace weft::probe::plan {
namespace {

constexpr std::uint32_t kLate = 33;  // messages
constexpr std::size_t kLateOctets = 20'000;
constexpr std::size_t kLateSize = 1000;  // of each of the messages that bring them
constexpr std::uint32_t kSettled = 4;    // Sends between two waits for their completions
constexpr std::size_t kSegments = 3;
constexpr ddp::TaggedOffset kSink{0x30000};

// So that the peer may read an octet without the next one, where a field or a CRC is in the making.
constexpr Duration kPause = std::chrono::milliseconds(1);
constexpr std::size_t kPausesAtFront = 24, kPausesAtEnd = 6;

Region find(const Scene& scene, Region::Kind kind, std::uint8_t rights) {
  return scene.offers(kRegions) ? scene.region(kind, rights) : Region{.stag = kNoSuchStag};
}

}  // namespace

rdmap::Opcode opcode_of(Message message) noexcept {
  using enum Message;
  switch (message) {
    case kWrite: return rdmap::Opcode::kWrite;
    case kReadRequest: return rdmap::Opcode::kReadRequest;
    case kReadResponse: return rdmap::Opcode::kReadResponse;
    case kSend: return rdmap::Opcode::kSend;
    case kSendInvalidate: return rdmap::Opcode::kSendInvalidate;
    case kSendSolicited: return rdmap::Opcode::kSendSolicited;
    case kSendSolicitedInvalidate: return rdmap::Opcode::kSendSolicitedInvalidate;
    case kTerminate: return rdmap::Opcode::kTerminate;
    case kImmediate: return rdmap::Opcode::kImmediate;
    case kImmediateSolicited: return rdmap::Opcode::kImmediateSolicited;
    case kFetchAdd:
    case kCmpSwap: return rdmap::Opcode::kAtomicRequest;
    case kAtomicResponse: return rdmap::Opcode::kAtomicResponse;
  }
  std::unreachable();
}

void dribble(Conversation& by, Bytes octets) {
  for (std::size_t i = 0; i < octets.size(); ++i) {
    by.send(octets.subspan(i, 1));
    if (i < kPausesAtFront || octets.size() - i <= kPausesAtEnd) std::this_thread::sleep_for(kPause);
  }
}

Stage::Stage(Scene& scene, const Combination& how, Opening opening, std::uint32_t receives)
    : scene_(scene), how_(how), receives_(receives) {
  opening.prober_first = false;
  by_ = &connect_again(scene, opening);
  target_ = find(scene, Region::kPlain, kReadWrite);
  if (is_atomic(how.message) && scene.offers(kAtomics)) atomic_ = find(scene, Region::kPlain, kAllRights);
  // The peer may send after the first FPDU of the initiator alone.
  if (how.message == Message::kReadResponse) {
    by_->send_ulpdu(by_->make().write({}, {}, {}));
    asked_ = scene.provoke_read(*by_, {0x4000}, 60);
    ++receives_;
  } else if (how.message == Message::kAtomicResponse) {
    atomics::need_memory(scene);
    by_->send_ulpdu(by_->make().write({}, {}, {}));
    scene.order(*by_, {.operation = Order::kFetchAdd, .stag = Scene::kOwnStag, .offset = {0x40}, .first = 1});
    const auto asked = rdmap::parse_atomic_request(by_->expect_message(rdmap::Opcode::kAtomicRequest).payload());
    if (!asked) fail("the peer's Atomic Request is malformed");
    asked_atomic_ = *asked;
    ++receives_;
  }
  lead_in();
}

void Stage::lead_in() {
  switch (how_.place) {
    case Place::kFirst:
    case Place::kSecond: return;
    case Place::kMiddle:
      for (int i = 0; i < 5; ++i) send_good(16);
      return settle();
    case Place::kAfter32Messages:
      for (std::uint32_t i = 0; i < kLate; ++i) send_good(16);
      return settle();
    case Place::kAfter20000Octets:
      while (by_->position() < kLateOctets) send_good(kLateSize);
      return settle();
  }
}

// One that goes the way of the combination's message, as far as the peer takes it.
void Stage::send_good(std::size_t size) {
  ++good_;
  Messages& make = by_->make();
  if ((is_send(how_.message) && scene_.offers(kReceives)) ||
      (is_immediate(how_.message) && scene_.offers(kReceives | kAtomics))) {
    if (scene_.offers(kReport)) size = std::min<std::size_t>(size, scene_.advert().receive_size);
    by_->send_ulpdu(is_send(how_.message) || size > 16 ? make.send(pattern(size)) : make.immediate(good_));
    ++receives_;
    if (good_ % kSettled == 0) settle();
    return;
  }
  if (how_.message == Message::kReadRequest) {
    const auto octets = target_.length == 0 ? std::uint32_t{0} : static_cast<std::uint32_t>(size);
    by_->send_ulpdu(make.read_request(read_of(target_.stag, target_.offset, octets)));
    by_->expect_read_response(Scene::kOwnStag, {0x10000}, octets);
    if (size <= 16) return;
  } else if (is_atomic(how_.message) && atomic_.length != 0) {
    by_->send_ulpdu(make.atomic(atomics::request(atomic_, 0, atomics::add(0))));
    by_->expect_message(rdmap::Opcode::kAtomicResponse);
    if (size <= 16) return;
  }
  // An STag of 0 octets is not looked at: then it takes more of them.
  if (target_.length != 0)
    return by_->send_ulpdu(make.write(target_.stag, target_.offset, pattern(std::min<std::size_t>(size, 512))));
  by_->send_ulpdu(make.write(kNoSuchStag, {}, {}));
}

void Stage::settle() {
  if (receives_ == 0) return;
  if (scene_.offers(kReport | kRegions)) {
    expect_receives(scene_, *by_, receives_);
  } else if (how_.message != Message::kReadResponse) {  // the peer still waits for that, and may do one thing at a time
    scene_.expect_alive(*by_);
  }
}

Draft Stage::draft() const {
  Draft out{.message = how_.message,
            .region = is_atomic(how_.message) && atomic_.length != 0 ? atomic_ : target_,
            .offset = kHere};
  out.operation = how_.message == Message::kCmpSwap ? atomics::swap(0, 0, 7, ~0ULL) : atomics::add(1);
  return out;
}

std::size_t Stage::faulty() const noexcept {
  return how_.segment == Segment::kSecondOf3 ? 1 : how_.segment == Segment::kThirdOf3 ? 2 : 0;
}

std::vector<Ulpdu> Stage::compose(const Draft& draft) {
  Messages& make = by_->make();
  const ddp::TaggedOffset at = probe::at(draft.region, draft.offset);
  const auto payload = pattern(draft.size, draft.first);
  const rdmap::Opcode opcode = opcode_of(draft.message);
  switch (draft.message) {
    case Message::kReadRequest: {
      auto request = read_of(draft.region.stag, at, static_cast<std::uint32_t>(draft.size));
      request.sink_offset = kSink;
      return {make.read_request(request)};
    }
    case Message::kTerminate: return {make.terminate(rdmap::make_terminate(draft.error))};
    case Message::kImmediate: return {make.immediate(0x0123456789ABCDEF)};
    case Message::kImmediateSolicited: return {make.immediate(0x0123456789ABCDEF, true)};
    case Message::kFetchAdd:
    case Message::kCmpSwap:
      return {make.atomic(
          {.operation = draft.operation, .request_id = 0x01020304, .stag = draft.region.stag, .offset = at})};
    case Message::kAtomicResponse:
      return {make.atomic_response({.request_id = asked_atomic_.request_id, .original = 9})};
    case Message::kWrite:
    case Message::kReadResponse:
    case Message::kSend:
    case Message::kSendInvalidate:
    case Message::kSendSolicited:
    case Message::kSendSolicitedInvalidate: break;
  }
  std::vector<Ulpdu> out;
  const std::size_t count = how_.segment == Segment::kOnly ? 1 : kSegments;
  for (std::size_t i = 0; i < count; ++i) {
    const std::size_t from = payload.size() * i / count, until = payload.size() * (i + 1) / count;
    const Bytes piece = Bytes(payload).subspan(from, until - from);
    const bool last = i + 1 == count;
    const ddp::Stag invalidate = is_invalidate(draft.message) ? draft.region.stag : ddp::Stag{};
    if (draft.message == Message::kWrite)
      out.push_back(make.write(draft.region.stag, {at.value + from}, piece, last));
    else if (draft.message == Message::kReadResponse)
      out.push_back(make.read_response(asked_.sink_stag, {asked_.sink_offset.value + from}, piece, last));
    else
      out.push_back(make.send_segment(piece, static_cast<std::uint32_t>(from), last, opcode, invalidate));
  }
  return out;
}

std::vector<std::byte> Stage::framed(Bytes ulpdu, const FpduFault& fault) { return by_->fpdu(ulpdu, fault); }

void Stage::deliver(const std::vector<Ulpdu>& segments, const FpduFault& fault) { deliver(segments, {}, fault); }

void Stage::deliver(const std::vector<Ulpdu>& segments, const std::vector<Ulpdu>& before, const FpduFault& fault,
                    std::optional<std::size_t> faulty) {
  const std::size_t wrong = faulty.value_or(this->faulty());
  Messages& make = by_->make();
  // What leaves in one TCP segment where it is glued.
  std::vector<std::byte> all;
  const auto leave = [&](const std::vector<std::byte>& fpdu, bool dribbled = false) {
    if (how_.delivery == Delivery::kGlued) return void(all.insert(all.end(), fpdu.begin(), fpdu.end()));
    if (dribbled) return dribble(*by_, fpdu);
    by_->send(fpdu);
  };
  if (how_.place != Place::kFirst)
    leave(framed(make.write(target_.stag, target_.offset, pattern(target_.length == 0 ? 0 : 16))));
  for (const Ulpdu& one : before) leave(framed(one));
  for (std::size_t i = 0; i < segments.size(); ++i) {
    if (i == wrong) by_->about_next();
    leave(framed(segments[i], i == wrong ? fault : FpduFault{}), how_.delivery == Delivery::kDribbled);
  }
  leave(framed(make.write(target_.stag, probe::at(target_, kBehind), pattern(target_.length == 0 ? 0 : kAround))));
  if (!all.empty()) by_->send(all);
}

void Stage::expect_no_trace(const Draft& draft, bool placed) {
  if (!sees_memory(scene_)) return;
  Conversation& other = scene_.rejoin();
  const char* const why = "octets were placed though their message was refused, or came after one";
  if (!placed) expect_content(scene_, other, target_, kBehind, first_octets(target_, kBehind, kAround), why);
  const bool shared =
      draft.region.kind == Region::kPlain || draft.region.kind == Region::kOdd || draft.region.kind == Region::kTop;
  if (draft.message == Message::kWrite && !placed && shared && (draft.region.rights & Region::kRead) != 0) {
    const std::size_t good = how_.segment == Segment::kOnly ? 0 : draft.size * faulty() / kSegments;
    const auto from = draft.offset + static_cast<std::int64_t>(good);
    const auto until =
        std::min<std::int64_t>(draft.offset + static_cast<std::int64_t>(draft.size), draft.region.length);
    if (from >= 0 && until > from) {
      const auto size = static_cast<std::size_t>(until - from);
      expect_content(scene_, other, draft.region, static_cast<std::size_t>(from),
                     first_octets(draft.region, static_cast<std::size_t>(from), size), why);
    }
  }
  if (scene_.offers(kReport)) expect_receives(scene_, other, receives_);
}

void expect_refused(Stage& stage, const Draft& draft, const Change& change, const Refusal& refusal) {
  auto segments = stage.compose(draft);
  const Ulpdu& faulty = segments[stage.faulty()];
  if (change) change(segments[stage.faulty()]);
  stage.deliver(segments);
  if (refusal.any_end)
    stage.by().expect_end_sometime("the message is wrong", stage.by().patience());
  else
    stage.by().expect_terminate(refusal.any_of, faulty, refusal.tolerated);
  stage.expect_no_trace(draft, refusal.by_rdmap);
}

void expect_refused_by_mpa(Stage& stage, const Draft& draft, const FpduFault& fault, const Errors& any_of) {
  stage.deliver(stage.compose(draft), fault);
  if (!stage.begun() && stage.faulty() == 0 && !stage.scene().peer_connects())
    stage.by().expect_end(
        "the first FPDU was wrong, and a Responder that has seen no good one may send none (MPA-7.1.2-17)");
  else
    expect_mpa_error(stage.by(), any_of);
  stage.expect_no_trace(draft);
}

void expect_refused_or_overlooked(Conversation& by, const rdmap::ErrorCode& error, const std::string& overlooked) {
  const std::string due = rdmap::short_text(error);
  by.send_ulpdu(by.make().read_request({.sink_stag = {7}, .sink_offset = {0x1234}}));
  PeerFpdu answer;
  Came came{};
  do came = by.next(answer, by.patience());
  while (came == Came::kFpdu && answer.is(rdmap::Opcode::kReadResponse) && !answer.payload().empty());
  if (came != Came::kFpdu) fail("the connection ended, or fell silent, without Terminate " + due);
  if (answer.is(rdmap::Opcode::kReadResponse)) warn(overlooked);
  const auto said = rdmap::parse_terminate(answer.payload());
  if (!answer.is(rdmap::Opcode::kTerminate) || !said || said->meant().error != error)
    fail("what came instead of Terminate " + due + " is another message, or has another error");
  by.shut();
  by.expect_end_sometime("a Terminate is the last message of its direction", by.patience());
}

std::uint32_t needs_of_message(const Combination& how) {
  std::uint32_t out = 0;
  const bool good_before = how.segment == Segment::kSecondOf3 || how.segment == Segment::kThirdOf3;
  if (how.message == Message::kWrite && good_before) out |= kRegions;
  if (is_send(how.message) && good_before) out |= kReceives;
  if (how.message == Message::kReadResponse) out |= kReads;
  if (how.message == Message::kAtomicResponse) out |= kOrders | kAtomics;
  if (is_atomic(how.message) || is_immediate(how.message)) out |= kAtomics;
  return out;
}

bool is_possible(const Combination& how) {
  if (how.segment != Segment::kOnly && !is_segmented(how.message)) return false;
  const bool answers = how.message == Message::kReadResponse || how.message == Message::kAtomicResponse;
  return !answers || how.place != Place::kFirst;
}

}  // namespace weft::probe::plan
