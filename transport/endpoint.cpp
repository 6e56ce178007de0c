// SPDX-License-Identifier: Apache-2.0
#include "transport/endpoint.hpp"

#include <arpa/inet.h>
#include <net/if.h>
#include <netinet/in.h>
#include <sys/socket.h>

#include <algorithm>
#include <bit>
#include <cstring>
#include <optional>
#include <span>

#include "common/number.hpp"

namespace weft::transport {
namespace {

constexpr std::size_t kIpv4Octets = 4;
constexpr std::array kMappedPrefix{std::byte{0}, std::byte{0}, std::byte{0},    std::byte{0},
                                   std::byte{0}, std::byte{0}, std::byte{0},    std::byte{0},
                                   std::byte{0}, std::byte{0}, std::byte{0xff}, std::byte{0xff}};

// The index of the interface with this name or index; 0: there is none.
std::uint32_t parse_scope(const std::string& text) {
  char name[IF_NAMESIZE] = {};
  if (const auto index = parse_number<std::uint32_t>(text)) return if_indextoname(*index, name) != nullptr ? *index : 0;
  return if_nametoindex(text.c_str());
}

Address from_ipv4(const in_addr& from) {
  Address address;
  std::memcpy(address.octets.data(), &from, kIpv4Octets);
  return address;
}

Address to_address(const in6_addr& from, std::uint32_t scope) {
  return Address::from_ipv6(std::bit_cast<std::array<std::byte, 16>>(from), scope);
}

// Copies instead of casting: a sockaddr* need not point at an object of the larger type.
template <typename T>
std::optional<T> copy_as(const sockaddr* from, std::size_t length) {
  if (length < sizeof(T)) return std::nullopt;
  T copy{};
  std::memcpy(&copy, from, sizeof copy);
  return copy;
}

}  // namespace

std::string_view describe(ParseError error) noexcept {
  switch (error) {
    case ParseError::kBadAddress: return "not an IPv4 or IPv6 address";
    case ParseError::kBadScope: return "no such network interface behind '%'";
    case ParseError::kMissingPort: return "no port after the address";
    case ParseError::kBadPort: return "the port is not a number from 0 to 65535";
  }
  return "";
}

Address Address::loopback(Family family) noexcept {
  if (family == Family::kIpv4) return from_ipv4({.s_addr = htonl(INADDR_LOOPBACK)});
  return to_address(in6addr_loopback, 0);
}

bool Address::is_loopback() const noexcept {
  if (family == Family::kIpv4) return octets[0] == std::byte{127};
  return *this == loopback(Family::kIpv6);
}

bool Address::is_multicast() const noexcept {
  if (family == Family::kIpv4) return (octets[0] & std::byte{0xf0}) == std::byte{0xe0};
  return octets[0] == std::byte{0xff};
}

std::expected<Address, ParseError> Address::parse(std::string_view text) {
  const auto percent = text.find('%');
  const std::string number(text.substr(0, percent));
  if (number.find('\0') != std::string::npos) return std::unexpected(ParseError::kBadAddress);
  in_addr v4{};
  if (percent == std::string_view::npos && inet_pton(AF_INET, number.c_str(), &v4) == 1) return from_ipv4(v4);
  in6_addr v6{};
  if (inet_pton(AF_INET6, number.c_str(), &v6) != 1) return std::unexpected(ParseError::kBadAddress);
  if (percent == std::string_view::npos) return to_address(v6, 0);
  const std::uint32_t scope = parse_scope(std::string(text.substr(percent + 1)));
  if (scope == 0) return std::unexpected(ParseError::kBadScope);
  return to_address(v6, scope);
}

std::string Address::to_string() const {
  char text[INET6_ADDRSTRLEN] = {};
  inet_ntop(family == Family::kIpv4 ? AF_INET : AF_INET6, octets.data(), text, sizeof text);
  if (scope == 0) return text;
  char name[IF_NAMESIZE] = {};
  return std::string(text) + '%' + (if_indextoname(scope, name) != nullptr ? name : std::to_string(scope));
}

Address Address::from_ipv6(const std::array<std::byte, 16>& octets, std::uint32_t scope) noexcept {
  if (!std::ranges::equal(std::span(octets).first(kMappedPrefix.size()), kMappedPrefix)) {
    return {.family = Family::kIpv6, .octets = octets, .scope = scope};
  }
  Address address;
  std::ranges::copy(std::span(octets).last(kIpv4Octets), address.octets.begin());
  return address;
}

std::array<std::byte, 16> Address::to_ipv6() const noexcept {
  if (family == Family::kIpv6) return octets;
  std::array<std::byte, 16> mapped{};
  const auto rest = std::ranges::copy(kMappedPrefix, mapped.begin()).out;
  std::ranges::copy(std::span(octets).first(kIpv4Octets), rest);
  return mapped;
}

std::expected<Endpoint, ParseError> Endpoint::parse(std::string_view text) {
  const bool bracketed = text.starts_with('[');
  const auto end = bracketed ? text.find(']') : text.rfind(':');
  if (end == std::string_view::npos) {
    return std::unexpected(bracketed ? ParseError::kBadAddress : ParseError::kMissingPort);
  }
  const auto address = Address::parse(text.substr(bracketed ? 1 : 0, end - (bracketed ? 1 : 0)));
  if (!address) return std::unexpected(address.error());
  // Without brackets "2001:db8::1:80" has two readings; take neither.
  if (!bracketed && text.find(':') != end) return std::unexpected(ParseError::kBadAddress);
  std::string_view rest = text.substr(bracketed ? end + 1 : end);
  if (rest.size() < 2 || rest.front() != ':') return std::unexpected(ParseError::kMissingPort);
  const auto port = parse_number<std::uint16_t>(rest.substr(1));
  if (!port) return std::unexpected(ParseError::kBadPort);
  return Endpoint{*address, *port};
}

std::string Endpoint::to_string() const {
  const std::string host = address.to_string();
  return (address.family == Family::kIpv4 ? host : '[' + host + ']') + ':' + std::to_string(port);
}

std::expected<Endpoint, std::error_code> Endpoint::from_sockaddr(const sockaddr* from, std::size_t length) {
  const auto too_short = std::unexpected(std::make_error_code(std::errc::invalid_argument));
  if (length < sizeof(sa_family_t)) return too_short;
  if (from->sa_family == AF_INET) {
    const auto v4 = copy_as<sockaddr_in>(from, length);
    if (!v4) return too_short;
    return Endpoint{from_ipv4(v4->sin_addr), ntohs(v4->sin_port)};
  }
  if (from->sa_family == AF_INET6) {
    const auto v6 = copy_as<sockaddr_in6>(from, length);
    if (!v6) return too_short;
    return Endpoint{to_address(v6->sin6_addr, v6->sin6_scope_id), ntohs(v6->sin6_port)};
  }
  return std::unexpected(std::make_error_code(std::errc::address_family_not_supported));
}

unsigned int Endpoint::to_sockaddr(sockaddr_storage& to) const noexcept {
  to = {};
  if (address.family == Family::kIpv4) {
    sockaddr_in v4{};
    v4.sin_family = AF_INET;
    v4.sin_port = htons(port);
    std::memcpy(&v4.sin_addr, address.octets.data(), kIpv4Octets);
    std::memcpy(&to, &v4, sizeof v4);
    return sizeof v4;
  }
  sockaddr_in6 v6{};
  v6.sin6_family = AF_INET6;
  v6.sin6_port = htons(port);
  v6.sin6_scope_id = address.scope;
  std::memcpy(&v6.sin6_addr, address.octets.data(), sizeof v6.sin6_addr);
  std::memcpy(&to, &v6, sizeof v6);
  return sizeof v6;
}

}  // namespace weft::transport
