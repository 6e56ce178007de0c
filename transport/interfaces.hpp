// SPDX-License-Identifier: Apache-2.0
/// @file
/// The network interfaces of this host. Each one is a Device of the verbs API.
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

/// Describes one address of an interface.
struct InterfaceAddress {
  Address address{};               ///< local address
  std::uint8_t prefix_length = 0;  ///< length of the network prefix in bits
  /// Compares all members.
  bool operator==(const InterfaceAddress&) const = default;
};

/// Describes one network interface.
struct Interface {
  std::string name{};                           ///< name: "eth0"
  std::uint32_t index = 0;                      ///< index, as if_nametoindex() returns it
  std::uint32_t mtu = 0;                        ///< maximum size of a packet in octets
  bool up = false;                              ///< administratively up, and has a carrier
  bool loopback = false;                        ///< leads to this host only
  std::array<std::byte, 6> hardware_address{};  ///< MAC address; zero if there is none
  std::vector<InterfaceAddress> addresses{};    ///< IP addresses; may be empty
};

/// Returns all interfaces in the order of their index, including those without an IP address.
[[nodiscard]] std::expected<std::vector<Interface>, std::error_code> enumerate_interfaces();

/// Returns the interface that owns `local`. All of 127.0.0.0/8 belongs to the loopback interface.
/// Returns nothing for the wildcard, and if no interface owns the address.
[[nodiscard]] std::optional<Interface> find_owner(const std::vector<Interface>& interfaces, const Address& local);

}  // namespace weft::transport
