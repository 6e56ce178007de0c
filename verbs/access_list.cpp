// SPDX-License-Identifier: Apache-2.0
#include "verbs/access_list.hpp"

#include <algorithm>
#include <cstddef>
#include <ranges>
#include <utility>

#include "common/number.hpp"

namespace weft::verbs {

namespace {

using transport::Family;

constexpr unsigned kIpv4Bits = 32;
constexpr unsigned kIpv6Bits = 128;
constexpr unsigned kMappedBits = kIpv6Bits - kIpv4Bits;  // in front of an IPv4 address that is mapped into IPv6

unsigned bits_of(Family family) noexcept { return family == Family::kIpv4 ? kIpv4Bits : kIpv6Bits; }

// The octets of its first `length` bits; the others are zero.
Address cut_to(Address address, unsigned length) noexcept {
  for (unsigned i = 0; i < address.octets.size(); ++i) {
    const unsigned kept = std::min(length - std::min(length, 8 * i), 8U);
    address.octets[i] &= static_cast<std::byte>(0xFF00U >> kept);
  }
  return address;
}

// Peers have a scope only there (RFC 4007 section 6): a prefix with a scope elsewhere would contain none.
bool is_link_local(const Address& address, unsigned length) noexcept {
  constexpr unsigned kLinkLocalBits = 10;  // fe80::/10 (RFC 4291 section 2.4)
  return address.is_link_local() && length >= kLinkLocalBits;
}

// The longest of these that contains the address.
std::optional<unsigned> longest(const std::vector<AddressPrefix>& prefixes, const Address& address) noexcept {
  std::optional<unsigned> found;
  for (const AddressPrefix& prefix : prefixes) {
    if (prefix.contains(address)) found = std::max(found.value_or(0), prefix.length());
  }
  return found;
}

}  // namespace

std::optional<AddressPrefix> AddressPrefix::parse(std::string_view text) {
  const std::size_t slash = text.find('/');
  const auto address = Address::parse(text.substr(0, slash));
  if (!address) return std::nullopt;
  const unsigned most = bits_of(address->family);
  auto length = slash == std::string_view::npos ? std::optional(most) : parse_number<unsigned>(text.substr(slash + 1));
  const bool mapped = address->family == Family::kIpv4 && text.substr(0, slash).contains(':');
  if (slash != std::string_view::npos && length && mapped)
    length = *length < kMappedBits ? std::nullopt : std::optional(*length - kMappedBits);
  if (!length || *length > most || cut_to(*address, *length) != *address) return std::nullopt;
  if (text.contains('%') && !is_link_local(*address, *length)) return std::nullopt;
  return AddressPrefix(*address, *length);
}

bool AddressPrefix::contains(const Address& address) const noexcept {
  if (address.family != first_.family) return false;
  if (first_.scope != 0 && address.scope != first_.scope) return false;
  return cut_to(address, length_).octets == first_.octets;
}

std::string AddressPrefix::to_string() const { return first_.to_string() + '/' + std::to_string(length_); }

std::optional<std::vector<AddressPrefix>> parse_prefixes(std::string_view text) {
  std::vector<AddressPrefix> prefixes;
  if (text == "none") return prefixes;
  if (text.empty()) return std::nullopt;
  for (const auto piece : std::views::split(text, '+')) {
    const auto prefix = AddressPrefix::parse(std::string_view(piece));
    if (!prefix) return std::nullopt;
    prefixes.push_back(*prefix);
  }
  return prefixes;
}

bool AccessList::admits(const Address& peer) const noexcept {
  const auto denied = longest(deny, peer);
  const auto allowed = longest(allow, peer);
  if (denied) return allowed && *allowed > *denied;
  return allowed || (allow.empty() && !only_allowed);
}

}  // namespace weft::verbs
