// SPDX-License-Identifier: Apache-2.0
// How a direct connection is made, and the thread that makes it.
#include <poll.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <iterator>
#include <mutex>
#include <string>
#include <utility>

#include "compat/direct/connections.hpp"
#include "compat/objects/report.hpp"
#include "compat/objects/settings.hpp"
#include "compat/rsockets/call.hpp"
#include "transport/blocked_signals.hpp"

namespace weft::compat::direct {

// --- Making the connection

namespace {

using namespace std::chrono_literals;

constexpr std::string_view kCall = "ibv_modify_qp";
// A peer may listen later than its program told its number.
constexpr auto kLongestRetry = 5min;

bool agree(const std::optional<std::uint32_t>& a, const std::optional<std::uint32_t>& b) { return !a || !b || a == b; }

// Whether both ends mean the same connection. Their programs reach RTS, and know the first numbers of their sends, sooner or
// later than this.
bool match(const Greeting& peers, const Greeting& own, FirstNumber& sends) {
  return peers.from == own.to && peers.to == own.from && agree(peers.sq_psn, own.rq_psn) && peers.rq_psn &&
         sends.expect(*peers.rq_psn);
}

bool admits_reply(std::span<const std::byte> private_data, const Greeting& own, FirstNumber& sends) {
  const auto peers = decode(private_data);
  return peers && match(*peers, own, sends);
}

bool is_connected(const verbs::QueuePair& pair) {
  const verbs::QpState state = pair.state();
  return state == verbs::QpState::kRts || state == verbs::QpState::kSqd;
}

// The device is known, and so is the peer's address: there is nothing to resolve, and no event of it to wait for.
verbs::Result<void> name_ends(verbs::ConnectionId& id, const End& self, const End& peer) {
  verbs::Policy policy = connection_policy();
  policy.timeouts.connect_retry = kLongestRetry;
  if (const auto set = id.set_policy(policy); !set) return set;
  return id.set_route(self.address, {.address = peer.address, .port = port_of(peer.number)});
}

}  // namespace

bool FirstNumber::set(std::uint32_t psn) {
  const std::lock_guard lock(mutex_);
  set_ = psn;
  return agree(set_, expected_);
}

bool FirstNumber::expect(std::uint32_t psn) {
  const std::lock_guard lock(mutex_);
  expected_ = psn;
  return agree(set_, expected_);
}

Greeting Connections::Connection::greeting() const noexcept {
  return {.from = self,
          .to = target.peer,
          .sq_psn = departure ? std::optional(departure->sq_psn) : std::nullopt,
          .rq_psn = target.rq_psn};
}

Greeting Connections::greeting_of(const Connection& connection) {
  const std::lock_guard lock(mutex_);
  return connection.greeting();
}

// The service is there while a number is taken, and that of a connection is given back after its end().
//
// What accepts is to be the end that the program named: another implementation would not combine messages, and no other
// end is to get the program's octets.
//
// If it cannot, sends wait in vain, until their patience is over.
void Connections::connect(Connection& connection) {
  auto id = verbs::ConnectionId::create(service_->channel, connection.self.number);
  verbs::Result<void> begun;
  if (!id) begun = std::unexpected(id.error());
  if (begun) begun = name_ends(*id, connection.self, connection.target.peer);
  if (begun) {
    const Greeting own = greeting_of(connection);
    const auto octets = encode(own);
    begun = id->connect(*connection.connects, {.private_data = octets,
                                               .ird = connection.target.ird_granted(),
                                               .admits_reply = [own, sends = connection.sends](auto private_data) {
                                                 return admits_reply(private_data, own, *sends);
                                               }});
  }
  if (begun) {
    connection.ids.push_back(std::move(*id));
  } else {
    refused(kCall, begun.error());
  }
}

// Of several early Requests that name this queue pair, one was sent by the end that the program named: the last one, if that
// end has begun more than once.
void Connections::start(Connection& connection) {
  EarlyRequests::Requests waiting;
  {
    const std::lock_guard lock(mutex_);
    connection.started = true;
    waiting = early_.take(connection.self.number);
  }
  const std::lock_guard calls(connection.calls);
  if (connection.ended) return;
  if (connection.self <= connection.target.peer) connect(connection);
  for (const EarlyRequests::Request& one : waiting) accept(connection, one.greeting, *one.id);
}

// The peer's number is known, so there is a stream, established or not. No later Request or Reply agrees.
void Connections::leave(Connection& connection) {
  refused(kCall, EINVAL, "sq_psn: the peer expects another packet sequence number");
  const std::lock_guard calls(connection.calls);
  if (connection.ended) return;
  connection.accepts->leave_peer();
  if (connection.connects != connection.accepts) connection.connects->leave_peer();
}

void Connections::accept(Connection& connection, const Greeting& greeting, verbs::ConnectionId& request) {
  const Greeting own = greeting_of(connection);
  const bool due = !connection.accepted && connection.target.peer <= connection.self;
  if (!due || !match(greeting, own, *connection.sends)) {
    return tell_rejected("it does not come from the end that its queue pair waits for");
  }
  const auto octets = encode(own);
  request.set_context(connection.self.number);
  const auto done =
      request.accept(*connection.accepts, {.private_data = octets, .ird = connection.target.ird_granted()});
  if (!done) {
    refused(kCall, done.error());
    return;
  }
  connection.accepted = true;
  connection.ids.push_back(std::move(request));
}

// The number tells of those, too, whose lines the log withholds.
void Connections::tell_rejected(std::string_view reason) {
  const auto count = rejected_.fetch_add(1) + 1;
  refused(kCall, ECONNREFUSED,
          "MPA Request rejected: " + std::string(reason) + " (number " + std::to_string(count) + " of this process)");
}

// --- The thread

// The connection that is to accept it now, if there is one. A Request that is too early waits.
std::shared_ptr<Connections::Connection> Connections::ready_for(const std::optional<Greeting>& greeting,
                                                                verbs::ConnectionEvent& event) {
  const auto found = greeting ? connections_.find(greeting->to.number) : connections_.end();
  if (found == connections_.end()) {
    tell_rejected("it names no queue pair of this process");
    return nullptr;
  }
  if (found->second && found->second->started) return found->second;
  if (early_.add(*greeting, event.request, Clock::now())) {
    look_by(early_.next());
  } else {
    tell_rejected("too many wait for their queue pairs to reach RTR");
  }
  return nullptr;
}

// The address that it names is that of TCP as well, so that nobody elsewhere can take the peer's place, or the places where
// Requests wait.
void Connections::on_request(const Service& service, verbs::ConnectionEvent event) {
  const auto greeting = decode(event.private_data);
  if (greeting && greeting->from.address != event.request->remote_address().address) {
    return tell_rejected("it does not come from the address that it names");
  }
  std::shared_ptr<Connection> connection;
  {
    const std::lock_guard lock(mutex_);
    if (service.ends) return;
    connection = ready_for(greeting, event);
  }
  if (!connection) return;
  const std::lock_guard calls(connection->calls);
  if (!connection->ended) accept(*connection, *greeting, *event.request);
}

// Waits for connect() and accept(), which put the identifier of the attempt into the list before they return.
void Connections::on_established(const Service& service, const verbs::ConnectionEvent& event) {
  std::shared_ptr<Connection> connection;
  {
    const std::lock_guard lock(mutex_);
    if (service.ends) return;
    connection = find(static_cast<std::uint32_t>(event.context));
    if (!connection) return;
    if (is_connected(*connection->connects)) {  // else the peer has left since, and sends may wait again
      connection->end.reset();
      connection->wanted_later = false;
    }
  }
  const std::lock_guard calls(connection->calls);
  if (connection->ended) return;
  std::erase_if(connection->ids, [&](const verbs::ConnectionId& id) { return id.number() == event.id; });
}

// After a failed attempt sends wait in vain, until their patience is over. The program's calls go on meanwhile. What comes
// once the service ends belongs to the next one.
void Connections::take_events(Service& service) {
  while (auto event = service.channel.get_event(0ms)) {
    if (event->type == verbs::ConnectionEventType::kConnectRequest) on_request(service, std::move(*event));
    if (event->type == verbs::ConnectionEventType::kEstablished) on_established(service, *event);
    if (event->error) refused(kCall, *event->error);
  }
}

// The thread waits until next_ as it was under the mutex: an earlier time wakes it.
void Connections::look_by(Clock::time_point time) noexcept {
  if (time >= next_) return;
  next_ = time;
  service_->wake();
}

// Looks at all connections, but not before something is due. Under mutex_: no queue pair in the table ends.
EarlyRequests::Requests Connections::look_at_clock(Clock::time_point now) {
  if (now < next_) return {};
  auto late = early_.take_late(now);
  for (auto n = late.size(); n != 0; --n) tell_rejected("its queue pair did not reach RTR in time");
  for (auto& [number, connection] : connections_) {
    if (!connection || !connection->end || *connection->end > now) continue;
    connection->end.reset();
    connection->connects->give_up_connecting();
    if (connection->accepts != connection->connects) connection->accepts->give_up_connecting();
  }
  next_ = early_.next();
  for (const auto& [number, connection] : connections_) {
    if (connection) next_ = std::min(next_, connection->end.value_or(kNever));
  }
  return late;
}

// No wake-up is lost: both descriptors stay readable until this thread reads them, and what the program changed under the
// mutex before it wrote is seen after the read. Whoever makes something due earlier than next_ writes (look_by()).
void Connections::run(Service& service) noexcept {
  transport::block_signals();
  const rsockets::Inside until_the_end;
  for (int wait = 0;;) {
    std::array<pollfd, 2> ready{pollfd{.fd = service.channel.descriptor(), .events = POLLIN, .revents = 0},
                                pollfd{.fd = service.woken, .events = POLLIN, .revents = 0}};
    ::poll(ready.data(), ready.size(), wait);
    std::uint64_t times = 0;
    if (ready[1].revents != 0) static_cast<void>(!::read(service.woken, &times, sizeof times));
    const int done = guarded_minus_one([&] {
      take_events(service);
      EarlyRequests::Requests late;  // they end without the lock
      const std::lock_guard lock(mutex_);
      if (service.ends) return 1;
      late = look_at_clock(Clock::now());
      wait = rsockets::milliseconds_until(next_ == kNever ? std::nullopt : std::optional(next_));
      return 0;
    });
    if (done == 1) return;
    if (done != 0) wait = 100;  // without memory or descriptors there is a pause
  }
}

}  // namespace weft::compat::direct
