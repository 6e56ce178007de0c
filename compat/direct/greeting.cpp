// SPDX-License-Identifier: Apache-2.0
#include "compat/direct/greeting.hpp"

#include <algorithm>
#include <ranges>

namespace weft::compat::direct {

namespace {

constexpr std::array<std::byte, 8> kMagic{std::byte{'w'}, std::byte{'e'}, std::byte{'f'}, std::byte{'t'},
                                          std::byte{'-'}, std::byte{'q'}, std::byte{'p'}, std::byte{1}};
constexpr std::uint32_t kUnknown = 0xFFFFFFFF;
constexpr std::array<std::byte, 12> kMapped{std::byte{}, std::byte{}, std::byte{},     std::byte{},
                                            std::byte{}, std::byte{}, std::byte{},     std::byte{},
                                            std::byte{}, std::byte{}, std::byte{0xff}, std::byte{0xff}};

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
  Gid gid{};
  std::ranges::copy(octets.subspan(at, gid.size()), gid.begin());
  return to_address(gid);
}

}  // namespace

Gid to_gid(const verbs::Address& address) noexcept {
  if (address.family == transport::Family::kIpv6) return address.octets;
  Gid gid{};
  std::ranges::copy(kMapped, gid.begin());
  std::ranges::copy(std::span(address.octets).first<4>(), gid.begin() + kMapped.size());
  return gid;
}

verbs::Address to_address(const Gid& gid) noexcept {
  verbs::Address address{};
  if (std::ranges::equal(std::span(gid).first<kMapped.size()>(), kMapped)) {
    std::ranges::copy(std::span(gid).last<4>(), address.octets.begin());
  } else {
    address.family = transport::Family::kIpv6;
    address.octets = gid;
  }
  return address;
}

EncodedGreeting encode(const Greeting& greeting) noexcept {
  EncodedGreeting octets{};
  std::byte* at = std::ranges::copy(kMagic, octets.data()).out;
  for (const std::uint32_t value : {greeting.from.number, greeting.to.number, greeting.sq_psn.value_or(kUnknown),
                                    greeting.rq_psn.value_or(kUnknown)}) {
    at = put(at, value);
  }
  at = std::ranges::copy(to_gid(greeting.from.address), at).out;
  std::ranges::copy(to_gid(greeting.to.address), at);
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
