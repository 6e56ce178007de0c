// SPDX-License-Identifier: Apache-2.0
#include "compat/rsockets/socket.hpp"

#include <fcntl.h>
#include <poll.h>
#include <sys/epoll.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <thread>
#include <utility>

#include "compat/objects/context.hpp"
#include "compat/objects/report.hpp"
#include "compat/objects/settings.hpp"
#include "transport/own_descriptors.hpp"

namespace weft::compat::rsockets {

Socket::Socket(int family) : domain(family), number_(::epoll_create1(EPOLL_CLOEXEC)) {}

// The queue pair before the identifier, and both before the kernel may give the number to another file.
Socket::~Socket() {
  if (listening) listening->accepted.clear();
  stream.reset();
  id.reset();
  listening.reset();
  events.reset();
  close_number();
}

std::optional<verbs::EventChannel> Socket::open_events() {
  auto events = verbs::EventChannel::create();
  if (!events) return refused_null("rsocket", events.error()), std::nullopt;
  if (::fcntl(events->descriptor(), F_SETFL, O_NONBLOCK) == 0) return std::move(*events);
  refused("rsocket", errno, "an event channel cannot be made non-blocking");
  return std::nullopt;
}

std::shared_ptr<Socket> Socket::make(int domain) {
  connection_policy();  // so that log and capture are set
  auto made = std::make_shared<Socket>(domain);
  if (made->number_ < 0 || made->waiters_.descriptor() < 0) {
    return refused_null("rsocket", EMFILE, "no descriptor is left");
  }
  made->events = open_events();
  if (!made->events) return nullptr;
  made->watch(made->waiters_.descriptor());
  made->watch(made->events->descriptor());
  return made;
}

std::shared_ptr<Socket> Socket::make_like(const Socket& listener) {
  auto made = make(listener.domain);
  if (!made) return nullptr;
  made->sizes = listener.sizes;
  made->options = listener.options;
  made->number_ = transport::move_up(made->number_);
  return made;
}

void Socket::take_number() noexcept {
  const int lowest = ::fcntl(number_, F_DUPFD_CLOEXEC, 0);
  if (lowest < 0) return;
  ::close(number_);
  number_ = lowest;
}

void Socket::watch(int descriptor) const {
  epoll_event interest{.events = EPOLLIN, .data = {.fd = descriptor}};
  ::epoll_ctl(number_, EPOLL_CTL_ADD, descriptor, &interest);
}

int Socket::renew_id() {
  auto made = verbs::ConnectionId::create(*events);
  if (!made) return refused("rsocket", made.error());
  if (const auto set = made->set_policy(connection_policy()); !set) return refused("rsocket", set.error());
  stream.reset();
  id.emplace(std::move(*made));
  phase = Phase::kFresh;
  return 0;
}

bool Socket::hide_number() noexcept {
  if (hidden_) return true;
  const int own = ::fcntl(number_, F_DUPFD_CLOEXEC, transport::kFirstOwnDescriptor);
  if (own < 0) return false;
  number_ = own;
  hidden_ = true;
  return true;
}

void Socket::close_number() noexcept {
  if (number_ >= 0) ::close(std::exchange(number_, -1));
}

int Socket::make_stream(verbs::ConnectionId& of) {
  Device* const device = find_device(of.local_address().address);
  if (device == nullptr) return refused("rsocket", ENODEV, "the local address has no device");
  Context* const context = shared_context(*device);
  Pd* const domain_of = context != nullptr ? shared_domain(*context) : nullptr;
  if (domain_of == nullptr) return errno;
  auto endpoint = Endpoint::make(context->engine, domain_of->engine, sizes);
  if (!endpoint) return refused("rsocket", endpoint.error());
  watch((*endpoint)->channel.descriptor());
  stream = std::make_unique<Stream>(std::move(*endpoint));
  return 0;
}

// --- What happens

void Socket::progress(bool also_events) {
  if (listening && std::exchange(listening->held, false)) static_cast<void>(id->hold_requests(false));
  bool any = stream && stream->progress();
  if (also_events || phase != Phase::kConnected) any = take_events() || any;
  nothing_ = any ? 0 : nothing_ + 1;
  if (any) wake_waiters();
}

void Socket::let_others_run(std::unique_lock<std::mutex>& lock) const {
  constexpr unsigned kSpins = 32;
  const bool spins = nothing_ > kSpins;
  lock.unlock();
  if (spins) std::this_thread::yield();
}

bool Socket::take_events() {
  bool any = false;
  while (auto event = events->get_event()) {
    on(std::move(*event));
    any = true;
  }
  return any;
}

void Socket::on(verbs::ConnectionEvent event) {
  using enum verbs::ConnectionEventType;
  switch (event.type) {
    case kConnectRequest: return;  // a listener's come to `listening->incoming`
    case kEstablished: {
      if (phase != Phase::kConnecting) return;  // raccept knows already
      const auto peer = decode_connect(event.private_data);
      if (!peer) return fail(refused("rconnect", EPROTO, "the peer is no rsocket of version 1"));
      stream->begin(*peer);
      phase = Phase::kConnected;
      stream->progress();
      return;
    }
    case kRejected: return fail(ECONNREFUSED);
    case kUnreachable:
    case kConnectError:
    case kAddressError:
    case kRouteError: return fail(event.error ? event.error->to_errno() : ECONNREFUSED);
    case kDisconnected:
    case kDeviceRemoval:
      if (!stream) return;
      stream->progress();  // what came before it
      stream->connection_lost();
      return;
    case kAddressResolved:
    case kRouteResolved:
    case kMulticastJoin:
    case kTimewaitExit: return;
  }
}

void Socket::fail(int error) noexcept {
  if (phase == Phase::kConnected) {  // accepted, and its peer went before it was established
    if (stream) stream->connection_lost();
    return;
  }
  phase = Phase::kFailed;
  error_ = error;
}

int Socket::take_error() noexcept {
  if (stream && stream->take_failure()) return ECONNRESET;
  return std::exchange(error_, 0);
}

// --- Waiting

bool Socket::prepare_wait() {
  if (stream) stream->arm();
  bool any = stream && stream->progress();
  any = take_events() || any;
  if (any) wake_waiters();
  return !any;
}

void Socket::wake_waiters() noexcept {
  waiters_.wake_all();
  for (const auto& [observer, number] : observers_) observer->woken(number);
  observers_.clear();
}

bool Socket::forget(const Observer& by, int number) noexcept {
  return std::erase_if(observers_, [&](const auto& one) { return one.first == &by && one.second == number; }) != 0;
}

void Socket::end_wait() {
  waiters_.leave();
  progress(true);
}

// Without the lock, and then with it again; also when the thread is canceled.
class Socket::Sleep {
 public:
  Sleep(Socket& socket, std::unique_lock<std::mutex>& lock) : socket_(socket), lock_(lock) {
    socket_.begin_wait();
    lock_.unlock();
  }
  ~Sleep() {
    lock_.lock();
    static_cast<void>(guarded_minus_one([this] {  // without memory, the next call finds what there is
      socket_.end_wait();
      return 0;
    }));
  }
  Sleep(const Sleep&) = delete;
  Sleep& operator=(const Sleep&) = delete;

 private:
  Socket& socket_;
  std::unique_lock<std::mutex>& lock_;
};

int Socket::wait(std::unique_lock<std::mutex>& lock, Deadline until) {
  if (!prepare_wait()) {
    // Other threads of the program get their turn, and the time is over also while the peer sends without end.
    lock.unlock();
    lock.lock();
    return milliseconds_until(until) == 0 ? EAGAIN : 0;
  }
  const Sleep until_return(*this, lock);
  pollfd waiting{.fd = number_, .events = POLLIN, .revents = 0};
  const int ready = wait_for([&] { return ::poll(&waiting, 1, milliseconds_until(until)); });
  return ready > 0 ? 0 : ready == 0 ? EAGAIN : errno;
}

Socket::Edge Socket::edge() {
  if (counts_.wants_room && (readiness() & POLLOUT) != 0) {
    counts_.wants_room = false;
    ++counts_.rooms;
  }
  return {.phase = phase, .arrivals = counts_.accepted + (stream ? stream->arrivals() : 0), .rooms = counts_.rooms};
}

short Socket::readiness() {
  switch (phase) {
    case Phase::kFresh:
    case Phase::kBound: return POLLOUT | POLLHUP;
    case Phase::kListening: return accepted_count() != 0 ? short{POLLIN} : short{0};
    case Phase::kConnecting: return 0;
    case Phase::kFailed: return error_ != 0 ? POLLIN | POLLOUT | POLLERR | POLLHUP : POLLIN | POLLOUT | POLLHUP;
    case Phase::kConnected: break;
  }
  int ready = 0;
  if (stream->unread() != 0 || stream->inbound_over() || read_shut) ready |= POLLIN;
  if (stream->may_send() || stream->outbound_over()) ready |= POLLOUT;
  if (stream->inbound_over()) ready |= POLLRDHUP;
  if (stream->failed()) ready |= POLLERR;
  if (stream->unread() == 0 && stream->inbound_over() && stream->outbound_over()) ready |= POLLHUP;
  return static_cast<short>(ready);
}

}  // namespace weft::compat::rsockets
