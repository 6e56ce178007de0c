// SPDX-License-Identifier: Apache-2.0
// rconnect: the address and route are resolved within the call, for only the kernel is asked; the connection is waited
// for, or not.
#include "compat/rsockets/call.hpp"
#include "compat/rsockets/calls.hpp"

namespace weft::compat::rsockets {

namespace {

constexpr std::chrono::milliseconds kResolveTime{5000};  // only our own progress thread is waited for
// Some adapters answer the ready-to-receive handshake with an RDMA Read of no octets.
constexpr std::uint32_t kReads = 1;

// Returns 0 or an errno.
int expect(Socket& self, verbs::ConnectionEventType wanted) {
  const auto event = self.events->get_event(kResolveTime);
  if (!event) return refused("rconnect", event.error());
  if (event->type == wanted) return 0;
  return event->error ? refused("rconnect", *event->error) : EHOSTUNREACH;
}

int resolve(Socket& self, const verbs::Endpoint& to) {
  using enum verbs::ConnectionEventType;
  if (const auto asked = self.id->resolve_address(to); !asked) return refused("rconnect", asked.error());
  if (const int error = expect(self, kAddressResolved); error != 0) return error;
  if (const auto asked = self.id->resolve_route(); !asked) return refused("rconnect", asked.error());
  return expect(self, kRouteResolved);
}

int begin(Socket& self, const verbs::Endpoint& to) {
  if (const int error = resolve(self, to); error != 0) return error;
  if (const int error = self.make_stream(*self.id); error != 0) return error;
  const auto offer = encode(self.stream->endpoint().offer());
  const auto begun =
      self.id->connect(self.stream->endpoint().pair, {.private_data = offer, .ird = kReads, .ord = kReads});
  if (!begun) return refused("rconnect", begun.error());
  self.phase = Phase::kConnecting;
  return 0;
}

// A failed attempt leaves nothing behind that the next one could trip over.
int start(Socket& self, const verbs::Endpoint& to) {
  if (self.phase == Phase::kFailed) {
    if (const int error = self.renew_id(); error != 0) return error;
  }
  const int error = begin(self, to);
  if (error != 0) self.renew_id();
  return error;
}

int finish(Socket& self, std::unique_lock<std::mutex>& lock, int without_waiting) {
  for (;;) {
    self.progress();
    if (self.closing) return minus_one(EBADF);
    if (self.phase == Phase::kConnected) return 0;
    if (self.phase == Phase::kFailed) return minus_one(self.take_error());
    if (self.nonblocking) return minus_one(without_waiting);
    if (const int error = self.wait(lock); error != 0) return minus_one(error);
  }
}

}  // namespace

int connect(int number, const sockaddr* address, socklen_t length) {
  return waiting_on_socket(
      number,
      [&](Socket& self, auto& lock) {
        const auto to = endpoint(address, length, self.domain);
        if (!to) return -1;
        if (self.phase == Phase::kConnected) return minus_one(EISCONN);
        if (self.phase == Phase::kListening) return refused_minus_one("rconnect", EOPNOTSUPP, "it listens");
        if (self.phase == Phase::kConnecting) return finish(self, lock, EALREADY);
        if (const int error = self.phase == Phase::kFailed ? self.take_error() : 0; error != 0) return minus_one(error);
        if (to->port == 0) return minus_one(ECONNREFUSED);
        if (const int error = start(self, *to); error != 0) return minus_one(error);
        if (self.nonblocking) return minus_one(EINPROGRESS);
        return finish(self, lock, EINPROGRESS);
      },
      [&] { return ::connect(number, address, length); });
}

}  // namespace weft::compat::rsockets
