// SPDX-License-Identifier: Apache-2.0
#include "compat/direct/greeting.hpp"

#include <algorithm>

namespace weft::compat::direct {

namespace {

constexpr std::array<std::byte, 8> kMagic{std::byte{'w'}, std::byte{'e'}, std::byte{'f'}, std::byte{'t'},
                                          std::byte{'-'}, std::byte{'q'}, std::byte{'p'}, std::byte{1}};
constexpr std::uint32_t kUnknown = 0xFFFFFFFF;
std::byte* put(std::byte* at, std::uint32_t value) noexcept {
  for (int shift = 24; shift >= 0; shift -= 8) *at++ = static_cast<std::byte>(value >> shift);
  return at;
}

std::uint32_t get(std::span<const std::byte> octets, std::size_t at) noexcept {
  std::uint32_t value = 0;
  for (const std::byte octet : octets.subspan(at, 4)) value = value << 8 | std::to_integer<std::uint32_t>(octet);
  return value;
}

std::optional<std::uint32_t> known(std::uint32_t psn) noexcept {
  return psn == kUnknown ? std::nullopt : std::optional(psn);
}

verbs::Address address_at(std::span<const std::byte> octets, std::size_t at) noexcept {
  std::array<std::byte, 16> gid{};
  std::ranges::copy(octets.subspan(at, gid.size()), gid.begin());
  return verbs::Address::from_ipv6(gid);
}

}  // namespace

EncodedGreeting encode(const Greeting& greeting) noexcept {
  EncodedGreeting octets{};
  std::byte* at = std::ranges::copy(kMagic, octets.data()).out;
  for (const std::uint32_t value : {greeting.from.number, greeting.to.number, greeting.sq_psn.value_or(kUnknown),
                                    greeting.rq_psn.value_or(kUnknown)}) {
    at = put(at, value);
  }
  at = std::ranges::copy(greeting.from.address.to_ipv6(), at).out;
  std::ranges::copy(greeting.to.address.to_ipv6(), at);
  return octets;
}

std::optional<Greeting> decode(std::span<const std::byte> octets) noexcept {
  if (octets.size() < kGreetingSize || !std::ranges::equal(octets.first(kMagic.size()), kMagic)) return std::nullopt;
  return Greeting{.from = {.address = address_at(octets, 24), .number = get(octets, 8)},
                  .to = {.address = address_at(octets, 40), .number = get(octets, 12)},
                  .sq_psn = known(get(octets, 16)),
                  .rq_psn = known(get(octets, 20))};
}

}  // namespace weft::compat::direct
