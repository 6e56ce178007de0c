// SPDX-License-Identifier: Apache-2.0
// What becomes of a network interface is told as asynchronous events of its device.
#include <fcntl.h>
#include <gtest/gtest.h>
#include <net/if.h>
#include <poll.h>
#include <sched.h>
#include <sys/ioctl.h>
#include <sys/socket.h>
#include <unistd.h>

#include <cstring>
#include <string>
#include <thread>
#include <vector>

#include "tests/verbs/loopback.hpp"
#include "verbs/base/device_state.hpp"

namespace weft::verbs::test {
namespace {

using enum AsyncEventType;

// --- What is told of a change

class Changes : public testing::Test {
 protected:
  std::vector<AsyncEventType> when(const transport::Interface* now) {
    device->interface_is(now);
    std::vector<AsyncEventType> told;
    while (const auto event = device->events->take_now()) told.push_back(event->type);
    return told;
  }

  transport::Interface interface{.name = "eth0",
                                 .index = 2,
                                 .mtu = 1500,
                                 .up = true,
                                 .addresses = {{Address::loopback(transport::Family::kIpv4), 24}}};
  const std::shared_ptr<detail::DeviceState> device =
      detail::DeviceState::create({.name = "weft_eth0", .interface = interface}).value();
};
using Told = std::vector<AsyncEventType>;

TEST_F(Changes, OfNothing) {
  EXPECT_EQ(when(&interface), Told{});
  interface.mtu = 9000;
  EXPECT_EQ(when(&interface), Told{});
}

TEST_F(Changes, UpAndDown) {
  interface.up = false;
  EXPECT_EQ(when(&interface), Told{kPortError});
  EXPECT_EQ(when(&interface), Told{});
  interface.up = true;
  EXPECT_EQ(when(&interface), Told{kPortActive});
}

TEST_F(Changes, Addresses) {
  interface.addresses.clear();
  EXPECT_EQ(when(&interface), Told{kAddressChange});
  interface.hardware_address[5] = std::byte{7};
  EXPECT_EQ(when(&interface), Told{kAddressChange});
}

TEST_F(Changes, Removal) {
  EXPECT_EQ(when(nullptr), (Told{kPortError, kDeviceFatal}));
  EXPECT_EQ(when(nullptr), Told{});
  EXPECT_EQ(when(&interface), Told{}) << "another interface of that name is another device";
}

// --- That it is noticed

void set_loopback(bool up) {
  const int query = ::socket(AF_INET, SOCK_DGRAM | SOCK_CLOEXEC, 0);
  ifreq request{};
  std::strcpy(request.ifr_name, "lo");
  request.ifr_flags = up ? IFF_UP : 0;
  EXPECT_EQ(::ioctl(query, SIOCSIFFLAGS, &request), 0);
  ::close(query);
}

// Waits for one of this type; others, of the addresses that come and go with it, are passed over.
void expect(const Device& device, AsyncEventType wanted) {
  pollfd waiting{.fd = device.async_descriptor(), .events = POLLIN, .revents = 0};
  for (;;) {
    ASSERT_EQ(::poll(&waiting, 1, static_cast<int>(std::chrono::milliseconds(kPatience).count())), 1)
        << "no " << to_string(wanted);
    const auto event = device.get_async_event();
    ASSERT_TRUE(event);
    if (event->type == wanted) return;
    ASSERT_EQ(event->type, kAddressChange);
  }
}

TEST(InterfaceEvents, AreRaisedWhileAThreadOfWeftRuns) {
  bool made = false;
  std::jthread([&] {
    made = ::unshare(CLONE_NEWNET) == 0;  // of this thread, and of those that it starts
    if (!made) return;
    auto device = must(Device::open("lo"), "open");
    EXPECT_FALSE(device.info().interface.up);
    ::fcntl(device.async_descriptor(), F_SETFL, O_NONBLOCK);
    EXPECT_EQ(device.get_async_event().error().code, Errc::kWouldBlock);  // starts the thread
    set_loopback(true);
    expect(device, kPortActive);
    set_loopback(false);
    expect(device, kPortError);
  }).join();
  if (!made) GTEST_SKIP() << "SKIPPED: needs the right to make a network namespace (root)";
}

}  // namespace
}  // namespace weft::verbs::test
