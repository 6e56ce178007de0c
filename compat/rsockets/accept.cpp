// SPDX-License-Identifier: Apache-2.0
// raccept: a request becomes an rsocket, which is connected at once: what it sends waits for the peer, if it must.
#include "compat/rsockets/call.hpp"
#include "compat/rsockets/calls.hpp"

namespace weft::compat::rsockets {

namespace {

constexpr std::string_view kCall = "raccept";

// Nothing when this listener does not take the request: it is rejected, and the program goes on waiting for another.
std::optional<ConnectData> acceptable(const Socket& made, const verbs::ConnectionEvent& event) {
  const auto from = event.request->remote_address().address.family;
  if (made.domain == AF_INET6 && made.options.v6_only && from == transport::Family::kIpv4) return std::nullopt;
  const auto peer = decode_connect(event.private_data);
  if (!peer) refused(kCall, EPROTO, "a request that is no rsocket's of version 1 is rejected");
  return peer;
}

// 0 or an errno; ECONNABORTED: the peer is at fault.
int establish(Socket& self, verbs::ConnectionId request, const ConnectData& peer) {
  if (const auto moved = request.migrate(*self.events); !moved) return refused(kCall, moved.error());
  if (const int error = self.make_stream(request); error != 0) return error;
  Endpoint& endpoint = self.stream->endpoint();
  const auto offer = encode(endpoint.offer());
  if (const auto done = request.accept(endpoint.pair, {.private_data = offer}); !done) {
    refused(kCall, done.error());
    return ECONNABORTED;
  }
  self.stream->begin(peer);
  self.phase = Phase::kConnected;
  self.id.emplace(std::move(request));
  return 0;
}

// The number; 0 when the peer was at fault; -1 and errno.
int answer(std::shared_ptr<Socket> made, verbs::ConnectionEvent event, sockaddr* address, socklen_t* length) {
  const auto peer = acceptable(*made, event);
  if (!peer) return 0;  // dropping the request rejects it
  if (const int error = establish(*made, std::move(*event.request), *peer); error != 0) {
    return error == ECONNABORTED ? 0 : minus_one(error);
  }
  if (address != nullptr && give_address(made->id->remote_address(), made->domain, address, length) != 0) return -1;
  return enter(std::move(made));
}

}  // namespace

// The lock is not held while a request is answered: others may accept at the same time.
int accept(int number, sockaddr* address, socklen_t* length) {
  return waiting_on_socket(number, [&](Socket& listener, auto& lock) {
    if (listener.phase != Phase::kListening) return refused_minus_one(kCall, EINVAL, "it does not listen");
    for (;;) {
      listener.progress();
      if (listener.closing) return minus_one(EBADF);
      if (!listener.requests.empty()) {
        auto event = std::move(listener.requests.front());
        listener.requests.pop_front();
        auto made = Socket::make_like(listener);
        if (!made) return -1;
        lock.unlock();
        if (const int done = answer(std::move(made), std::move(event), address, length); done != 0) return done;
        lock.lock();
        continue;
      }
      if (listener.nonblocking) return minus_one(EAGAIN);
      if (const int error = listener.wait(lock); error != 0) return minus_one(error);
    }
  });
}

}  // namespace weft::compat::rsockets
