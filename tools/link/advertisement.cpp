// SPDX-License-Identifier: Apache-2.0
#include "tools/link/advertisement.hpp"

namespace weft::tools {
namespace {

using Address = Be<0, std::uint64_t>;
using Rkey = Be<Address::end, std::uint32_t>;
using Size = Be<Rkey::end, std::uint32_t>;
static_assert(Size::end == kAdvertisementSize);

}  // namespace

std::optional<Advertisement> Advertisement::parse(Bytes octets) {
  if (octets.size() != kAdvertisementSize) return std::nullopt;
  return Advertisement{Address::get(octets), Rkey::get(octets), Size::get(octets)};
}

std::array<std::byte, kAdvertisementSize> Advertisement::serialize() const {
  std::array<std::byte, kAdvertisementSize> octets{};
  Address::put(octets, address);
  Rkey::put(octets, rkey);
  Size::put(octets, size);
  return octets;
}

}  // namespace weft::tools
