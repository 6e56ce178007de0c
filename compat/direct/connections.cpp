// SPDX-License-Identifier: Apache-2.0
#include "compat/direct/connections.hpp"

#include <pthread.h>
#include <sys/eventfd.h>
#include <unistd.h>

#include <algorithm>
#include <atomic>
#include <mutex>
#include <utility>

#include "compat/objects/settings.hpp"
#include "compat/one_of_process.hpp"
#include "transport/descriptor_limit.hpp"
#include "transport/own_descriptors.hpp"

namespace weft::compat::direct {

namespace {

std::atomic<Connections*>& connections_of_process() {
  static std::atomic<Connections*> one{nullptr};
  return one;
}

}  // namespace

Connections& Connections::of_process() {
  return one_of_process(connections_of_process(), [] {
    [[maybe_unused]] static const int watched = ::pthread_atfork(nullptr, nullptr, leave_to_parent);
    return new Connections;
  });
}

void Connections::leave_to_parent() noexcept {
  const Connections* const parents = connections_of_process().exchange(nullptr);
  if (parents != nullptr && parents->service_) ::close(parents->service_->woken);
}

// Early Requests have an eighth of the process's descriptors at most. Those that come have half
// (verbs/connecting/half_open.hpp).
Connections::Connections()
    : numbers_(compat::port_range()),
      early_(std::min(EarlyRequests::kMost, transport::part_of_descriptors(8, EarlyRequests::kMost))) {}

Connections::Service::Service(verbs::EventChannel made)
    : channel(std::move(made)), woken(transport::move_up(::eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK))) {}

Connections::Service::~Service() { ::close(woken); }

void Connections::Service::wake() const noexcept {
  const std::uint64_t one = 1;
  static_cast<void>(!::write(woken, &one, sizeof one));
}

verbs::Result<void> Connections::furnish() {
  if (service_) return {};
  auto made = verbs::EventChannel::create();
  if (!made) return std::unexpected(made.error());
  service_ = std::make_unique<Service>(std::move(*made));
  return {};
}

// --- The program's calls

verbs::Result<std::uint32_t> Connections::take_number(const verbs::Address& local) {
  const std::lock_guard lock(mutex_);
  if (const auto made = furnish(); !made) return std::unexpected(made.error());
  const auto number = numbers_.take(service_->channel, local);
  if (number) connections_[*number] = nullptr;
  if (connections_.empty()) service_.reset();
  return number;
}

void Connections::give_back(std::uint32_t number) {
  end(number);
  std::unique_ptr<Service> last;  // these end without the lock
  Numbers::Ports ports;
  EarlyRequests::Requests rejected;
  {
    const std::lock_guard lock(mutex_);
    connections_.erase(number);
    rejected = early_.take(number);
    rejected_ += rejected.size();
    numbers_.give_back(number);
    if (!connections_.empty()) return;
    ports = numbers_.release();
    std::swap(last, service_);
    if (!last) return;
    last->ends = true;
  }
  last->wake();
  if (last->thread.joinable()) last->thread.join();
}

verbs::Result<void> Connections::begin(const End& self, const Target& target, verbs::QueuePair& accepts,
                                       verbs::QueuePair& connects) {
  const auto connection = std::make_shared<Connection>();
  connection->self = self;
  connection->target = target;
  connection->accepts = &accepts;
  connection->connects = &connects;
  {
    const std::lock_guard lock(mutex_);
    if (const auto listens = numbers_.listen(self.number, connection_policy()); !listens) return listens;
    connections_[self.number] = connection;
    if (!service_->thread.joinable()) service_->thread = std::thread([this, it = service_.get()] { run(*it); });
  }
  start(*connection);
  return {};
}

std::shared_ptr<Connections::Connection> Connections::find(std::uint32_t number) const {
  const auto found = connections_.find(number);
  return found == connections_.end() ? nullptr : found->second;
}

void Connections::depart(std::uint32_t number, const Departure& departure) {
  std::shared_ptr<Connection> connection;
  {
    const std::lock_guard lock(mutex_);
    connection = find(number);
    if (!connection) return;
    connection->departure = departure;
    connection->retry.back_off = {};  // a Request can say more now
    if (connection->retry.at) look_by(*(connection->retry.at = Clock::now()));
  }
  if (!connection->sends->set(departure.sq_psn)) leave(*connection);
}

void Connections::wanted(std::uint32_t number) {
  const std::lock_guard lock(mutex_);
  const auto connection = find(number);
  if (!connection || connection->end || !connection->departure || !connection->departure->patience) return;
  connection->wanted_later = connection->paused;
  if (connection->paused) return;
  connection->end = Clock::now() + *connection->departure->patience;
  look_by(*connection->end);
}

void Connections::pause(std::uint32_t number) {
  const std::lock_guard lock(mutex_);
  const auto connection = find(number);
  if (!connection || std::exchange(connection->paused, true)) return;
  connection->wanted_later = connection->end.has_value();
  connection->end.reset();
}

void Connections::resume(std::uint32_t number) {
  bool wait = false;
  {
    const std::lock_guard lock(mutex_);
    const auto connection = find(number);
    if (!connection) return;
    connection->paused = false;
    wait = std::exchange(connection->wanted_later, false);
  }
  if (wait) wanted(number);
}

void Connections::end(std::uint32_t number) {
  std::shared_ptr<Connection> gone;
  {
    const std::lock_guard lock(mutex_);
    const auto found = connections_.find(number);
    if (found != connections_.end()) gone = std::move(found->second);
  }
  if (!gone) return;
  std::vector<verbs::ConnectionId> ids;  // they end the attempts, and may wait for the engine: without the lock
  const std::lock_guard lock(gone->calls);
  gone->ended = true;
  ids.swap(gone->ids);
}

}  // namespace weft::compat::direct
