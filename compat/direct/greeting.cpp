// SPDX-License-Identifier: Apache-2.0
#include "compat/direct/greeting.hpp"

#include <algorithm>

#include "common/wire.hpp"

namespace weft::compat::direct {

namespace {

constexpr std::array<std::byte, 8> kMagic{std::byte{'w'}, std::byte{'e'}, std::byte{'f'}, std::byte{'t'},
                                          std::byte{'-'}, std::byte{'q'}, std::byte{'p'}, std::byte{1}};
constexpr std::uint32_t kUnknown = 0xFFFFFFFF;
using FromNumber = Be<8, std::uint32_t>;
using ToNumber = Be<12, std::uint32_t>;
using SqPsn = Be<16, std::uint32_t>;
using RqPsn = Be<20, std::uint32_t>;
constexpr std::size_t kFromAddressAt = 24, kToAddressAt = 40;

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
  std::ranges::copy(kMagic, octets.begin());
  FromNumber::put(octets, greeting.from.number);
  ToNumber::put(octets, greeting.to.number);
  SqPsn::put(octets, greeting.sq_psn.value_or(kUnknown));
  RqPsn::put(octets, greeting.rq_psn.value_or(kUnknown));
  std::ranges::copy(greeting.from.address.to_ipv6(), octets.begin() + kFromAddressAt);
  std::ranges::copy(greeting.to.address.to_ipv6(), octets.begin() + kToAddressAt);
  return octets;
}

std::optional<Greeting> decode(std::span<const std::byte> octets) noexcept {
  if (octets.size() < kGreetingSize || !std::ranges::equal(octets.first(kMagic.size()), kMagic)) return std::nullopt;
  return Greeting{.from = {.address = address_at(octets, kFromAddressAt), .number = FromNumber::get(octets)},
                  .to = {.address = address_at(octets, kToAddressAt), .number = ToNumber::get(octets)},
                  .sq_psn = known(SqPsn::get(octets)),
                  .rq_psn = known(RqPsn::get(octets))};
}

}  // namespace weft::compat::direct
