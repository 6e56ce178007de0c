// SPDX-License-Identifier: Apache-2.0
#include "probe/way_profile.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <mutex>

namespace weft::probe {
namespace {

// What the cases take of a region: one that is smaller is left out, and what needs it does not apply.
constexpr std::uint32_t kLeast = 4096;
constexpr std::uint32_t kLeastReadWrite = 65536;
constexpr std::size_t kAtOnce = 16384;
constexpr std::size_t kMostSegments = 4096;  // of one message of the peer's

// The private data of the peer's startup frame, as it came.
std::vector<std::byte> private_data_of(const Exchange& exchange) {
  std::vector<std::byte> octets;
  for (const Part& part : exchange.parts) {
    if (part.from_peer && part.kind == Part::kOctets)
      octets.insert(octets.end(), part.octets.begin(), part.octets.end());
  }
  const auto kind = exchange.peer_opened ? mpa::FrameKind::kRequest : mpa::FrameKind::kReply;
  const auto parsed = mpa::parse_startup_frame(octets, kind);
  if (!parsed || !*parsed) return {};
  const auto& data = (*parsed)->private_data;
  return {data.begin(), data.end()};
}

std::uint64_t number_at(Bytes octets, const Place& place, std::size_t source) {
  if (place.constant) return place.value;
  if (octets.size() < place.width || place.value > octets.size() - place.width)
    fail(fmt::format("the {} octets of the peer's {} have no number of {} octets at {}", octets.size(),
                     source == 0 ? "private data" : fmt::format("Send {}", source), place.width, place.value));
  std::uint64_t out = 0;
  for (const std::byte octet : octets.subspan(place.value, place.width))
    out = out << 8U | std::to_integer<std::uint64_t>(octet);
  return out;
}

class ByProfile final : public Way {
 public:
  ByProfile(std::string name, Profile profile, std::unique_ptr<Way> raw)
      : name_(std::move(name)), profile_(std::move(profile)), raw_(std::move(raw)) {}

  [[nodiscard]] std::string_view profile() const override { return name_; }
  [[nodiscard]] std::uint32_t offers() const override {
    std::uint32_t out = raw_->offers();
    if (!profile_.regions.empty()) out |= kRegions;
    if (profile_.takes_sends) out |= kReceives;
    if (profile_.atomics) out |= kAtomics;
    if (profile_.read) out |= kReads;
    return out;
  }
  [[nodiscard]] unsigned most_at_a_time() const override { return profile_.at_a_time; }
  [[nodiscard]] unsigned most_held() const override { return raw_->most_held(); }

  std::unique_ptr<Conversation> dial(const SocketWish& wish) override { return raw().dial(wish); }

  Advert open(const Opening& opening, std::unique_ptr<Conversation>& conversation) override {
    Opening own = opening;
    own.start_up = spoken(std::move(own.start_up));
    if (own.start_up.private_data.empty()) own.start_up.private_data = profile_.private_data;
    own.prober_first = opening.prober_first && profile_.empty_write;
    raw().open(own, conversation);
    Conversation& by = *conversation;
    Said of{private_data_of(by.exchange())};
    for (const ProfileStep& step : profile_.steps) take(by, step, of);
    Advert advert = advert_of(of);
    // Cases compare what they find with the first content; where the prober may write, it makes it so.
    for (const Region& region : advert.regions) fill(by, region);
    return advert;
  }

  void expect_alive(Conversation& by) override {
    if (!profile_.alive_by_read) return by.expect_empty_read();
    ask_to_read(by, {0x2000}, 64);
    by.expect_message(rdmap::Opcode::kReadRequest);
  }
  void ask_to_read(Conversation& by, ddp::TaggedOffset offset, std::uint32_t size) override {
    if (!profile_.read) return Way::ask_to_read(by, offset, size);
    by.send_ulpdu(by.make().send(profile_.read->filled(Scene::kOwnStag, offset, size)));
  }

 private:
  using Said = std::vector<std::vector<std::byte>>;  // the private data, then each Send that was expected

  Way& raw() {
    std::call_once(tuned_, [this] { raw_->patience = patience, raw_->quiet = quiet, raw_->learned = learned; });
    return *raw_;
  }

  static std::vector<std::byte> message(Conversation& by, rdmap::Opcode opcode) {
    std::vector<std::byte> out;
    for (std::size_t segments = 0; segments < kMostSegments; ++segments) {
      const PeerFpdu fpdu = by.expect_message(opcode);
      out.insert(out.end(), fpdu.payload().begin(), fpdu.payload().end());
      if (fpdu.last()) return out;
    }
    fail("a message of the peer's opening has too many segments");
  }

  static void take(Conversation& by, const ProfileStep& step, Said& said) {
    switch (step.kind) {
      case ProfileStep::kSend: return by.send_ulpdu(by.make().send(step.octets));
      case ProfileStep::kExpectSend: {
        said.push_back(message(by, rdmap::Opcode::kSend));
        if (said.back().size() < step.size)
          fail(fmt::format("the peer's Send {} has {} octets; the profile expects {} or more", said.size() - 1,
                           said.back().size(), step.size));
        return;
      }
      case ProfileStep::kExpectRead: return answer(by, by.expect_read_request(), step.octets);
      case ProfileStep::kExpectWrite: static_cast<void>(message(by, rdmap::Opcode::kWrite)); return;
    }
  }

  static void answer(Conversation& by, const rdmap::ReadRequest& request, std::vector<std::byte> octets) {
    if (request.size > kMostAnswered)
      fail(fmt::format("the peer reads {} octets in its opening; a profile answers {} at most", request.size,
                       kMostAnswered));
    octets.resize(request.size);
    for (std::size_t at = 0; at < octets.size() || at == 0; at += kAtOnce) {
      const std::size_t size = std::min(kAtOnce, octets.size() - at);
      by.send_ulpdu(by.make().read_response(request.sink_stag, {request.sink_offset.value + at},
                                            Bytes(octets).subspan(at, size), at + size == octets.size()));
    }
  }

  [[nodiscard]] Advert advert_of(const Said& said) const {
    Advert out;
    for (const ProfileRegion& region : profile_.regions) {
      const Bytes octets = said.at(region.source);
      const auto number = [&](const Place& place) { return number_at(octets, place, region.source); };
      const Region one{.stag = {static_cast<std::uint32_t>(number(region.stag))},
                       .offset = {number(region.offset)},
                       .length = static_cast<std::uint32_t>(std::min<std::uint64_t>(number(region.length), 0xFFFFFFFF)),
                       .rights = region.rights,
                       .kind = Region::kPlain};
      const bool large = one.rights == (Region::kRead | Region::kWrite);
      if (one.length >= (large ? kLeastReadWrite : kLeast)) out.regions.push_back(one);
    }
    return out;
  }

  static void fill(Conversation& by, const Region& region) {
    if ((region.rights & Region::kWrite) == 0) return;
    std::vector<std::byte> octets(std::min(region.length, kLeastReadWrite));
    for (std::size_t i = 0; i < octets.size(); ++i) octets[i] = first_content(region, i);
    for (std::size_t at = 0; at < octets.size(); at += kAtOnce)
      by.send_ulpdu(by.make().write(region.stag, {region.offset.value + at},
                                    Bytes(octets).subspan(at, std::min(kAtOnce, octets.size() - at))));
  }

  static constexpr std::uint32_t kMostAnswered = 1U << 20U;
  std::string name_;
  Profile profile_;
  std::unique_ptr<Way> raw_;
  std::once_flag tuned_{};
};

}  // namespace

bool first_is_the_peers(const Profile& profile) noexcept {
  return !profile.steps.empty() && profile.steps.front().kind != ProfileStep::kSend;
}

std::unique_ptr<Way> way_by_profile(std::string name, Profile profile, std::unique_ptr<Way> raw) {
  return std::make_unique<ByProfile>(std::move(name), std::move(profile), std::move(raw));
}

}  // namespace weft::probe
