// SPDX-License-Identifier: Apache-2.0
#include "transport/route.hpp"

#include <sys/socket.h>
#include <unistd.h>

#include <atomic>
#include <cstdint>
#include <memory>
#include <optional>
#include <utility>

#include "transport/detail/last_error.hpp"

namespace weft::transport {

namespace {

// Of the network namespace that a socket is in. Linux 5.14; nothing before.
std::optional<std::uint64_t> namespace_of(int descriptor) noexcept {
  std::uint64_t cookie = 0;
  socklen_t length = sizeof cookie;
  if (getsockopt(descriptor, SOL_SOCKET, SO_NETNS_COOKIE, &cookie, &length) != 0) return std::nullopt;
  return cookie;
}

// Connecting a UDP socket consults the routing table and sends nothing.
class Probe {
 public:
  [[nodiscard]] static std::expected<std::unique_ptr<Probe>, std::error_code> open(Family family) {
    const int descriptor = ::socket(family == Family::kIpv4 ? AF_INET : AF_INET6, SOCK_DGRAM | SOCK_CLOEXEC, 0);
    if (descriptor < 0) return std::unexpected(last_error());
    return std::make_unique<Probe>(descriptor);
  }
  explicit Probe(int descriptor) noexcept : descriptor_(descriptor), network_(namespace_of(descriptor)) {}
  // In a child of the process the descriptor is the parent's: if the child has closed all, it may be anything by now.
  ~Probe() {
    if (owner_ == ::getpid()) ::close(descriptor_);
  }
  Probe(const Probe&) = delete;
  Probe& operator=(const Probe&) = delete;

  [[nodiscard]] bool serves(std::optional<std::uint64_t> network) const noexcept {
    return network_ == network && owner_ == ::getpid();
  }

  std::expected<Address, std::error_code> ask(const Address& remote) {
    constexpr std::uint16_t kAnyPort = 9;  // only not 0
    sockaddr_storage storage{};
    socklen_t length = Endpoint{remote, kAnyPort}.to_sockaddr(storage);
    auto* address = reinterpret_cast<sockaddr*>(&storage);
    if (::connect(descriptor_, address, length) != 0) return std::unexpected(last_error());
    length = sizeof storage;
    if (getsockname(descriptor_, address, &length) != 0) return std::unexpected(last_error());
    const auto own = Endpoint::from_sockaddr(address, length);
    if (!own) return std::unexpected(own.error());
    return own->address;
  }

  // Else the next question would be put from the address of this answer.
  [[nodiscard]] bool forget() noexcept {
    sockaddr nowhere{};
    nowhere.sa_family = AF_UNSPEC;
    return ::connect(descriptor_, &nowhere, sizeof nowhere) == 0;
  }

 private:
  int descriptor_;
  std::optional<std::uint64_t> network_;
  pid_t owner_ = ::getpid();
};

// Who asks takes it out and puts it back, so that no two threads ask through one socket. Never destroyed, like its
// probe: threads may still ask while exit() runs.
using Slot = std::atomic<Probe*>;

Slot& kept(Family family) noexcept {
  static Slot v4{nullptr};
  static Slot v6{nullptr};
  return family == Family::kIpv4 ? v4 : v6;
}

std::unique_ptr<Probe> take(Slot& slot) noexcept { return std::unique_ptr<Probe>(slot.exchange(nullptr)); }

void keep(Slot& slot, std::unique_ptr<Probe> probe) noexcept {
  const std::unique_ptr<Probe> other(slot.exchange(probe.release()));
}

}  // namespace

std::expected<Address, std::error_code> local_address_towards(const Address& remote, const BoundSocket& traveller) {
  const auto network = traveller.is_open() ? namespace_of(traveller.descriptor()) : std::nullopt;
  Slot& slot = kept(remote.family);
  auto probe = network ? take(slot) : nullptr;
  if (probe && !probe->serves(network)) probe.reset();
  if (!probe) {
    auto fresh = Probe::open(remote.family);
    if (!fresh) return std::unexpected(fresh.error());
    probe = std::move(*fresh);
  }
  auto own = probe->ask(remote);
  if (own && network && probe->forget()) keep(slot, std::move(probe));
  return own;
}

}  // namespace weft::transport
