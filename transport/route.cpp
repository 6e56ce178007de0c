// SPDX-License-Identifier: Apache-2.0
#include "transport/route.hpp"

#include <sys/socket.h>

#include <atomic>
#include <cstdint>
#include <memory>
#include <optional>

#include "transport/detail/last_error.hpp"
#include "transport/socket.hpp"

namespace weft::transport {

namespace {

using Clock = std::chrono::steady_clock;

// Connecting a UDP socket consults the routing table and sends nothing.
std::expected<Address, std::error_code> ask(const Address& remote) {
  constexpr std::uint16_t kAnyPort = 9;  // only not 0
  sockaddr_storage storage{};
  const socklen_t length = Endpoint{remote, kAnyPort}.to_sockaddr(storage);
  const Socket probe = Socket::own(::socket(storage.ss_family, SOCK_DGRAM | SOCK_CLOEXEC, 0));
  if (!probe.is_open()) return std::unexpected(last_error());
  if (::connect(probe.descriptor(), reinterpret_cast<const sockaddr*>(&storage), length) != 0) {
    return std::unexpected(last_error());
  }
  const auto own = probe.local();
  if (!own) return std::unexpected(own.error());
  return own->address;
}

// Tells the network namespace that a socket is in from all others. Linux 5.14; nothing before.
std::optional<std::uint64_t> namespace_of(const BoundSocket& socket) noexcept {
  std::uint64_t cookie = 0;
  socklen_t length = sizeof cookie;
  if (!socket.is_open()) return std::nullopt;
  if (getsockopt(socket.descriptor(), SOL_SOCKET, SO_NETNS_COOKIE, &cookie, &length) != 0) return std::nullopt;
  return cookie;
}

struct Answer {
  std::uint64_t network{};
  Address remote{};
  Address own{};
  Clock::time_point when{};
};

// The last one. A thread that looks at it takes it out, and puts it or another one in: no lock that a fork could find
// held.
std::atomic<Answer*>& kept() noexcept {
  static std::atomic<Answer*> last{nullptr};
  return last;
}

std::unique_ptr<Answer> take() noexcept { return std::unique_ptr<Answer>(kept().exchange(nullptr)); }

void keep(std::unique_ptr<Answer> answer) noexcept {
  const std::unique_ptr<Answer> other(kept().exchange(answer.release()));
}

}  // namespace

std::expected<Address, std::error_code> local_address_towards(const Address& remote, const BoundSocket& traveller,
                                                              Clock::time_point now) {
  const auto network = namespace_of(traveller);
  if (!network) return ask(remote);
  auto last = take();
  const bool known = last && last->network == *network && last->remote == remote && now - last->when < kRouteIsFresh;
  if (!known) {
    const auto own = ask(remote);
    if (!own) return own;
    if (!last) last = std::make_unique<Answer>();
    *last = {*network, remote, *own, now};
  }
  const Address own = last->own;
  keep(std::move(last));
  return own;
}

}  // namespace weft::transport
