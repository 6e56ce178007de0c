// SPDX-License-Identifier: Apache-2.0
// raccept: takes a connection that the acceptor has made. What it sends waits for the peer, if it must.
#include <poll.h>

#include "compat/rsockets/acceptor.hpp"
#include "compat/rsockets/call.hpp"
#include "compat/rsockets/calls.hpp"

namespace weft::compat::rsockets {

namespace {

int hand_over(std::shared_ptr<Socket> made, sockaddr* address, socklen_t* length) {
  if (address != nullptr && give_address(made->id->remote_address(), made->domain, address, length) != 0) return -1;
  made->take_number();
  return enter(std::move(made));
}

}  // namespace

int accept(int number, sockaddr* address, socklen_t* length) {
  return waiting_on_socket(number, [&](Socket& listener, auto& lock) {
    if (listener.phase != Phase::kListening) return refused_minus_one("raccept", EINVAL, "it does not listen");
    const Deadline until = deadline_of(listener.options.receive_time);
    for (;;) {
      listener.progress();
      if (listener.closing) return minus_one(EBADF);
      if (listener.phase != Phase::kListening) return minus_one(EINVAL);  // after shutdown()
      if (auto made = listener.take_accepted()) {
        Acceptor::of_process().resume(listener);
        lock.unlock();
        return hand_over(std::move(made), address, length);
      }
      if (listener.nonblocking) return minus_one(EAGAIN);
      if (const int error = listener.wait(lock, until); error != 0) return minus_one(error);
    }
  });
}

}  // namespace weft::compat::rsockets
