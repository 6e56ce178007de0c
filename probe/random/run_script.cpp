// SPDX-License-Identifier: Apache-2.0
#include <algorithm>

#include "probe/random/fuzz.hpp"

namespace weft::probe {
namespace {

using Edits = std::vector<std::pair<std::uint16_t, std::uint8_t>>;

void change(std::vector<std::byte>& octets, const Edits& edits) {
  for (const auto& [at, mask] : edits) {
    if (at < octets.size()) octets[at] ^= std::byte{mask};
  }
}

Region region_of(const Advert& advert, const Step& step) {
  for (const Region& region : advert.regions) {
    if (region.kind == step.region_kind && region.rights == step.region_rights) return region;
  }
  return {};
}

Ulpdu compose(Messages& make, const Step& step, const Advert& advert) {
  const Region region = region_of(advert, step);
  const ddp::TaggedOffset at{region.offset.value + static_cast<std::uint64_t>(step.offset)};
  const auto payload = [&] { return pattern(std::min<std::size_t>(step.size, 60000)); };
  switch (step.kind) {
    case Step::kSend: return make.send(payload());
    case Step::kSendSolicited: return make.send(payload(), rdmap::Opcode::kSendSolicited);
    case Step::kSendInvalidate: return make.send(payload(), rdmap::Opcode::kSendInvalidate, region.stag);
    case Step::kWrite: return make.write(region.stag, at, payload());
    case Step::kRead:
      return make.read_request({.sink_stag = Scene::kOwnStag,
                                .sink_offset = {64},
                                .size = step.size,
                                .source_stag = region.stag,
                                .source_offset = at});
    case Step::kFetchAdd:
      return make.atomic({.operation = {rdmap::AtomicOperation::Kind::kFetchAdd, step.size, 0, 0, 0},
                          .request_id = 1,
                          .stag = region.stag,
                          .offset = at});
    case Step::kCmpSwap:
      return make.atomic({.operation = {rdmap::AtomicOperation::Kind::kCmpSwap, step.size, ~0ULL, 0, ~0ULL},
                          .request_id = 2,
                          .stag = region.stag,
                          .offset = at});
    case Step::kImmediate: return make.immediate(step.size);
    case Step::kReadResponse: return make.read_response(region.stag, at, payload());
    case Step::kAtomicResponse: return make.atomic_response({.request_id = step.size, .original = 5});
    case Step::kTerminate: return make.terminate({.error = {rdmap::Layer::kRdmap, 0, 0}});
    case Step::kRaw:
    case Step::kFin:
    case Step::kReset: return {};
  }
  std::unreachable();
}

// Returns whether a peer that keeps all rules goes on after it: known only of what asks for nothing that depends on the
// peer.
bool is_harmless(const Script& script, const Advert& advert) {
  if (!script.edits.empty() || script.markers) return false;
  return std::ranges::all_of(script.steps, [&](const Step& step) {
    if (!step.is_plain()) return false;
    if (step.kind == Step::kSend || step.kind == Step::kSendSolicited) return step.size <= advert.receive_size;
    if (step.kind != Step::kWrite) return false;
    const Region region = region_of(advert, step);
    const bool inside = step.offset >= 0 && static_cast<std::uint64_t>(step.offset) + step.size <= region.length;
    return region.kind == Region::kPlain && (region.rights & Region::kWrite) != 0 && inside;
  });
}

class ScriptRun {
 public:
  ScriptRun(Way& way, const Script& script) : scene_(way, 1), way_(way), script_(script) {}

  std::optional<ScriptFinding> run() {
    std::string what;
    try {
      converse();
      look_at_memory();
    } catch (const Judgement& judgement) {
      if (judgement.verdict == Verdict::kFail) what = judgement.what();
    }
    const auto exchanges = scene_.exchanges();
    if (what.empty()) what = breach(exchanges);
    if (auto served = check_reachable(way_); !served)
      what = "a fresh connection does not work any more: " + served.error();
    if (what.empty()) return std::nullopt;
    return ScriptFinding{.script = script_, .what = what, .exchanges = exchanges};
  }

 private:
  void converse() {
    if (!script_.edits.empty()) return wrong_start_up();
    Opening opening{.start_up = {.revision = script_.revision, .markers = script_.markers, .crc = script_.crc}};
    if (!script_.enhanced || script_.revision < 2) opening.start_up.enhanced = std::nullopt;
    Conversation& by = scene_.connect(opening);
    for (std::size_t i = 0; i < script_.steps.size(); ++i) {
      const bool more = i + 1 < script_.steps.size() && script_.steps[i + 1].glued;
      take(by, script_.steps[i], more);
    }
    if (is_harmless(script_, scene_.advert())) {
      PeerFpdu fpdu;
      by.send_ulpdu(by.make().read_request({.sink_stag = Scene::kOwnStag, .sink_offset = {1}}));
      if (by.next(fpdu, scene_.patience(), message_of(rdmap::Opcode::kReadResponse)) != Came::kFpdu ||
          !fpdu.is(rdmap::Opcode::kReadResponse))
        fail("the stream ended, and nothing was wrong with what it carried");
    }
    end(by);
  }

  // What a changed startup frame means is open, but the connection ends when we do.
  void wrong_start_up() {
    Conversation& by = scene_.dial();
    if (scene_.peer_connects()) by.expect_frame(mpa::FrameKind::kRequest);
    by.exchange().prober_breaks_startup = true;
    StartUp start_up{.revision = script_.revision, .markers = script_.markers, .crc = script_.crc};
    auto octets = forge(scene_.peer_connects() ? mpa::FrameKind::kReply : mpa::FrameKind::kRequest, start_up);
    change(octets, script_.edits);
    by.send(octets);
    by.shut();
    by.expect_end_sometime("the prober has closed its side", scene_.patience());
  }

  // `more`: the next step leaves with it.
  void take(Conversation& by, const Step& step, bool more) {
    if (step.kind == Step::kFin || step.kind == Step::kReset) {
      leave(by);
      return step.kind == Step::kFin ? by.shut() : by.reset();
    }
    hold(by, step);
    if (!more) leave(by);
  }

  void hold(Conversation& by, const Step& step) {
    const auto add = [&](const std::vector<std::byte>& octets) {
      for (const std::uint16_t cut : step.cuts) cuts_.push_back(held_.size() + cut);
      held_.insert(held_.end(), octets.begin(), octets.end());
    };
    if (step.kind == Step::kRaw) return add(pattern(step.size, 0x77));
    Ulpdu ulpdu = compose(by.make(), step, scene_.advert());
    change(ulpdu, step.edits);
    FpduFault fault{.crc_xor = step.crc_xor};
    if (step.length_xor != 0) fault.length = static_cast<std::uint16_t>(ulpdu.size() ^ step.length_xor);
    for (int times = step.again ? 2 : 1; times > 0; --times) add(by.fpdu(ulpdu, fault));
  }

  void leave(Conversation& by) {
    if (!held_.empty()) by.send_in_pieces(held_, cuts_);
    held_.clear();
    cuts_.clear();
  }

  void end(Conversation& by) {
    by.shut();
    PeerFpdu fpdu;
    Came came{};
    const Instant deadline = now() + scene_.patience();
    do came = by.next_any(fpdu, deadline - now());
    while (came == Came::kFpdu);
    if (came == Came::kNothing) fail("the connection stayed open after the prober's FIN");
  }

  // Regions that no peer may write to hold what they held.
  void look_at_memory() {
    if ((way_.offers() & kSessions) == 0 || scene_.conversations() == 0 || !script_.edits.empty()) return;
    for (const Region& region : std::vector(scene_.advert().regions)) {
      if (region.kind == Region::kPlain && region.rights == Region::kRead)
        scene_.expect_untouched(region, 0, std::min<std::size_t>(region.length, 4096));
    }
  }

  static std::string breach(const std::vector<Exchange>& exchanges) {
    for (const RuleResult& rule : judge({CaseResult{.exchanges = exchanges}})) {
      if (rule.verdict == Verdict::kFail) return std::string(rule.rule->clause) + ": " + rule.first->message;
    }
    return {};
  }

  Scene scene_;
  Way& way_;
  const Script& script_;
  std::vector<std::byte> held_{};  // of steps that leave together
  std::vector<std::size_t> cuts_{};
};

}  // namespace

std::optional<ScriptFinding> run_script(Way& way, const Script& script) { return ScriptRun(way, script).run(); }

}  // namespace weft::probe
