// SPDX-License-Identifier: Apache-2.0
#include "transport/interface_watch.hpp"

#include <linux/netlink.h>
#include <linux/rtnetlink.h>
#include <sys/socket.h>
#include <unistd.h>

#include <array>
#include <boost/asio/posix/stream_descriptor.hpp>
#include <cerrno>
#include <cstddef>
#include <utility>

#include "transport/detail/callback_gate.hpp"
#include "transport/detail/last_error.hpp"
#include "transport/detail/reactor_state.hpp"
#include "transport/own_descriptors.hpp"

namespace weft::transport {

struct InterfaceWatch::State : std::enable_shared_from_this<State> {
  State(Reactor& reactor, Task on_change) : gate(std::move(on_change)), changes(reactor.state().context) {}

  detail::CallbackGate<> gate;
  boost::asio::posix::stream_descriptor changes;

  void wait() {
    changes.async_wait(changes.wait_read, [state = shared_from_this()](const boost::system::error_code& cancelled) {
      if (!cancelled) state->changed();
    });
  }

  // What the messages say is not looked at: an overflow of the socket (ENOBUFS) has lost some, and says as much. All
  // that waits is read first, so that many changes at once are one call.
  void changed() {
    auto lock = gate.lock();
    if (!gate.is_open(lock)) return;
    std::array<std::byte, 8192> messages;
    while (::recv(changes.native_handle(), messages.data(), messages.size(), MSG_DONTWAIT) >= 0 || errno == ENOBUFS) {
    }
    wait();
    gate.call(std::move(lock));
  }
};

InterfaceWatch::InterfaceWatch(std::shared_ptr<State> state) noexcept : state_(std::move(state)) {}

std::expected<InterfaceWatch, std::error_code> InterfaceWatch::create(Reactor& reactor, Task on_change) {
  auto state = std::make_shared<State>(reactor, std::move(on_change));
  const int descriptor = move_up(::socket(AF_NETLINK, SOCK_RAW | SOCK_CLOEXEC | SOCK_NONBLOCK, NETLINK_ROUTE));
  if (descriptor < 0) return std::unexpected(last_error());
  sockaddr_nl groups{};
  groups.nl_family = AF_NETLINK;
  groups.nl_groups = RTMGRP_LINK | RTMGRP_IPV4_IFADDR | RTMGRP_IPV6_IFADDR;
  boost::system::error_code error;
  if (::bind(descriptor, reinterpret_cast<const sockaddr*>(&groups), sizeof groups) != 0) {
    error = boost::system::error_code(errno, boost::system::system_category());
  } else {
    state->changes.assign(descriptor, error);
  }
  if (error) ::close(descriptor);
  if (error) return std::unexpected(std::error_code(error));
  state->wait();
  return InterfaceWatch(std::move(state));
}

InterfaceWatch::~InterfaceWatch() {
  if (!state_) return;
  auto lock = state_->gate.lock();
  boost::system::error_code ignored;
  state_->changes.close(ignored);
  state_->gate.close(std::move(lock));
}

InterfaceWatch::InterfaceWatch(InterfaceWatch&&) noexcept = default;

InterfaceWatch& InterfaceWatch::operator=(InterfaceWatch&& other) noexcept {
  std::swap(state_, other.state_);
  return *this;
}

}  // namespace weft::transport
