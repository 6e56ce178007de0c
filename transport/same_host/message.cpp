// SPDX-License-Identifier: Apache-2.0
#include "transport/same_host/message.hpp"

#include <algorithm>

namespace weft::transport::same_host {
namespace {

constexpr std::uint64_t kMagic = 0x7765667472696e67;  // "weftring"

using Magic = Be<0, std::uint64_t>;
using Version = Be<Magic::end, std::uint32_t>;
using RingOctets = Be<Version::end, std::uint32_t>;

// From the start of an end:
constexpr std::size_t kAddressOctets = 16;
using Scope = Be<kAddressOctets, std::uint32_t>;
using Port = Be<Scope::end, std::uint16_t>;
static_assert(RingOctets::end + 2 * Port::end == kMessageOctets);

void put_end(MutableBytes at, const Endpoint& end) {
  std::ranges::copy(end.address.to_ipv6(), at.begin());
  Scope::put(at, end.address.scope);
  Port::put(at, end.port);
}

Endpoint get_end(Bytes at) {
  std::array<std::byte, kAddressOctets> address;
  std::ranges::copy(at.first<kAddressOctets>(), address.begin());
  return {Address::from_ipv6(address, Scope::get(at)), Port::get(at)};
}

}  // namespace

std::array<std::byte, kMessageOctets> serialize(const Message& message) noexcept {
  std::array<std::byte, kMessageOctets> octets{};
  Magic::put(octets, kMagic);
  Version::put(octets, kVersion);
  RingOctets::put(octets, message.ring_octets);
  put_end(MutableBytes(octets).subspan<RingOctets::end, Port::end>(), message.from);
  put_end(MutableBytes(octets).last<Port::end>(), message.to);
  return octets;
}

std::expected<Message, std::error_code> parse_message(Bytes octets) noexcept {
  if (octets.size() != kMessageOctets || Magic::get(octets) != kMagic) {
    return std::unexpected(std::make_error_code(std::errc::protocol_error));
  }
  if (Version::get(octets) != kVersion) {
    return std::unexpected(std::make_error_code(std::errc::protocol_not_supported));
  }
  return Message{.from = get_end(octets.subspan(RingOctets::end, Port::end)),
                 .to = get_end(octets.last(Port::end)),
                 .ring_octets = RingOctets::get(octets)};
}

}  // namespace weft::transport::same_host
