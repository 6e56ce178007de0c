// SPDX-License-Identifier: Apache-2.0
// rshutdown and rclose.
#include "compat/objects/settings.hpp"
#include "compat/rsockets/acceptor.hpp"
#include "compat/rsockets/call.hpp"
#include "compat/rsockets/calls.hpp"
#include "compat/rsockets/closer.hpp"
#include "compat/rsockets/epoll.hpp"

namespace weft::compat::rsockets {

namespace {

using Clock = std::chrono::steady_clock;

// Until the message has a place in the send queue. False: it never got one.
bool say(Socket& self, std::unique_lock<std::mutex>& lock, bool both, Deadline until) {
  while (!self.stream->shut_down(both)) {
    if (const int error = self.wait(lock, until); error != 0 && error != EINTR) return false;
  }
  return true;
}

// When both directions are over and all is sent, TCP's connection goes as well.
void end_connection(Socket& self) {
  const Stream& stream = *self.stream;
  if (stream.disconnect_sent() && !stream.lost() && stream.all_sent()) static_cast<void>(self.id->disconnect());
}

Deadline finish_time() { return Clock::now() + connection_policy().timeouts.finish; }

// The queue pair is about to go, and what is still in its send queue would go with it.
void finish_until(Socket& self, std::unique_lock<std::mutex>& lock, Deadline until) {
  Ending ending(until);
  while (!ending.step(self)) {
    const int error = self.wait(lock, ending.until());
    if (error != 0 && error != EINTR && error != EAGAIN) return;
  }
}

void finish(Socket& self, std::unique_lock<std::mutex>& lock) {
  const linger& wish = self.options.linger_close;
  if (wish.l_onoff == 0) return finish_until(self, lock, finish_time());
  if (wish.l_linger > 0) finish_until(self, lock, Clock::now() + std::chrono::seconds(wish.l_linger));  // else: reset
}

// Returns false if the closer does not take it. Its number is free at once, unless another thread of the program is in
// a call on it: that one still needs the number, until the connection has ended.
bool leave_to_closer(const std::shared_ptr<Socket>& socket) {
  Ending ending(finish_time());
  if (ending.step(*socket)) return true;
  const bool alone = socket.use_count() == 1;
  if (!Closer::of_process().take(socket, ending)) return false;
  if (alone) socket->close_number();
  return true;
}

void finish(const std::shared_ptr<Socket>& socket, std::unique_lock<std::mutex>& lock, bool at_once) {
  const bool waits = socket->options.linger_close.l_onoff != 0 || !(at_once || socket->nonblocking);
  if (waits || !leave_to_closer(socket)) finish(*socket, lock);
}

// The acceptor's lock comes before the listener's.
void forget_listener(Socket& self, std::unique_lock<std::mutex>& lock) {
  const int channel = self.listening->incoming.descriptor();
  lock.unlock();
  Acceptor::of_process().forget(channel);
  lock.lock();
}

// As shutdown(2) does: calls of accept() that wait return EINVAL, and clients are refused.
int stop_listening(Socket& self, std::unique_lock<std::mutex>& lock) {
  forget_listener(self, lock);
  if (self.phase != Phase::kListening) return 0;  // another thread did the same
  if (const int error = self.renew_id(); error != 0) return minus_one(error);
  auto ended = std::move(self.listening);
  self.wake_waiters();
  lock.unlock();
  ended.reset();  // ends the connections that nobody has accepted
  return 0;
}

// Threads that still wait for it find out that it is closing, and the last one of them frees it. A thread that is
// canceled meanwhile closes it all the same, without waiting any longer.
int close(int number, bool at_once) {
  return waiting_minus_one([&] {
    const Inside inside;
    leave_epoll_sets(number);
    const auto [socket, last] = remove(number);
    if (!socket) return close_datagram(number) || close_inherited(number) ? 0 : -1;
    if (!last) return 0;
    std::unique_lock lock(socket->mutex);
    socket->closing = true;
    if (socket->listening) forget_listener(*socket, lock);
    socket->wake_waiters();
    socket->progress();
    if (socket->phase == Phase::kConnected) finish(socket, lock, at_once);
    socket->wake_waiters();
    return 0;
  });
}

}  // namespace

int shutdown(int number, int how) {
  return waiting_on_socket(
      number,
      [&](Socket& self, auto& lock) {
        if (how != SHUT_RD && how != SHUT_WR && how != SHUT_RDWR) return minus_one(EINVAL);
        self.progress();
        if (self.phase == Phase::kListening) return how == SHUT_WR ? 0 : stop_listening(self, lock);
        if (self.phase != Phase::kConnected) return minus_one(ENOTCONN);
        self.read_shut = self.read_shut || how != SHUT_WR;
        const bool was_over = self.stream->outbound_over();
        if (how == SHUT_RD && !was_over) return 0;
        if (self.nonblocking) self.stream->shut_down_soon(self.read_shut);
        const bool said = self.nonblocking || say(self, lock, self.read_shut, finish_time());
        end_connection(self);
        self.wake_waiters();
        return said ? 0 : minus_one(ETIMEDOUT);
      },
      [&] { return ::shutdown(number, how); });
}

int close(int number) { return close(number, false); }

int close_at_once(int number) { return close(number, true); }

// Other threads may still run: an rsocket that one of them uses is left alone.
void finish_all_at_exit() noexcept {
  static_cast<void>(guarded_minus_one([] {
    const Inside inside;
    const Deadline until = Clock::now() + std::chrono::seconds(1);
    for (const auto& socket : all_sockets()) {
      std::unique_lock lock(socket->mutex, std::try_to_lock);
      if (!lock) continue;
      socket->progress();
      if (socket->phase == Phase::kConnected) finish_until(*socket, lock, until);
    }
    return 0;
  }));
  wait_for_closed();
}

// Looks again and again: this may be a signal handler, or a process that is short of everything. The closer has a time
// for each connection; the one here is for the case that its thread cannot run.
void wait_for_closed() noexcept {
  if (Closer::count() == 0) return;
  const Inside inside;
  const Deadline until = finish_time();
  while (Closer::count() != 0 && Clock::now() < *until) ::poll(nullptr, 0, 1);
}

}  // namespace weft::compat::rsockets
