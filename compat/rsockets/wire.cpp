// SPDX-License-Identifier: Apache-2.0
#include "compat/rsockets/wire.hpp"

#include <algorithm>
#include <atomic>
#include <bit>
#include <cstring>

namespace weft::compat::rsockets {

namespace {

constexpr std::uint8_t kBigEndianFlag = 1;
constexpr std::uint8_t kIomapFlag = 2;
constexpr bool kHere = std::endian::native == std::endian::big;  // our own order

template <typename T>
void put(std::span<std::byte> octets, std::size_t at, T value, bool big_endian) {
  if (big_endian != kHere) value = std::byteswap(value);
  std::memcpy(octets.subspan(at, sizeof value).data(), &value, sizeof value);
}

template <typename T>
T get(std::span<const std::byte> octets, std::size_t at, bool big_endian) {
  T value{};
  std::memcpy(&value, octets.subspan(at, sizeof value).data(), sizeof value);
  return big_endian != kHere ? std::byteswap(value) : value;
}

void put(std::span<std::byte> octets, std::size_t at, const RemoteBuffer& buffer, bool big_endian) {
  put(octets, at, buffer.address, big_endian);
  put(octets, at + 8, buffer.stag, big_endian);
  put(octets, at + 12, buffer.length, big_endian);
}

RemoteBuffer get_buffer(std::span<const std::byte> octets, std::size_t at) {
  return {.address = get<std::uint64_t>(octets, at, true),
          .stag = get<std::uint32_t>(octets, at + 8, true),
          .length = get<std::uint32_t>(octets, at + 12, true)};
}

// Up to 128 as they are; above, 256 at a time with the upper bit set.
constexpr std::uint32_t kExact = 128;
std::uint8_t to_scale(std::uint32_t entries) {
  if (entries <= kExact) return static_cast<std::uint8_t>(entries);
  return static_cast<std::uint8_t>(kExact | std::min(entries >> 8U, kExact - 1));
}
std::uint32_t from_scale(std::uint8_t scaled) { return scaled <= kExact ? scaled : (scaled - kExact) << 8U; }

// The end is exclusive: a buffer may end exactly at 2^64.
bool wraps(const RemoteBuffer& buffer, std::uint64_t octets_each, std::uint64_t more = 0) {
  const std::uint64_t octets = buffer.length * octets_each + more;  // 32 bits times at most 16: does not wrap
  return octets != 0 && buffer.address + (octets - 1) < buffer.address;
}

template <typename T>
T load(std::byte* at, std::memory_order order) noexcept {
  return std::atomic_ref<T>(*reinterpret_cast<T*>(at)).load(order);
}

}  // namespace

std::array<std::byte, kConnectOctets> encode(const ConnectData& data) {
  std::array<std::byte, kConnectOctets> octets{};
  const int flags = (data.big_endian ? kBigEndianFlag : 0) | (data.knows_iomaps ? kIomapFlag : 0);
  octets[0] = std::byte{kVersion};
  octets[1] = static_cast<std::byte>(flags);
  put(octets, 2, data.credits, true);
  octets[7] = static_cast<std::byte>(to_scale(data.iomap_entries));
  put(octets, 8, data.target_sgl, true);
  put(octets, 24, data.buffer, true);
  return octets;
}

std::optional<ConnectData> decode_connect(std::span<const std::byte> octets) {
  if (octets.size() < kConnectOctets || octets[0] != std::byte{kVersion}) return std::nullopt;
  const auto flags = std::to_integer<unsigned>(octets[1]);
  ConnectData data{.big_endian = (flags & kBigEndianFlag) != 0,
                   .knows_iomaps = (flags & kIomapFlag) != 0,
                   .credits = get<std::uint16_t>(octets, 2, true),
                   .target_sgl = get_buffer(octets, 8),
                   .buffer = get_buffer(octets, 24)};
  if (data.knows_iomaps) data.iomap_entries = from_scale(std::to_integer<std::uint8_t>(octets[7]));
  if (data.credits == 0 || data.target_sgl.length == 0) return std::nullopt;
  if (wraps(data.target_sgl, kSglEntryOctets, data.iomap_entries * kIomapEntryOctets) || wraps(data.buffer, 1)) {
    return std::nullopt;
  }
  return data;
}

std::uint32_t round_iomap_entries(std::uint32_t wanted) { return from_scale(to_scale(wanted)); }

std::array<std::byte, kSglEntryOctets> encode(const RemoteBuffer& entry, bool big_endian) {
  std::array<std::byte, kSglEntryOctets> octets{};
  put(octets, 0, entry, big_endian);
  return octets;
}

std::array<std::byte, kIomapEntryOctets> encode(const RemoteMapping& entry, bool big_endian) {
  std::array<std::byte, kIomapEntryOctets> octets{};
  put(octets, 0, entry.offset, big_endian);
  put(octets, 8, entry.buffer, big_endian);
  return octets;
}

RemoteBuffer read_entry(std::byte* at) noexcept {
  struct Last {
    std::uint32_t stag;
    std::uint32_t length;
  };
  const auto last = std::bit_cast<Last>(load<std::uint64_t>(at + 8, std::memory_order_acquire));
  if (last.length == 0) return {};  // the address may be on its way
  return {.address = load<std::uint64_t>(at, std::memory_order_relaxed), .stag = last.stag, .length = last.length};
}

RemoteMapping read_mapping(std::byte* at) noexcept {
  const RemoteBuffer buffer = read_entry(at + 8);
  return {.offset = load<std::uint64_t>(at, std::memory_order_relaxed), .buffer = buffer};
}

std::array<std::byte, kMessageOctets> encode(const Message& message) {
  std::array<std::byte, kMessageOctets> octets{};
  put(octets, 0, static_cast<std::uint32_t>(message.op) << 29U | message.value, kHere);
  return octets;
}

std::optional<Message> decode_message(std::span<const std::byte, kMessageOctets> octets, bool big_endian) {
  const auto word = get<std::uint32_t>(octets, 0, big_endian);
  const Message message{.op = static_cast<Op>(word >> 29U), .value = word & kMaxValue};
  switch (message.op) {
    case Op::kData:
    case Op::kCreditUpdate:
    case Op::kIomapUpdate:
    case Op::kControl: return message;
  }
  return std::nullopt;
}

}  // namespace weft::compat::rsockets
