// SPDX-License-Identifier: Apache-2.0
// The plan of FPDUs: CRC, Markers, truncated ones. RFC 5044.
#include <algorithm>

#include "probe/plan/axes.hpp"
#include "probe/plan/stage.hpp"

namespace weft::probe::plan {
namespace {

// --- The CRC

enum CrcValue : std::uint64_t { kZeroCrc = 1ULL << 32U, kFlip = 1ULL << 33U };

void wrong_crc(Scene& scene, const Combination& how) {
  Stage stage(scene, how);
  if (!stage.by().framing().crc) not_applicable("the peer does without CRCs");
  FpduFault fault;
  if (how.value.number == kZeroCrc)
    fault.crc = 0;
  else if ((how.value.number & kFlip) != 0)
    fault.flip = static_cast<std::size_t>(how.value.number & 0xFFU);
  else
    fault.crc_xor = static_cast<std::uint32_t>(how.value.number);
  Errors errors{kBadCrc};
  if (fault.flip && stage.by().framing().markers) errors.push_back(kMarkerMismatch);
  expect_refused_by_mpa(stage, stage.draft(), fault, errors);
  if (!scene.offers(kReport | kSessions | kRegions)) return;
  const PeerReport seen = look(scene, scene.rejoin());
  if (how.message == Message::kTerminate && seen.terminate_received != 0)
    fail("a Terminate whose CRC is wrong was taken for one");
  if (seen.requests_done != 0) fail("a Response whose CRC is wrong completed its request");
}

// --- Markers: where one lies, and what is wrong with it

enum MarkerPlace : std::uint64_t { kLeading, kInside, kBeforeCrc, kSecondOfTwo };
constexpr std::uint64_t kPlaceBits = 8;

Draft marked(const Stage& stage) {
  Draft out = stage.draft();
  if (static_cast<MarkerPlace>(stage.how().value.number & 0xFFU) == kSecondOfTwo) out.size = 900;
  return out;
}

// Empty Writes, until the next Marker is that far from the position.
void align(Conversation& by, std::size_t distance) {
  for (int i = 0; i < 1000 && mpa::octets_to_marker(by.position()) != distance; ++i)
    by.send_ulpdu(by.make().write({}, {}, {}));
}

// A stage in whose next FPDU the Marker lies where the value says. deliver() sends a Write of 16 octets before it.
void bring_marker(Stage& stage, const std::vector<Ulpdu>& segments) {
  constexpr std::size_t kLead = mpa::bare_fpdu_size(ddp::TaggedLayout::kSize + 16);
  const std::size_t lead = stage.target().length == 0 ? mpa::bare_fpdu_size(ddp::TaggedLayout::kSize) : kLead;
  const std::size_t covered = mpa::bare_fpdu_size(segments.front().size()) - mpa::kCrcSize;
  const auto where = static_cast<MarkerPlace>(stage.how().value.number & 0xFFU);
  const std::size_t wanted = where == kInside ? 40 : where == kBeforeCrc ? covered : where == kSecondOfTwo ? 100 : 0;
  align(stage.by(), lead + wanted);
}

Stage with_markers(Scene& scene, const Combination& how) {
  Stage stage(scene, how);
  if (!stage.by().framing().markers) not_applicable("the peer does not ask for Markers");
  return stage;
}

void wrong_marker(Scene& scene, const Combination& how) {
  Stage stage = with_markers(scene, how);
  const Draft draft = marked(stage);
  const auto segments = stage.compose(draft);
  bring_marker(stage, segments);
  const bool second = (how.value.number & 0xFFU) == kSecondOfTwo;
  stage.deliver(segments, {.marker_pointer_xor = static_cast<std::uint16_t>(how.value.number >> kPlaceBits),
                           .marker = second ? 1U : 0U});
  expect_refused_or_overlooked(stage.by(), kMarkerMismatch,
                               "the peer does not look at Markers in an ordered stream, as MPA-8-08 allows it");
  stage.expect_no_trace(draft);
}

void right_marker(Scene& scene, const Combination& how) {
  Stage stage = with_markers(scene, how);
  Draft draft = marked(stage);
  if (draft.size < how.value.number >> kPlaceBits)
    draft.size = static_cast<std::size_t>(how.value.number >> kPlaceBits);
  const auto segments = stage.compose(draft);
  bring_marker(stage, segments);
  stage.deliver(segments);
  if (how.message == Message::kSend) {
    stage.count_receives(1);
    return stage.settle();
  }
  if (stage.target().length == 0) return stage.by().expect_empty_read();
  expect_content(scene, stage.by(), stage.target(), static_cast<std::size_t>(draft.offset),
                 pattern(draft.size, draft.first), "a Write in a stream with Markers was lost, or changed");
}

// --- FPDUs that end too early

void header_cut_short(Scene& scene, const Combination& how) {
  Stage stage(scene, how);
  const Draft draft = stage.draft();
  expect_refused(stage, draft,
                 [&](Ulpdu& ulpdu) { ulpdu.resize(std::min<std::size_t>(ulpdu.size(), how.value.number)); },
                 {.any_end = true});
}

// The FIN comes within the message. The value: how many octets of its FPDU are left out; or how many there are.
constexpr std::uint64_t kLeftOut = 0x100;

void cut_by_fin(Scene& scene, const Combination& how) {
  Stage stage(scene, how);
  const Draft draft = stage.draft();
  Conversation& by = stage.by();
  const auto segments = stage.compose(draft);
  std::vector<std::byte> octets;
  for (std::size_t i = 0; i <= stage.faulty(); ++i) {
    if (i == stage.faulty()) by.about_next();
    auto fpdu = by.fpdu(segments[i]);
    if (i == stage.faulty())
      fpdu.resize(how.value.number > kLeftOut ? fpdu.size() - (how.value.number - kLeftOut) : how.value.number);
    octets.insert(octets.end(), fpdu.begin(), fpdu.end());
  }
  by.send(octets);
  by.shut();
  by.expect_end_sometime("the prober closed it in the middle of an FPDU", by.patience());
  stage.expect_no_trace(draft);
}

const std::vector<Value> kCutValues{{"1", 1},
                                    {"2", 2},
                                    {"16", 16},
                                    {"20", 20},
                                    {"all-but-8", kLeftOut + 8},
                                    {"all-but-4", kLeftOut + 4},
                                    {"all-but-1", kLeftOut + 1}};
const std::vector<Value> kShortValues{{"1", 1}, {"2", 2}, {"6", 6}, {"13", 13}};
const std::vector<Value> kCrcValues{{"bit-0", 1},
                                    {"bit-8", 0x100},
                                    {"bit-16", 0x10000},
                                    {"bit-24", 0x01000000},
                                    {"bit-31", 0x80000000},
                                    {"ones", 0xFFFFFFFF},
                                    {"zero", kZeroCrc},
                                    {"octet-3", kFlip | 3U},
                                    {"octet-9", kFlip | 9U},
                                    {"octet-17", kFlip | 17U}};

constexpr std::uint64_t marker(MarkerPlace place, std::uint64_t bits) { return place | bits << kPlaceBits; }

}  // namespace

std::span<const Rule> mpa_rules() {
  static const std::vector<Rule> rules{
      {.name = "crc",
       .clause = "MPA-4.4-19",
       .what = "An FPDU whose CRC is wrong: Terminate 2/0/02 (only the end of the connection if it is the first FPDU), "
               "and no trace of it",
       .needs = kStream,
       .axes = {kEverywhere, kEachMessage, kCrcValues, kEachSegment, kEachDelivery},
       .run = wrong_crc,
       .also = {"MPA-4.4-18", "MPA-6-01", "MPA-6-03", "MPA-8-02", "MPA-8-13", "DDP-6.2.2-02"},
       .allowed = is_possible,
       .needs_more = needs_of_message},
      {.name = "marker",
       .clause = "MPA-8-03",
       .what = "A Marker with a wrong pointer under a right CRC: Terminate 2/0/03, and no trace of its FPDU",
       .needs = kStream,
       .axes = {{Place::kSecond, Place::kMiddle, Place::kAfter32Messages, Place::kAfter20000Octets},
                {Message::kWrite, Message::kSend},
                {{"leading-4", marker(kLeading, 4)},
                 {"leading-8000", marker(kLeading, 0x8000)},
                 {"inside-4", marker(kInside, 4)},
                 {"inside-100", marker(kInside, 0x100)},
                 {"before-crc-4", marker(kBeforeCrc, 4)},
                 {"before-crc-40", marker(kBeforeCrc, 0x40)},
                 {"second-4", marker(kSecondOfTwo, 4)},
                 {"second-200", marker(kSecondOfTwo, 0x200)}},
                {},
                kEachDelivery},
       .run = wrong_marker,
       .also = {"MPA-8-06", "MPA-6-02", "MPA-5.2-02"}},
      {.name = "marker-good",
       .clause = "MPA-5.2-01",
       .what = "An FPDU with right Markers is delivered, wherever they lie",
       .needs = kStream,
       .axes = {kBehindFirst,
                {Message::kWrite, Message::kSend},
                {{"leading", marker(kLeading, 0)},
                 {"leading-500", marker(kLeading, 500)},
                 {"inside", marker(kInside, 0)},
                 {"inside-1000", marker(kInside, 1000)},
                 {"before-crc", marker(kBeforeCrc, 0)},
                 {"second", marker(kSecondOfTwo, 0)}},
                {},
                kEachDelivery},
       .run = right_marker,
       .also = {"MPA-6-04", "MPA-5.1-06"},
       .needs_more = [](const Combination& how) -> std::uint32_t {
         return is_send(how.message) ? std::uint32_t{kReceives} : std::uint32_t{kRegions};
       }},
      {.name = "header-short",
       .clause = "DDP-4-01",
       .what = "A ULPDU that ends within its DDP header: the stream ends, and there is no trace of it",
       .needs = kStream,
       .axes = {kEverywhere, kEachMessage, kShortValues, kEachSegment, kEachDelivery},
       .run = header_cut_short,
       .allowed = is_possible,
       .needs_more = needs_of_message},
      {.name = "truncated",
       .clause = "MPA-6-06",
       .what = "The stream ends within a message: no trace of it. The value is how many octets came, or did not",
       .needs = kStream,
       .axes = {kEverywhere, kEachMessage, kCutValues, kEachSegment, {}},
       .run = cut_by_fin,
       .also = {"DDP-4.1-09"},
       .allowed = is_possible,
       .needs_more = needs_of_message},
  };
  return rules;
}

}  // namespace weft::probe::plan
