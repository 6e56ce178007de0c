// SPDX-License-Identifier: Apache-2.0
// IP datagrams that came in fragments (RFC 791 section 3.2, RFC 8200 section 4.5), put back together. Which packet
// carried which octet is kept: findings name it, and libtins' reassembler forgets it.
#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <span>
#include <tuple>
#include <utility>
#include <vector>

#include "conformance/place.hpp"
#include "packet/ip.hpp"

namespace weft::conformance::capture {

// Octets that one packet carried.
struct Part {
  Bytes octets{};
  Place place{};  // of the first
};

class Fragments {
 public:
  static constexpr std::size_t kMostDatagrams = 256;  // incomplete ones; the oldest gives way
  static constexpr std::int64_t kPatience =
      2'000'000'000;  // nanoseconds; then the identification is another datagram's

  // Keeps a fragment, whose payload was captured as `captured`, in order and without holes. The payload of the whole
  // datagram, when this was the last one missing: valid until the next call, which may have parts of it.
  // Fragments that overlap make their datagram void (RFC 5722), and so do those that were not captured completely.
  // Identifications are used again within a second on fast networks (RFC 4963). So a fragment that differs from the one
  // that is held begins another datagram, and octets whose TCP or UDP checksum is wrong are not of one datagram.
  struct Whole {
    std::vector<std::byte> payload{};
    std::vector<Part> parts{};  // of the payload, in order and without holes
  };
  [[nodiscard]] const Whole* add(const packet::IpPacket& ip, std::int64_t time, std::span<const Part> captured);

 private:
  struct Piece {
    std::vector<std::byte> octets{};
    std::vector<std::pair<std::size_t, Place>> places{};  // of runs of so many octets
  };
  struct Datagram {
    std::map<std::uint32_t, Piece> pieces{};  // by offset
    std::optional<std::uint32_t> size{};      // known when the last fragment has come
    std::size_t held = 0;
    std::int64_t first_time = 0;
    bool is_void = false;
    bool returned = false;  // whole; kept to know its duplicates
  };
  using Key = std::tuple<packet::Address, packet::Address, std::uint32_t, std::uint8_t>;

  Datagram& find(const Key& key, std::int64_t time);
  static Piece piece_of(std::span<const Part> captured);
  static bool fits(const Datagram& datagram, std::uint32_t begin, std::uint32_t end);
  static void put(Datagram& datagram, const packet::IpPacket& ip, Piece piece);
  void join(const Datagram& datagram);
  [[nodiscard]] bool checksum_fits(const packet::IpPacket& ip) const;

  std::map<Key, Datagram> datagrams_{};
  Whole whole_{};
};

}  // namespace weft::conformance::capture
