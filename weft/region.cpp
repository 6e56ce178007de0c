// SPDX-License-Identifier: Apache-2.0
#include "weft/region.hpp"

#include <algorithm>

#include "common/wire.hpp"

namespace weft {

namespace {

using AddressField = Be<0, std::uint64_t>;
using LengthField = Be<AddressField::end, std::uint32_t>;
using RkeyField = Be<LengthField::end, std::uint32_t>;
static_assert(RkeyField::end == RemoteRegion::kWireSize);
constexpr std::size_t kLongest = std::numeric_limits<std::uint32_t>::max();

std::unexpected<Error> refuse(Errc code, std::string_view operation, std::string_view argument,
                              std::string_view reason) {
  return std::unexpected(detail::to_error({code, argument, reason}, operation));
}

// Nothing here can overflow: differences only.
bool inside(std::size_t offset, std::size_t count, std::size_t length) noexcept {
  return offset <= length && count <= length - offset;
}

}  // namespace

Result<RemoteRegion> RemoteRegion::subspan(std::size_t offset, std::size_t count) const {
  if (!inside(offset, count, length))
    return refuse(Errc::kInvalidArgument, "subspan", "remote", "not all of it is inside");
  return RemoteRegion{address + offset, static_cast<std::uint32_t>(count), rkey};
}

std::array<std::byte, RemoteRegion::kWireSize> RemoteRegion::to_wire() const noexcept {
  std::array<std::byte, kWireSize> octets{};
  AddressField::put(octets, address);
  LengthField::put(octets, length);
  RkeyField::put(octets, rkey);
  return octets;
}

Result<RemoteRegion> RemoteRegion::from_wire(std::span<const std::byte> octets) {
  if (octets.size() < kWireSize) return refuse(Errc::kInvalidArgument, "from_wire", "octets", "fewer than 16");
  const RemoteRegion region{AddressField::get(octets), LengthField::get(octets), RkeyField::get(octets)};
  const bool wraps = region.length != 0 && region.address + (region.length - 1) < region.address;
  if (wraps) return refuse(Errc::kInvalidArgument, "from_wire", "octets", "address and length exceed 2^64");
  return region;
}

Result<Slice> Slice::subspan(std::size_t offset, std::size_t count) const {
  if (!inside(offset, count, size()))
    return refuse(Errc::kInvalidArgument, "subspan", "local", "not all of it is inside");
  return Slice(octets_.subspan(offset, count), lkey_);
}

Error Slice::too_long() {
  return detail::to_error({Errc::kMessageTooLong, "local", "2^32 octets or more"}, "sge");
}

RemoteRegion Region::remote() const noexcept {
  return {region_.iova(), static_cast<std::uint32_t>(std::min(region_.length(), kLongest)), region_.rkey()};
}

}  // namespace weft
