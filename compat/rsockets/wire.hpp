// SPDX-License-Identifier: Apache-2.0
// What rsockets put on the wire: rdma-core's published protocol, version 1 ("rsocket Protocol and Design Guide",
// rsocket(7)), in its form for iWARP, which has no RDMA Write with Immediate of 32 bits: a message is a Send of its
// own.
//
// Private data of the connection's request and of its reply, in network order:
//
//    0                   1                   2                   3
//    0 1 2 3 4 5 6 7 8 9 0 1 2 3 4 5 6 7 8 9 0 1 2 3 4 5 6 7 8 9 0 1
//   +---------------+-------------+-+-+-----------------------------+
//   |  version = 1  |   0         |I|B|            credits          |   B: the sender's host is big-endian
//   +---------------+-------------+-+-+-------------+---------------+   I: it knows iomaps
//   |                    reserved = 0               |  iomap size   |   credits: Sends it has receives for
//   +-----------------------------------------------+---------------+
//   |                  address of its target SGL                    |   where we write which of our buffers are free
//   |                                                               |
//   +---------------------------------------------------------------+
//   |                      STag of that                             |
//   +---------------------------------------------------------------+
//   |                  number of its entries                        |   after the last one lies its target iomap
//   +---------------------------------------------------------------+
//   |           address, STag, length in octets (as above)          |   its first free receive buffer
//   +---------------------------------------------------------------+
//
// An entry of a target SGL (16 octets) and of a target iomap (24), in the order of the host whose memory it is, written
// there with RDMA Write:
//
//   +---------------------------+-------------+-------------+
//   |         address  8        |   STag  4   |  length  4  |
//   +---------------------------+-------------+-------------+
//   +---------------------------+---------------------------+-------------+-------------+
//   |         offset  8         |         address  8        |   STag  4   |  length  4  |
//   +---------------------------+---------------------------+-------------+-------------+
//
// A message, a Send of four octets in the order of the host that sends it:
//
//   +-----+---------------------------------------------------------+
//   | op  |                       value (29 bits)                   |
//   +-----+---------------------------------------------------------+
//    000   data           octets written after those of the message before
//    100   credit update  sequence number (modulo 2^16) of the first message that the peer may not send yet; an entry
//                         of the peer's target SGL may have been written before
//    110   iomap update   index of the entry that was written before
//    111   control        0 disconnect, 1 keep-alive, 2 shutdown: no more data comes, but may go
//
// Data and iomap updates have sequence numbers, the others do not. (rdma-core counts iomap updates where it sends them
// and not where it receives them, so each one that it gets costs its peer a credit for good.)
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>

namespace weft::compat::rsockets {

inline constexpr std::uint8_t kVersion = 1;
inline constexpr std::size_t kConnectOctets = 40;
inline constexpr std::size_t kMessageOctets = 4;
inline constexpr std::size_t kSglEntryOctets = 16;
inline constexpr std::size_t kIomapEntryOctets = 24;
inline constexpr std::uint32_t kSglEntries = 2;  // of our own target SGL
inline constexpr std::uint32_t kMaxValue = (1U << 29) - 1;

// Memory at the other end.
struct RemoteBuffer {
  std::uint64_t address{};
  std::uint32_t stag{};
  std::uint32_t length{};
  bool operator==(const RemoteBuffer&) const = default;
};

struct RemoteMapping {
  std::uint64_t offset{};
  RemoteBuffer buffer{};
};

struct ConnectData {
  bool big_endian{};
  bool knows_iomaps{};
  std::uint16_t credits{};
  std::uint32_t iomap_entries{};  // as rounded by round_iomap_entries
  RemoteBuffer target_sgl{};      // its length counts entries
  RemoteBuffer buffer{};
};

enum class Op : std::uint8_t { kData = 0, kCreditUpdate = 4, kIomapUpdate = 6, kControl = 7 };
enum class Control : std::uint32_t { kDisconnect = 0, kKeepAlive = 1, kShutdown = 2 };

struct Message {
  Op op{};
  std::uint32_t value{};
};

[[nodiscard]] std::array<std::byte, kConnectOctets> encode(const ConnectData& data);
// Decodes connection data. Returns nothing if they are too short, of another version, or unusable (no SGL entry,
// addresses that wrap).
[[nodiscard]] std::optional<ConnectData> decode_connect(std::span<const std::byte> octets);

// The number of entries, of those that the 8 bits of the private data can tell: other numbers are rounded.
[[nodiscard]] std::uint32_t round_iomap_entries(std::uint32_t wanted);

// In the order of the host whose memory it goes to.
[[nodiscard]] std::array<std::byte, kSglEntryOctets> encode(const RemoteBuffer& entry, bool big_endian);
[[nodiscard]] std::array<std::byte, kIomapEntryOctets> encode(const RemoteMapping& entry, bool big_endian);
// Reads an entry of this end's table, which the peer may write at any time. The STag and the length arrive last, as one
// word, so they are read first. An entry without a length is empty.
[[nodiscard]] RemoteBuffer read_entry(std::byte* at) noexcept;
[[nodiscard]] RemoteMapping read_mapping(std::byte* at) noexcept;

[[nodiscard]] std::array<std::byte, kMessageOctets> encode(const Message& message);
// `big_endian`: the sender's host. Nothing when the op is reserved.
[[nodiscard]] std::optional<Message> decode_message(std::span<const std::byte, kMessageOctets> octets, bool big_endian);

}  // namespace weft::compat::rsockets
