// SPDX-License-Identifier: Apache-2.0
// The CRC of an FPDU, RFC 5044 sections 4.4, 6 and 8.
#include "probe/cases/cases.hpp"
#include "probe/cases/errors.hpp"
#include "probe/scene.hpp"

namespace weft::probe {
namespace crc {
namespace {

// A Write whose CRC is wrong, into memory that could be written: it ends the stream, and no octet was placed.
void wrong_crc_places_nothing(Scene& scene) {
  Conversation& by = scene.connect();
  const Region target = scene.region(Region::kPlain, Region::kRead | Region::kWrite);
  by.send_ulpdu(by.make().write(target.stag, target.offset, pattern(256)), {.crc_xor = 1});
  by.expect_terminate({kBadCrc});
  scene.expect_untouched(target, 0, 256);
}

// What every other case begins with.
void ordinary(Scene& scene) {
  try {
    scene.expect_alive(scene.connect());
  } catch (const Judgement& judgement) {
    fail(std::string("an ordinary connection does not work: ") + judgement.what());
  }
}

void garbage_is_taken_where_crc_is_off(Scene& scene) {
  Conversation& by = scene.connect({.start_up = {.crc = false}});
  if (by.framing().crc) not_applicable("the peer insists on CRCs");
  by.send_ulpdu(by.make().send(pattern(32)), {.crc = 0xDEADBEEF});
  scene.expect_alive(by);
}

}  // namespace
}  // namespace crc

std::span<const Case> crc_cases() {
  using namespace crc;
  static const std::vector<Case> cases{
      {.name = "ordinary",
       .clause = "MPA-4.4-01",
       .what = "An ordinary connection with CRCs works.",
       .needs = kStream,
       .run = ordinary},
      {.name = "crc-wrong-write",
       .clause = "MPA-4.4-19",
       .what = "An RDMA Write has a wrong CRC: Terminate 2/0/02, and no octet of it is placed.",
       .needs = kRegions | kSessions,
       .run = wrong_crc_places_nothing,
       .also = {"MPA-6-01", "MPA-6-03", "MPA-8-02"}},
      {.name = "crc-off-garbage",
       .clause = "MPA-4.1-08",
       .what = "CRCs are off in both directions, and the CRC field holds garbage: the FPDU is delivered.",
       .needs = kReceives,
       .run = garbage_is_taken_where_crc_is_off,
       .also = {"MPA-4.4-10", "MPA-7.1.1-09", "MPA-7.1.1-13"}},
  };
  return cases;
}

}  // namespace weft::probe
