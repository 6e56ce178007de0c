// SPDX-License-Identifier: Apache-2.0
#include "tools/probe_peer/peer.hpp"

#include <fcntl.h>
#include <poll.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <cstdio>
#include <map>
#include <stdexcept>

#include "tools/cli/interruption.hpp"
#include "tools/cli/standard_output.hpp"
#include "tools/probe_peer/guest.hpp"
#include "tools/probe_peer/must.hpp"

namespace weft::tools::probe_peer {
namespace {

using probe::Wish;
using verbs::ConnectionEventType;
using Clock = std::chrono::steady_clock;

constexpr std::size_t kMostSessions = 4096;
constexpr std::size_t kMostOctets = std::size_t{256} << 20U;  // of memory for them and their connections
// An overflow of the completion queue would end all of them: what they can have at a time fits.
constexpr std::size_t kMostGuests = Resources::kCompletions / Guest::kMostCompletions;
constexpr auto kSessionTime = std::chrono::seconds(60);  // without a connection
constexpr int kChatEvery = 10;                           // milliseconds
constexpr int kRefusals = 5;                             // one after the other: there is no prober, or no more

void make_non_blocking(int descriptor) { ::fcntl(descriptor, F_SETFL, ::fcntl(descriptor, F_GETFL) | O_NONBLOCK); }

std::uint16_t told(std::uint16_t wished, std::uint32_t otherwise) noexcept {
  return wished == 0xFFFF ? static_cast<std::uint16_t>(otherwise)
                          : std::min(wished, static_cast<std::uint16_t>(otherwise));
}

class Peer {
 public:
  explicit Peer(const Options& options)
      : options_(options),
        events_(must(verbs::EventChannel::create(), "event channel")),
        resources_(Resources::of(options.connects ? verbs::Address::any(options.address.address.family)
                                                  : options.address.address)) {
    for (const int descriptor : {events_.descriptor(), resources_.channel.descriptor(),
                                 resources_.solicited.descriptor(), resources_.device.async_descriptor()})
      make_non_blocking(descriptor);
    must(resources_.completions.arm(verbs::Arm::kAll), "arm");
    must(resources_.waiting.arm(verbs::Arm::kSolicited), "arm");
  }

  Outcome<void> listen() {
    listener_ = must(verbs::ConnectionId::create(events_), "listener");
    must(listener_->set_policy(options_.policy), "policy");
    must(listener_->bind_address(options_.address), "address");
    must(listener_->listen(1024), "listen");
    return print_line("listening on " + listener_->local_address().to_string());
  }
  void connect() {
    for (std::uint32_t i = 0; i < options_.parallel; ++i) call({});
  }

  void serve() {
    while (!interrupted() && !over_) {
      wait();
      take_events();
      take_completions();
      take_solicited();
      take_async_events();
      if (options_.chatty) chat();
      forget_old_sessions();
    }
  }

 private:
  void wait() const {
    std::array<pollfd, 5> all{
        pollfd{events_.descriptor(), POLLIN, 0}, pollfd{resources_.channel.descriptor(), POLLIN, 0},
        pollfd{resources_.solicited.descriptor(), POLLIN, 0}, pollfd{resources_.device.async_descriptor(), POLLIN, 0},
        pollfd{interruption_switch().descriptor(), POLLIN, 0}};
    const int tick = options_.chatty ? kChatEvery : 1000;  // else to forget old ones
    ::poll(all.data(), all.size(), sessions_.empty() ? -1 : tick);
  }
  void chat() {
    for (const auto& [number, guest] : by_number_) {
      if (guest->queue_pair().state() == verbs::QpState::kRts) guest->chat();
    }
  }

  // --- Sessions

  std::shared_ptr<Session> session_of(const Wish& wish) {
    make_room(wish.session);
    if (const auto known = sessions_.find(wish.session); known != sessions_.end()) return known->second;
    const std::uint32_t number = ++last_session_;
    return sessions_.emplace(number, std::make_shared<Session>(resources_, number)).first->second;
  }
  [[nodiscard]] std::size_t octets() const {
    std::size_t sum = 0;
    for (const auto& [number, session] : sessions_) sum += session->octets();
    for (const auto& [number, guest] : by_number_) sum += guest->octets();
    return sum;
  }
  // Forgets the idlest sessions, but not this one, nor any with a connection.
  void make_room(std::uint32_t wanted) {
    const auto use = [wanted](const auto& one) {
      return std::pair(one.first == wanted || one.second->connections > 0, one.second->idle_since);
    };
    while (sessions_.size() >= kMostSessions || octets() >= kMostOctets) {
      const auto idlest = std::ranges::min_element(sessions_, {}, use);
      if (idlest == sessions_.end() || use(*idlest).first)
        throw std::runtime_error("the memory for sessions is in use");
      sessions_.erase(idlest);
    }
  }
  void forget_old_sessions() {
    const auto now = Clock::now();
    if (now - looked_at_ < std::chrono::seconds(1)) return;
    looked_at_ = now;
    std::erase_if(sessions_, [&](const auto& one) {
      return one.second->connections == 0 && now - one.second->idle_since > kSessionTime;
    });
  }
  std::shared_ptr<Guest> new_guest(const Wish& wish) {
    const std::uint32_t number = ++last_guest_;
    auto guest = std::make_shared<Guest>(resources_, session_of(wish), wish, number);
    by_number_[number] = guest;
    by_pair_[guest->queue_pair().number()] = guest;
    return guest;
  }
  // Creates a guest. Returns null if this machine, or the completion queue, has no room for one more.
  std::shared_ptr<Guest> guest_if_there_is_room(const Wish& wish) {
    if (by_number_.size() >= kMostGuests) return nullptr;
    try {
      return new_guest(wish);
    } catch (const std::exception& error) {
      print_error(std::string("weft probe-peer: a connection is rejected: ") + error.what() + ".");
      return nullptr;
    }
  }
  void drop(const std::shared_ptr<Guest>& guest) {
    guest->note_end();
    by_pair_.erase(guest->queue_pair().number());
    by_number_.erase(guest->number());
  }

  // --- Connections

  void answer(verbs::ConnectionEvent event) {
    verbs::ConnectionId& id = *event.request;
    const Wish wish = probe::parse_wish(event.private_data).value_or(Wish{});
    const auto guest = (wish.flags & Wish::kRejectMe) != 0 ? nullptr : guest_if_there_is_room(wish);
    if (!guest) return static_cast<void>(id.reject());
    guest->id.emplace(std::move(id));
    const auto ird = told(wish.ird, verbs::Device::limits().max_ird),
               ord = told(wish.ord, std::min<std::uint32_t>(event.ord, 128));
    const auto advert = probe::serialize(guest->advert(ird, ord));
    verbs::ConnectionParameters parameters{.private_data = advert};
    if (wish.ird != 0xFFFF) parameters.ird = ird;
    if (wish.ord != 0xFFFF) parameters.ord = ord;
    guest->id->set_context(guest->number());
    if (!guest->id->accept(guest->queue_pair(), parameters)) return drop(guest);
    guest->begin(false);
  }

  void call(const Wish& wish) {
    if (options_.connections != 0 && calls_ >= options_.connections) {
      over_ = by_number_.empty();
      return;
    }
    ++calls_;
    const auto guest = new_guest(wish);
    auto& id = guest->id.emplace(must(verbs::ConnectionId::create(events_, guest->number()), "connection"));
    must(id.set_policy(options_.policy), "policy");
    must(id.resolve_address(options_.address), "address");
  }

  void go_on(const std::shared_ptr<Guest>& guest, ConnectionEventType type) {
    if (type == ConnectionEventType::kAddressResolved) return static_cast<void>(guest->id->resolve_route());
    const Wish& wish = guest->wish();
    const auto ird = told(wish.ird, 16), ord = told(wish.ord, 16);
    const auto advert = probe::serialize(guest->advert(ird, ord));
    if (!guest->id->connect(guest->queue_pair(), {.private_data = advert, .ird = ird, .ord = ord})) again(guest, {});
  }
  // The slot's next connection.
  void again(const std::shared_ptr<Guest>& guest, const Wish& wish) {
    drop(guest);
    call(wish);
  }

  // A few at a time: a prober that connects incessantly must not keep completions waiting. The descriptor stays
  // readable.
  void take_events() {
    constexpr int kMostInTurn = 8;
    for (int i = 0; i < kMostInTurn; ++i) {
      auto event = events_.get_event();
      if (!event) return;
      if (event->type == ConnectionEventType::kConnectRequest)
        answer(std::move(*event));
      else
        take(*event);
    }
  }
  void take(const verbs::ConnectionEvent& event) {
    const auto known = by_number_.find(static_cast<std::uint32_t>(event.context));
    if (known == by_number_.end()) return;
    const auto guest = known->second;
    switch (event.type) {
      case ConnectionEventType::kAddressResolved:
      case ConnectionEventType::kRouteResolved: return go_on(guest, event.type);
      case ConnectionEventType::kEstablished:
        if (!options_.connects) return;
        refusals_ = 0;
        answered_ = true;
        next_wish_[guest->number()] = probe::parse_wish(event.private_data).value_or(Wish{});
        return guest->begin(true);
      case ConnectionEventType::kDisconnected: return ended(guest, {});
      default: return ended(guest, event.error);
    }
  }
  // A prober that has answered once may end startups unanswered, as many as it likes: it is still there.
  [[nodiscard]] bool is_refusal(const verbs::Error& error) const noexcept {
    return error.code == verbs::Errc::kRefused && (error.os_error == ECONNREFUSED || !answered_);
  }
  void ended(const std::shared_ptr<Guest>& guest, const std::optional<verbs::Error>& error) {
    take_completions();  // what was done before the end counts
    if ((guest->wish().flags & Wish::kEndWhenDone) != 0) over_ = true;
    if (!options_.connects) return drop(guest);
    Wish next{};
    if (const auto said = next_wish_.extract(guest->number())) next = said.mapped();
    if (error && (error->code == verbs::Errc::kUnreachable || (is_refusal(*error) && ++refusals_ >= kRefusals))) {
      if (!answered_) throw std::runtime_error(options_.address.to_string() + ": " + error->message());
      over_ = true;
    }
    if (!over_)
      again(guest, next);
    else
      drop(guest);
  }

  // --- Work

  void take_completions() {
    while (resources_.channel.get_event()) resources_.completions.acknowledge_events(1);
    static_cast<void>(resources_.completions.arm(verbs::Arm::kAll));
    take_from(resources_.completions);
  }
  // Armed before it is emptied: what comes in between raises another event.
  void take_solicited() {
    if (!resources_.solicited.get_event()) return;
    do resources_.waiting.acknowledge_events(1);
    while (resources_.solicited.get_event());
    static_cast<void>(resources_.waiting.arm(verbs::Arm::kSolicited));
    take_from(resources_.waiting);
  }
  void take_from(verbs::CompletionQueue& queue) {
    std::array<verbs::WorkCompletion, 64> some;
    for (auto got = queue.poll(some); got && *got > 0; got = queue.poll(some)) {
      for (const verbs::WorkCompletion& done : std::span(some).first(*got)) completed(done);
    }
  }
  void completed(const verbs::WorkCompletion& done) {
    const auto known = by_pair_.find(done.qp_num);
    if (known == by_pair_.end()) return;
    const auto guest = known->second;
    if (done.opcode == verbs::WcOpcode::kReceive) note_ends(guest->session());
    try {
      guest->completed(done);
    } catch (const std::exception& error) {
      print_error(std::string("weft probe-peer: a connection ends: ") + error.what() + ".");
      static_cast<void>(guest->queue_pair().modify(verbs::QpState::kError));
    }
  }
  // A report says how earlier streams of the session ended, also when their events are still to come.
  void note_ends(const Session& session) {
    for (const auto& [number, guest] : by_number_) {
      if (&guest->session() == &session) guest->note_terminate();
    }
  }
  void take_async_events() {
    for (auto event = resources_.device.get_async_event(); event; event = resources_.device.get_async_event()) {
      const auto known = by_pair_.find(event->number);
      if (known == by_pair_.end()) continue;
      ++known->second->session().report.async_events;
      known->second->session().publish();
    }
  }

  const Options& options_;
  verbs::EventChannel events_;
  Resources resources_;
  std::optional<verbs::ConnectionId> listener_{};
  std::map<std::uint32_t, std::shared_ptr<Session>> sessions_{};
  std::map<std::uint32_t, std::shared_ptr<Guest>> by_number_{};
  std::map<std::uint32_t, std::shared_ptr<Guest>> by_pair_{};
  std::map<std::uint32_t, Wish> next_wish_{};
  std::uint32_t last_session_ = 0;
  std::uint32_t last_guest_ = 0;
  std::uint32_t calls_ = 0;
  int refusals_ = 0;
  bool answered_ = false;  // a connection was established
  bool over_ = false;
  Clock::time_point looked_at_ = Clock::now();
};

}  // namespace

Outcome<void> run(const Options& options) {
  if (auto caught = catch_interruptions(); !caught) return caught;
  try {
    Peer peer(options);
    if (options.connects) {
      peer.connect();
    } else if (auto told = peer.listen(); !told) {
      return told;
    }
    peer.serve();
  } catch (const std::exception& error) {
    return failure(std::string(error.what()) + ".");
  }
  return {};
}

}  // namespace weft::tools::probe_peer
