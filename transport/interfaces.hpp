// SPDX-License-Identifier: Apache-2.0
// The network interfaces of this host: each one becomes a Device of verbs/.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <expected>
#include <optional>
#include <string>
#include <system_error>
#include <vector>

#include "transport/endpoint.hpp"

namespace weft::transport {

struct InterfaceAddress {
  Address address{};
  std::uint8_t prefix_length = 0;
  bool operator==(const InterfaceAddress&) const = default;
};

struct Interface {
  std::string name{};
  std::uint32_t index = 0;
  std::uint32_t mtu = 0;
  bool up = false;  // administratively up and with a carrier
  bool loopback = false;
  std::array<std::byte, 6> hardware_address{};  // zero where there is none
  std::vector<InterfaceAddress> addresses{};
};

// In the order of their index. Interfaces without an IP address are included.
[[nodiscard]] std::expected<std::vector<Interface>, std::error_code> enumerate_interfaces();

// The interface that has `local`; all of 127.0.0.0/8 belongs to the loopback interface. Nothing for the wildcard.
[[nodiscard]] std::optional<Interface> find_owner(const std::vector<Interface>& interfaces, const Address& local);

}  // namespace weft::transport
