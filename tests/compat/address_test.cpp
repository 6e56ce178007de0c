// SPDX-License-Identifier: Apache-2.0
// Ports and options of identifiers, as the kernel sees them.
#include <arpa/inet.h>
#include <dlfcn.h>
#include <gtest/gtest.h>
#include <ifaddrs.h>
#include <net/if.h>
#include <netinet/in.h>
#include <poll.h>
#include <rdma/rdma_cma.h>
#include <sys/socket.h>
#include <unistd.h>

#include <cerrno>
#include <memory>
#include <stdexcept>
#include <vector>

namespace {

constexpr int kPatience = 10000;  // ms

struct Id {
  explicit Id(rdma_event_channel* channel) { EXPECT_EQ(rdma_create_id(channel, &id, nullptr, RDMA_PS_TCP), 0); }
  ~Id() {
    rdma_destroy_qp(id);
    rdma_destroy_id(id);
  }
  Id(const Id&) = delete;
  Id& operator=(const Id&) = delete;

  [[nodiscard]] std::uint16_t port() const { return ntohs(rdma_get_src_port(id)); }
  int set(int name, int value) const { return rdma_set_option(id, RDMA_OPTION_ID, name, &value, sizeof value); }
  int set(int name, std::uint8_t value) const {
    return rdma_set_option(id, RDMA_OPTION_ID, name, &value, sizeof value);
  }
  rdma_cm_id* id = nullptr;
};

sockaddr_in at(std::uint16_t port, std::uint32_t address = INADDR_LOOPBACK) {
  sockaddr_in made{};
  made.sin_family = AF_INET;
  made.sin_port = htons(port);
  made.sin_addr.s_addr = htonl(address);
  return made;
}

sockaddr_in6 at6(std::uint16_t port, const in6_addr& address) {
  sockaddr_in6 made{};
  made.sin6_family = AF_INET6;
  made.sin6_port = htons(port);
  made.sin6_addr = address;
  return made;
}

template <typename Address>
sockaddr* generic(Address& address) {
  return reinterpret_cast<sockaddr*>(&address);
}

template <typename Address>
int bind_to(const Id& id, Address address) {
  return rdma_bind_addr(id.id, generic(address));
}

// A descriptor of a plain socket that is bound there, or -1 and errno.
int plain_bind(std::uint16_t port, bool reuse) {
  const int descriptor = ::socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);
  const int on = reuse ? 1 : 0;
  setsockopt(descriptor, SOL_SOCKET, SO_REUSEADDR, &on, sizeof on);
  auto address = at(port);
  if (::bind(descriptor, generic(address), sizeof address) == 0) return descriptor;
  const int error = errno;
  ::close(descriptor);
  errno = error;
  return -1;
}

// This process's socket with these ports; -1: none.
int find_socket(std::uint16_t local, std::uint16_t peer) {
  const auto port_of = [](int descriptor, auto name) -> int {
    sockaddr_in6 address{};
    socklen_t length = sizeof address;
    if (name(descriptor, reinterpret_cast<sockaddr*>(&address), &length) != 0) return 0;
    return ntohs(address.sin6_port);  // where sockaddr_in has it, too
  };
  for (int descriptor = 0; descriptor < 1024; ++descriptor) {
    if (port_of(descriptor, getsockname) == local && port_of(descriptor, getpeername) == peer) return descriptor;
  }
  return -1;
}

int option(int descriptor, int level, int name) {
  int value = -1;
  socklen_t length = sizeof value;
  getsockopt(descriptor, level, name, &value, &length);
  return value;
}

struct Addresses : testing::Test {
  rdma_event_channel* const channel = rdma_create_event_channel();
  ~Addresses() override { rdma_destroy_event_channel(channel); }

  // The identifier of a connection request, otherwise null.
  rdma_cm_id* expect(rdma_cm_event_type type) const {
    pollfd waiting{.fd = channel->fd, .events = POLLIN, .revents = 0};
    if (poll(&waiting, 1, kPatience) != 1) {
      ADD_FAILURE() << "no " << rdma_event_str(type);
      return nullptr;
    }
    rdma_cm_event* event = nullptr;
    EXPECT_EQ(rdma_get_cm_event(channel, &event), 0);
    EXPECT_STREQ(rdma_event_str(event->event), rdma_event_str(type));
    rdma_cm_id* const about = type == RDMA_CM_EVENT_CONNECT_REQUEST ? event->id : nullptr;
    rdma_ack_cm_event(event);
    return about;
  }
  template <typename Address>
  void resolve(const Id& id, Address to) const {
    ASSERT_EQ(rdma_resolve_addr(id.id, nullptr, generic(to), kPatience), 0);
    expect(RDMA_CM_EVENT_ADDR_RESOLVED);
  }
  void connect(const Id& id) const {
    ibv_qp_init_attr attributes{};
    attributes.qp_type = IBV_QPT_RC;
    attributes.cap = {.max_send_wr = 1, .max_recv_wr = 1, .max_send_sge = 1, .max_recv_sge = 1, .max_inline_data = 0};
    ASSERT_EQ(rdma_resolve_route(id.id, kPatience), 0);
    expect(RDMA_CM_EVENT_ROUTE_RESOLVED);
    ASSERT_EQ(rdma_create_qp(id.id, nullptr, &attributes), 0);
    ASSERT_EQ(rdma_connect(id.id, nullptr), 0);
  }
};

TEST_F(Addresses, TheSourcePortIsKnownWhenTheAddressIsResolved) {
  const int server = plain_bind(0, false);
  ASSERT_EQ(::listen(server, 1), 0);
  sockaddr_in address{};
  socklen_t length = sizeof address;
  ASSERT_EQ(getsockname(server, generic(address), &length), 0);
  const Id id(channel);
  resolve(id, address);
  const std::uint16_t port = id.port();
  EXPECT_NE(port, 0);
  // No other socket gets it, whether that one shares ports or not.
  for (const bool reuse : {false, true}) {
    EXPECT_EQ(plain_bind(port, reuse), -1);
    EXPECT_EQ(errno, EADDRINUSE);
  }
  const Id other(channel);
  EXPECT_EQ(bind_to(other, at(port)), -1);
  EXPECT_EQ(errno, EADDRINUSE);
  // And it is the one that the peer sees.
  connect(id);
  length = sizeof address;
  const int accepted = ::accept(server, generic(address), &length);
  EXPECT_EQ(ntohs(address.sin_port), port);
  EXPECT_EQ(id.port(), port);
  ::close(accepted);
  ::close(server);
}

TEST_F(Addresses, ABoundPortIsKnownAtOnceAndKept) {
  const Id id(channel);
  ASSERT_EQ(bind_to(id, at(0)), 0);
  const std::uint16_t port = id.port();
  EXPECT_NE(port, 0);
  EXPECT_EQ(plain_bind(port, true), -1);
  EXPECT_EQ(errno, EADDRINUSE);
  ASSERT_EQ(rdma_listen(id.id, 1), 0);
  EXPECT_EQ(id.port(), port);
  EXPECT_NE(find_socket(port, 0), -1);
}

// What a wildcard was bound to goes along to the family of the destination.
TEST_F(Addresses, AnIpv6WildcardKeepsItsPortTowardsIpv4) {
  const Id id(channel);
  if (bind_to(id, at6(0, in6addr_any)) != 0) GTEST_SKIP() << "SKIPPED: this host has no IPv6";
  const std::uint16_t port = id.port();
  const int server = plain_bind(0, false);
  ASSERT_EQ(::listen(server, 1), 0);
  sockaddr_in address{};
  socklen_t length = sizeof address;
  ASSERT_EQ(getsockname(server, generic(address), &length), 0);
  resolve(id, address);
  EXPECT_EQ(id.port(), port);
  EXPECT_EQ(plain_bind(port, true), -1);
  connect(id);
  length = sizeof address;
  const int accepted = ::accept(server, generic(address), &length);
  EXPECT_EQ(ntohs(address.sin_port), port);
  ::close(accepted);
  ::close(server);
}

TEST_F(Addresses, ReuseAddressSharesAPortUntilSomebodyListens) {
  const Id first(channel), second(channel);
  ASSERT_EQ(bind_to(first, at(0)), 0);
  ASSERT_EQ(second.set(RDMA_OPTION_ID_REUSEADDR, 1), 0);
  EXPECT_EQ(bind_to(second, at(first.port())), -1) << "the first one does not share";
  EXPECT_EQ(errno, EADDRINUSE);
  ASSERT_EQ(first.set(RDMA_OPTION_ID_REUSEADDR, 1), 0);
  ASSERT_EQ(bind_to(second, at(first.port())), 0);
  ASSERT_EQ(rdma_listen(first.id, 1), 0);
  EXPECT_EQ(rdma_listen(second.id, 1), -1);
  EXPECT_EQ(errno, EADDRINUSE);
}

// Whether an IPv6 wildcard is for IPv4 too: before it is bound, after that, and as it comes.
TEST_F(Addresses, AddressFamilyOnly) {
  for (const int when : {0, 1, 2}) {
    const Id listener(channel);
    if (when == 0) {
      EXPECT_EQ(listener.set(RDMA_OPTION_ID_AFONLY, 1), 0);
    }
    if (bind_to(listener, at6(0, in6addr_any)) != 0) GTEST_SKIP() << "SKIPPED: this host has no IPv6";
    const std::uint16_t port = listener.port();
    if (when == 1) {
      EXPECT_EQ(listener.set(RDMA_OPTION_ID_AFONLY, 1), 0);
    }
    EXPECT_EQ(listener.port(), port);
    ASSERT_EQ(rdma_listen(listener.id, 1), 0);
    const int descriptor = find_socket(port, 0);
    ASSERT_NE(descriptor, -1);
    const int fresh = ::socket(AF_INET6, SOCK_STREAM | SOCK_CLOEXEC, 0);
    const int system = option(fresh, IPPROTO_IPV6, IPV6_V6ONLY);
    ::close(fresh);
    EXPECT_EQ(option(descriptor, IPPROTO_IPV6, IPV6_V6ONLY), when == 2 ? system : 1);
    EXPECT_EQ(listener.set(RDMA_OPTION_ID_AFONLY, 0), -1) << "too late";
  }
}

// Of the listener's socket, of what it accepts, and of a connection that is asked for; IPv4, and IPv6.
TEST_F(Addresses, TypeOfServiceReachesTheSockets) {
  for (const bool v6 : {false, true}) {
    const int level = v6 ? IPPROTO_IPV6 : IPPROTO_IP, name = v6 ? IPV6_TCLASS : IP_TOS;
    const Id listener(channel), client(channel);
    ASSERT_EQ(listener.set(RDMA_OPTION_ID_TOS, std::uint8_t{0x48}), 0);
    const int bound = v6 ? bind_to(listener, at6(0, in6addr_loopback)) : bind_to(listener, at(0));
    if (v6 && bound != 0) GTEST_SKIP() << "SKIPPED: this host has no IPv6";
    ASSERT_EQ(rdma_listen(listener.id, 1), 0);
    EXPECT_EQ(option(find_socket(listener.port(), 0), level, name), 0x48);
    if (v6) resolve(client, at6(listener.port(), in6addr_loopback));
    if (!v6) resolve(client, at(listener.port()));
    ASSERT_EQ(client.set(RDMA_OPTION_ID_TOS, std::uint8_t{0x68}), 0);
    connect(client);
    rdma_cm_id* const request = expect(RDMA_CM_EVENT_CONNECT_REQUEST);
    ASSERT_NE(request, nullptr);
    const int near = find_socket(client.port(), listener.port()), far = find_socket(listener.port(), client.port());
    EXPECT_EQ(option(near, level, name), 0x68);
    EXPECT_EQ(option(far, level, name), 0x48);
    std::uint8_t other = 0x88;  // SPDK and others set it on what they are about to accept
    EXPECT_EQ(rdma_set_option(request, RDMA_OPTION_ID, RDMA_OPTION_ID_TOS, &other, sizeof other), 0);
    EXPECT_EQ(option(far, level, name), 0x88);
    rdma_destroy_id(request);
    expect(RDMA_CM_EVENT_REJECTED);
  }
}

// What a wildcard of IPv6 accepts from IPv4 carries IPv4's octet.
TEST_F(Addresses, TypeOfServiceOfIpv4AtAnIpv6Wildcard) {
  const Id listener(channel), client(channel);
  ASSERT_EQ(listener.set(RDMA_OPTION_ID_TOS, std::uint8_t{0x48}), 0);
  ASSERT_EQ(listener.set(RDMA_OPTION_ID_AFONLY, 0), 0);
  if (bind_to(listener, at6(0, in6addr_any)) != 0) GTEST_SKIP() << "SKIPPED: this host has no IPv6";
  ASSERT_EQ(rdma_listen(listener.id, 1), 0);
  resolve(client, at(listener.port()));
  connect(client);
  rdma_cm_id* const request = expect(RDMA_CM_EVENT_CONNECT_REQUEST);
  ASSERT_NE(request, nullptr);
  EXPECT_EQ(option(find_socket(listener.port(), client.port()), IPPROTO_IP, IP_TOS), 0x48);
  rdma_destroy_id(request);
  expect(RDMA_CM_EVENT_REJECTED);
}

bool has_another_interface() {
  ifaddrs* all = nullptr;
  EXPECT_EQ(::getifaddrs(&all), 0);
  bool found = false;
  for (const ifaddrs* one = all; one != nullptr; one = one->ifa_next) {
    const bool ip =
        one->ifa_addr != nullptr && (one->ifa_addr->sa_family == AF_INET || one->ifa_addr->sa_family == AF_INET6);
    found |= ip && (one->ifa_flags & (IFF_LOOPBACK | IFF_RUNNING)) == IFF_RUNNING;
  }
  ::freeifaddrs(all);
  return found;
}

// A library of that name (as_libfabric.cpp).
int bind_as_libfabric(const Id& id, sockaddr_in address) {
  void* const library = ::dlopen(WEFT_AS_LIBFABRIC, RTLD_NOW);
  if (library == nullptr) throw std::runtime_error(::dlerror());
  const auto bind = reinterpret_cast<int (*)(rdma_cm_id*, sockaddr*)>(::dlsym(library, "bind_as_libfabric"));
  return bind(id.id, generic(address));
}

// librpma does this to find the device of an address, with an identifier of synchronous operation and without a port.
TEST_F(Addresses, WhoBindsToALoopbackAddressIsShownItsDevice) {
  const Id synchronous(nullptr), other(channel);
  ASSERT_EQ(bind_to(synchronous, at(0)), 0);
  ASSERT_NE(synchronous.id->verbs, nullptr);
  EXPECT_STREQ(ibv_get_device_name(synchronous.id->verbs->device), "weft_lo");
  EXPECT_NE(synchronous.id->pd, nullptr);
  ASSERT_EQ(bind_to(other, at(0)), 0);
  EXPECT_NE(other.id->verbs, nullptr);
}

// libfabric makes the same calls to ask which devices there are, and passes over all but the one that it is shown.
TEST_F(Addresses, LibfabricIsShownNoDeviceAtALoopbackAddress) {
  const Id asks(nullptr), makes(nullptr), goes_on(channel);
  ASSERT_EQ(bind_as_libfabric(asks, at(0)), 0);
  EXPECT_EQ(asks.id->verbs == nullptr, has_another_interface());
  EXPECT_NE(asks.port(), 0);
  EXPECT_EQ(rdma_listen(asks.id, 1), 0);
  EXPECT_NE(asks.id->verbs, nullptr) << "it is used";
  ASSERT_EQ(bind_as_libfabric(makes, at(0)), 0);
  ibv_qp_init_attr attributes{};
  attributes.cap.max_send_wr = attributes.cap.max_recv_wr = 1;
  attributes.cap.max_send_sge = attributes.cap.max_recv_sge = 1;
  attributes.qp_type = IBV_QPT_RC;
  EXPECT_EQ(rdma_create_qp(makes.id, nullptr, &attributes), 0);
  EXPECT_NE(makes.id->verbs, nullptr);
  ASSERT_EQ(bind_as_libfabric(goes_on, at(0)), 0);
  EXPECT_NE(goes_on.id->verbs, nullptr) << "with events of its own it sets up connections";
}

TEST_F(Addresses, WhatCannotBeAnOptionIsRefused) {
  const Id id(channel);
  EXPECT_EQ(id.set(RDMA_OPTION_ID_ACK_TIMEOUT, std::uint8_t{14}), 0);
  EXPECT_EQ(id.set(RDMA_OPTION_ID_TOS, 0x48), -1) << "an int";
  EXPECT_EQ(errno, EINVAL);
  EXPECT_EQ(id.set(77, 1), -1);
  EXPECT_EQ(errno, ENOSYS);
}

}  // namespace
