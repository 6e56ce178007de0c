// SPDX-License-Identifier: Apache-2.0
#include "probe/scene.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <random>
#include <stdexcept>

#include "probe/peer_program.hpp"
#include "probe/way.hpp"

namespace weft::probe {

namespace {
constexpr int kMostWaits = 12;         // that are as long as the patience, in one case
constexpr int kMostRoundTrips = 1000;  // of one case
}  // namespace

struct Scene::Self {
  Way& way;
  std::mt19937_64 numbers;
  Instant end_by;
  std::vector<std::unique_ptr<Conversation>> conversations{};
  std::optional<Advert> advert{};
  bool answered{};                  // an order, on the connection of the advert
  std::optional<Duration> quiet{};  // the shortest silence that meant something
};

// A user who has more patience has it for the whole, too.
Scene::Scene(Way& way, std::uint64_t seed, Duration time) noexcept
    : self_(new Self{
          .way = way, .numbers = std::mt19937_64(seed), .end_by = now() + std::max(time, kMostWaits * way.patience)}) {}
Scene::~Scene() { give_up_earlier(); }

Conversation& Scene::keep(std::unique_ptr<Conversation> conversation, Instant began) {
  if (peer_connects()) self_->end_by = self_->end_by + (now() - began);
  const Instant end_by = self_->end_by + kMostRoundTrips * self_->way.learned->round_trip();
  if (now() > end_by) fail("the case's time is over, and the peer still had it wait");
  for (const auto& earlier : self_->conversations) earlier->end_by(end_by);
  conversation->end_by(end_by);
  return *self_->conversations.emplace_back(std::move(conversation));
}

void Scene::give_up_earlier() noexcept {
  if (!self_->way.learned->one_at_a_time()) return;
  for (const auto& earlier : self_->conversations) earlier->give_up();
}

Conversation& Scene::dial(const SocketWish& wish) {
  const Instant began = now();
  give_up_earlier();
  return keep(self_->way.dial(wish), began);
}

Conversation& Scene::connect(const Opening& opening) {
  const Instant began = now();
  std::unique_ptr<Conversation> conversation;
  self_->answered = false;
  give_up_earlier();
  try {
    self_->advert = self_->way.open(opening, conversation);
  } catch (const Judgement&) {
    if (conversation) self_->conversations.push_back(std::move(conversation));  // what crossed the wire is told
    throw;
  }
  return keep(std::move(conversation), began);
}

Conversation& Scene::rejoin(Opening opening) {
  opening.wish.session = advert().session;
  return connect(opening);
}

const Advert& Scene::advert() const {
  if (!self_->advert) not_applicable("the peer does not tell what it offers");
  return *self_->advert;
}

const Region& Scene::region(Region::Kind kind, std::uint8_t rights) const {
  if (kind == Region::kWindow && !self_->answered)
    throw std::logic_error("the case uses a window before the peer has answered an order: it may not be bound yet");
  for (const Region& region : advert().regions) {
    if (region.kind == kind && region.rights == rights) return region;
  }
  not_applicable(fmt::format("the peer offers no region of kind {} with rights {}", static_cast<int>(kind), rights));
}

std::vector<std::byte> Scene::read_back(Conversation& by, const Region& region, std::size_t from, std::size_t size) {
  const ddp::TaggedOffset sink{0x10000};
  by.send_ulpdu(by.make().read_request({.sink_stag = kOwnStag,
                                        .sink_offset = sink,
                                        .size = static_cast<std::uint32_t>(size),
                                        .source_stag = region.stag,
                                        .source_offset = {region.offset.value + from}}));
  return by.expect_read_response(kOwnStag, sink, size);
}

void Scene::expect_untouched(const Region& region, std::size_t from, std::size_t size) {
  const Region where = region;  // rejoin() brings a new advert
  const auto octets = read_back(rejoin(), where, from, size);
  for (std::size_t i = 0; i < size; ++i) {
    if (octets[i] != first_content(where, from + i))
      fail(fmt::format("the octet at offset {} of the region was written: it is {:02x}, and was {:02x}", from + i,
                       std::to_integer<int>(octets[i]), std::to_integer<int>(first_content(where, from + i))));
  }
}

std::optional<PeerReport> Scene::order(Conversation& by, const Order& order) {
  by.send_ulpdu(by.make().send(serialize(order)));
  if ((order.flags & Order::kAnswer) == 0 && order.operation != Order::kReport) return std::nullopt;
  const PeerReport report = expect_report(by);
  self_->answered |= !self_->conversations.empty() && self_->conversations.back().get() == &by;
  return report;
}

PeerReport Scene::report(Conversation& by) { return *order(by, {.operation = Order::kReport}); }
PeerReport Scene::report() { return report(rejoin()); }

void Scene::expect_alive(Conversation& by) {
  self_->way.expect_alive(by);
  self_->way.learn_from(by);
}

rdmap::ReadRequest Scene::provoke_read(Conversation& by, ddp::TaggedOffset offset, std::uint32_t size) {
  self_->way.ask_to_read(by, offset, size);
  return by.expect_read_request(size);
}

bool Scene::offers(std::uint32_t needs) const noexcept { return self_->way.lacks(needs) == 0; }
unsigned Scene::at_most(unsigned connections) const {
  if (self_->way.learned->one_at_a_time()) not_applicable(std::string(kOneAtATime));
  return std::min(connections, self_->way.most_held());
}
bool Scene::peer_connects() const noexcept { return self_->way.peer_connects(); }
std::uint64_t Scene::random() { return self_->numbers(); }
Duration Scene::patience() const noexcept { return self_->way.patience_now(); }
Duration Scene::quiet() const noexcept {
  const Duration quiet = self_->way.quiet_now();
  self_->quiet = std::min(quiet, self_->quiet.value_or(quiet));
  return quiet;
}
std::optional<Duration> Scene::quiet_used() const noexcept { return self_->quiet; }

std::size_t Scene::conversations() const noexcept { return self_->conversations.size(); }

std::vector<Exchange> Scene::exchanges() const {
  std::vector<Exchange> out;
  for (const auto& conversation : self_->conversations) out.push_back(conversation->exchange());
  return out;
}

std::vector<std::string> Scene::warnings() const {
  std::vector<std::string> out;
  for (const auto& conversation : self_->conversations)
    out.insert(out.end(), conversation->warnings().begin(), conversation->warnings().end());
  return out;
}

}  // namespace weft::probe
