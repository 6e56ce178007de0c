// SPDX-License-Identifier: Apache-2.0
// How a direct connection is made, and what its events lead to.

#include <algorithm>
#include <iterator>
#include <mutex>
#include <string>
#include <utility>

#include "compat/direct/connections.hpp"
#include "compat/objects/report.hpp"
#include "compat/objects/settings.hpp"

namespace weft::compat::direct {

// --- Making the connection

namespace {

using namespace std::chrono_literals;

constexpr std::string_view kCall = "ibv_modify_qp";
// A peer may listen later than its program told its number.
constexpr auto kLongestRetry = 5min;
constexpr auto kLongestBackOff = 64ms;

bool admits_reply(std::span<const std::byte> private_data, const Greeting& own, FirstNumber& sends) {
  const auto peers = decode(private_data);
  return peers && judge(*peers, own) != Verdict::kOther && sends.expect(*peers->rq_psn);
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

// Starts one connection attempt. On failure, the log has the reason, and posted sends wait until their patience is
// over. admits_reply rejects any responder but the end that the program named: another implementation would not combine
// messages, and no other end may get the program's octets. service_ cannot be null here: it exists while a queue pair
// number is taken, and a connection's number is returned after its end().
void Connections::connect(Connection& connection) {
  if (!is_unconnected(connection.connects->state())) return;
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

// Starts to connect, if this end is the one that does, and judges the early Requests that name this queue pair. The
// latest comes first: if the peer began more than once, its last Request is the valid one.
void Connections::start(Connection& connection) {
  EarlyRequests::Requests waiting;
  {
    const std::lock_guard lock(mutex_);
    connection.started = true;
    connection.retry.begun = Clock::now();
    waiting = early_.take(connection.self.number);
  }
  const std::lock_guard calls(connection.calls);
  if (connection.ended) return;
  if (connection.self <= connection.target.peer) connect(connection);
  for (const EarlyRequests::Request& one : waiting) accept(connection, one.greeting, *one.id);
}

// Called when the packet sequence numbers differ: closes the connection. No later attempt can succeed.
void Connections::leave(Connection& connection) {
  refused(kCall, EINVAL, "sq_psn: the peer expects another packet sequence number");
  const std::lock_guard calls(connection.calls);
  if (connection.ended) return;
  connection.accepts->leave_peer();
  if (connection.connects != connection.accepts) connection.connects->leave_peer();
}

// Accepts or rejects a Request. A connection that ends leaves the queue pair free again, so a wrong peer blocks the
// right one only while it is connected.
void Connections::accept(Connection& connection, const Greeting& greeting, verbs::ConnectionId& request) {
  const Greeting own = greeting_of(connection);
  const bool due = is_unconnected(connection.accepts->state()) && connection.target.peer <= connection.self;
  const Verdict verdict = due ? judge(greeting, own) : Verdict::kOther;
  if (verdict == Verdict::kUnverified) return tell_rejected("no packet sequence number can be compared yet");
  if (verdict == Verdict::kOther || !connection.sends->expect(*greeting.rq_psn)) {
    return tell_rejected("not from the expected peer");
  }
  const auto octets = encode(own);
  request.set_context(connection.self.number);
  const auto done =
      request.accept(*connection.accepts, {.private_data = octets, .ird = connection.target.ird_granted()});
  if (!done) {
    refused(kCall, done.error());
    return;
  }
  connection.ids.push_back(std::move(request));
}

// Logs a rejected Request. The count includes rate-limited lines.
void Connections::tell_rejected(std::string_view reason) {
  const auto count = rejected_.fetch_add(1) + 1;
  refused(kCall, ECONNREFUSED,
          "MPA Request rejected: " + std::string(reason) + " (number " + std::to_string(count) + " of this process)");
}

// --- The thread

// The connection that is to accept it now, if there is one. A Request that is too early waits, and others may have to
// go.
std::shared_ptr<Connections::Connection> Connections::ready_for(const std::optional<Greeting>& greeting,
                                                                verbs::ConnectionEvent& event,
                                                                EarlyRequests::Requests& gone) {
  const auto found = greeting ? connections_.find(greeting->to.number) : connections_.end();
  if (found == connections_.end()) {
    tell_rejected("it names no queue pair of this process");
    return nullptr;
  }
  if (found->second && found->second->started) return found->second;
  gone = early_.add(*greeting, std::move(event.request), Clock::now());
  for (auto n = gone.size(); n != 0; --n) tell_rejected("too many early Requests");
  look_by(early_.next());
  return nullptr;
}

// The address that it names is that of TCP as well, so that nobody elsewhere can take the peer's place, or the places
// where Requests wait.
void Connections::on_request(const Service& service, verbs::ConnectionEvent event) {
  const auto greeting = decode(event.private_data);
  if (greeting && greeting->from.address != event.request->remote_address().address) {
    return tell_rejected("it does not come from the address that it names");
  }
  std::shared_ptr<Connection> connection;
  EarlyRequests::Requests gone;  // they end without the lock
  {
    const std::lock_guard lock(mutex_);
    if (service.ends) return;
    connection = ready_for(greeting, event, gone);
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

// The peer may not have come as far as this end, or others may have its places: another attempt follows, as an adapter
// sends again. True: this is the first, so that the log has one line.
bool Connections::try_again(Connection& connection) {
  const std::lock_guard lock(mutex_);
  Connection::Retry& retry = connection.retry;
  const auto now = Clock::now();
  if (now - retry.begun > kLongestRetry) return true;
  retry.at = now + retry.back_off;
  retry.back_off = std::clamp<std::chrono::milliseconds>(2 * retry.back_off, 1ms, kLongestBackOff);
  look_by(*retry.at);
  return !std::exchange(retry.told, true);
}

// True: the log is to tell of it.
bool Connections::on_failed(const Service& service, const verbs::ConnectionEvent& event) {
  std::shared_ptr<Connection> connection;
  {
    const std::lock_guard lock(mutex_);
    if (service.ends) return true;
    connection = find(static_cast<std::uint32_t>(event.context));
    if (!connection) return true;
  }
  const std::lock_guard calls(connection->calls);
  if (connection->ended) return true;
  const auto of_event = [&](const verbs::ConnectionId& id) { return id.number() == event.id; };
  if (std::erase_if(connection->ids, of_event) == 0) return true;
  const bool absent =
      event.type == verbs::ConnectionEventType::kRejected || event.type == verbs::ConnectionEventType::kUnreachable;
  return !absent || try_again(*connection);
}

// The program's calls go on meanwhile. What comes once the service ends belongs to the next one.
void Connections::take_events(Service& service) {
  while (auto event = service.channel.get_event(0ms)) {
    const auto& error = event->error;
    if (event->type == verbs::ConnectionEventType::kConnectRequest) on_request(service, std::move(*event));
    if (event->type == verbs::ConnectionEventType::kEstablished) on_established(service, *event);
    if (error && on_failed(service, *event)) refused(kCall, *error);
  }
}

}  // namespace weft::compat::direct
