// SPDX-License-Identifier: Apache-2.0
// Packets written octet by octet, for what no capture at hand shows.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "conformance/packet.hpp"

namespace weft::conformance::testing {

using Octets = std::vector<std::byte>;

[[nodiscard]] Octets octets(std::string_view text);
[[nodiscard]] std::string text(Bytes octets);
void append(Octets& to, const Octets& what);
void append(Octets& to, std::uint64_t value, std::size_t size);  // big-endian
void append_little(Octets& to, std::uint64_t value, std::size_t size);

struct Segment {
  bool from_server = false;
  std::uint32_t sequence = 0;
  std::string_view payload{};
  bool syn = false, ack = true, fin = false, rst = false;
  std::uint32_t acknowledgement = 0;
  std::optional<std::uint16_t> mss{};
  std::uint16_t client_port = 40000;
  std::uint16_t server_port = 7471;
};

[[nodiscard]] Octets tcp(const Segment& segment);
// The client is 10.0.0.1 or fd00::1, the server 10.0.0.2 or fd00::2.
[[nodiscard]] Octets ipv4(const Segment& segment, const Octets& options = {});
[[nodiscard]] Octets ipv4(bool from_server, const Octets& payload, std::uint16_t id, std::uint16_t flags_and_offset,
                          const Octets& options = {});
// `extensions`: headers between IPv6's and TCP's; `next` names the first of them.
[[nodiscard]] Octets ipv6(const Segment& segment, std::uint8_t next = 6, const Octets& extensions = {});
[[nodiscard]] Octets ethernet(const Octets& ip, const std::vector<std::uint16_t>& tags = {});

}  // namespace weft::conformance::testing
