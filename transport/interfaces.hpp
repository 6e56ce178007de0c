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

// One address of an interface.
struct InterfaceAddress {
  Address address{};               // of this host
  std::uint8_t prefix_length = 0;  // in bits: what belongs to the same network
  bool operator==(const InterfaceAddress&) const = default;
};

// One network interface.
struct Interface {
  std::string name{};                           // "eth0"
  std::uint32_t index = 0;                      // as if_nametoindex() gives it
  std::uint32_t mtu = 0;                        // octets of a packet at most
  bool up = false;                              // administratively up and with a carrier
  bool loopback = false;                        // it leads to this host alone
  std::array<std::byte, 6> hardware_address{};  // zero where there is none
  std::vector<InterfaceAddress> addresses{};    // none where it has no IP
};

// In the order of their index. Interfaces without an IP address are included.
[[nodiscard]] std::expected<std::vector<Interface>, std::error_code> enumerate_interfaces();

// The interface that has `local`; all of 127.0.0.0/8 belongs to the loopback interface. Nothing for the wildcard.
[[nodiscard]] std::optional<Interface> find_owner(const std::vector<Interface>& interfaces, const Address& local);

}  // namespace weft::transport
