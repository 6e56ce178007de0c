// SPDX-License-Identifier: Apache-2.0
#include "probe/cases/mpa_steps.hpp"

#include <fmt/format.h>

#include <algorithm>

namespace weft::probe {

Conversation& connect_again(Scene& scene, const Opening& opening) {
  const bool joins = scene.conversations() != 0 && scene.offers(kSessions);
  return joins ? scene.rejoin(opening) : scene.connect(opening);
}

bool sees_memory(const Scene& scene) { return scene.offers(kRegions | kSessions); }

Region target(const Scene& scene) {
  if (!scene.offers(kRegions)) return {.stag = kNoSuchStag};
  return scene.region(Region::kPlain, kReadWrite);
}

std::vector<std::byte> first_octets(const Region& region, std::size_t from, std::size_t size) {
  std::vector<std::byte> out(size);
  for (std::size_t i = 0; i < size; ++i) out[i] = first_content(region, from + i);
  return out;
}

void send_before(Conversation& by, const Region& region) {
  by.send_ulpdu(by.make().write(region.stag, region.offset, pattern(region.length == 0 ? 0 : kAround)));
}
void send_behind(Conversation& by, const Region& region) {
  by.send_ulpdu(by.make().write(region.stag, at(region, kBehind), pattern(region.length == 0 ? 0 : kAround)));
}

void expect_only_before(Scene& scene, const Region& region) {
  if (!sees_memory(scene)) return;
  auto wanted = first_octets(region, 0, 2 * kBehind);
  std::ranges::copy(pattern(kAround), wanted.begin());
  Conversation& by = scene.rejoin();
  expect_content(scene, by, region, 0, Bytes(wanted).first(kAround), "the Write before the wrong FPDU was lost");
  expect_content(scene, by, region, kAround, Bytes(wanted).subspan(kAround),
                 "octets were placed though their FPDU was wrong, or came after one");
}

void expect_mpa_error(Conversation& by, const Errors& any_of) {
  try {
    by.expect_terminate_or_end(any_of);
  } catch (const Judgement&) {
    if (by.socket().unacknowledged() == 0) throw;
    not_applicable("the peer's TCP does not acknowledge the wrong FPDU: it drops it silently (MPA-8-11)");
  }
}

Reaction reaction_within(Conversation& by, Duration limit) {
  PeerFpdu fpdu;
  switch (by.next(fpdu, limit, message_of(rdmap::Opcode::kReadResponse))) {
    case Came::kFin:
    case Came::kReset: return Reaction::kEnded;
    case Came::kNothing: return Reaction::kSilent;
    case Came::kFpdu: break;
  }
  if (!fpdu.is(rdmap::Opcode::kTerminate)) return Reaction::kWentOn;
  by.shut();
  by.expect_end_sometime("a Terminate is the last message of its direction", by.patience());
  return Reaction::kTerminated;
}

Reaction reaction_of(Conversation& by) {
  by.send_ulpdu(by.make().read_request({.sink_stag = {7}, .sink_offset = {0x1234}}));
  return reaction_within(by, by.patience());
}

PeerReport look(Scene& scene, Conversation& by) { return peek_until(scene, by, 0); }

PeerReport expect_receives(Scene& scene, Conversation& by, std::uint32_t count) {
  const PeerReport seen = peek_until(scene, by, count);
  if (seen.receives_done != count)
    fail(fmt::format("{} receives completed; it should have been {}", seen.receives_done, count));
  return seen;
}

void expect_no_more_receives(Scene& scene, Conversation& by, std::uint32_t count) {
  expect_receives(scene, by, count);
  by.expect_silence(scene.quiet(), "nothing was asked for");
  expect_receives(scene, by, count);
}

void expect_content(Scene& scene, Conversation& by, const Region& region, std::size_t from, Bytes octets,
                    const std::string& what) {
  const auto found = scene.read_back(by, region, from, octets.size());
  const auto differ = std::ranges::mismatch(found, octets);
  if (differ.in1 == found.end()) return;
  const auto place = static_cast<std::size_t>(differ.in1 - found.begin());
  fail(fmt::format("{}: the octet at offset {} of the region is {:02x}, not {:02x}", what, from + place,
                   std::to_integer<int>(found[place]), std::to_integer<int>(octets[place])));
}

}  // namespace weft::probe
