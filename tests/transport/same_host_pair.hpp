// SPDX-License-Identifier: Apache-2.0
// Two sessions over one file of rings in one process, and a third mapping of that file, by which a test plays a peer
// that does not keep to the rules.
#pragma once

#include <gtest/gtest.h>
#include <poll.h>
#include <sys/socket.h>
#include <unistd.h>

#include <array>
#include <cstddef>
#include <memory>
#include <utility>

#include "tests/transport/support.hpp"
#include "transport/same_host/offer.hpp"
#include "transport/same_host/session.hpp"

namespace weft::transport::same_host::test {

using namespace weft::transport::test;
using Status = IoResult::Status;

inline std::array<Socket, 2> doorbells() {
  std::array<int, 2> ends{};
  EXPECT_EQ(::socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0, ends.data()), 0);
  return {Socket::own(ends[0]), Socket::own(ends[1])};
}

// `a` writes the ring of the initiator.
struct SessionPair {
  static constexpr std::size_t kOctets = Memory::kLeastRing;

  std::unique_ptr<Memory> pages;
  std::unique_ptr<Session> a, b;

  explicit SessionPair(std::size_t octets = kOctets) {
    auto [memory, file] = std::move(Memory::create(octets)).value();
    auto [bell_a, bell_b] = doorbells();
    pages = std::make_unique<Memory>(Memory::map(file, octets).value());
    a = std::make_unique<Session>(std::move(memory), std::move(bell_a), Memory::From::kInitiator);
    b = std::make_unique<Session>(Memory::map(file, octets).value(), std::move(bell_b), Memory::From::kAcceptor);
    ::close(file);
  }
  [[nodiscard]] RingHeader& header(Memory::From from) const { return *pages->ring(from).header; }
};

inline IoResult put(Session& session, Bytes octets) { return session.write(std::span(&octets, 1)); }

inline IoResult get(Session& session, std::vector<std::byte>& into, std::size_t most) {
  std::vector<std::byte> place(most);
  const auto result = session.read(place, {});
  into.insert(into.end(), place.begin(), place.begin() + static_cast<std::ptrdiff_t>(result.octets));
  return result;
}

// An initiator of the test's own, connected to the place for offers beside a listener at `at`.
inline Socket connect_for_offers(const Endpoint& at) {
  const SocketName name = SocketName::of(at).value();
  auto socket = Socket::own(::socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0));
  EXPECT_EQ(::connect(socket.descriptor(), name.address(), SocketName::kLength), 0);
  return socket;
}

// Poll's events of a doorbell, within `patience`.
inline int events(const Session& session, std::chrono::milliseconds patience = {}) {
  pollfd bell{.fd = session.doorbell().descriptor(), .events = POLLIN | POLLRDHUP, .revents = 0};
  return ::poll(&bell, 1, static_cast<int>(patience.count())) == 1 ? bell.revents : 0;
}
inline bool has_rung(const Session& session) { return (events(session) & POLLIN) != 0; }

}  // namespace weft::transport::same_host::test
