// SPDX-License-Identifier: Apache-2.0
#include "conformance/capture/fragments.hpp"

#include <algorithm>
#include <iterator>
#include <limits>

#include "packet/checksum.hpp"
#include "packet/tcp.hpp"
#include "packet/udp.hpp"

namespace weft::conformance::capture {
namespace {

constexpr std::size_t kMostOctets = 65535;  // of a datagram

std::int64_t latest(std::int64_t first) noexcept {
  constexpr std::int64_t kEndOfTime = std::numeric_limits<std::int64_t>::max();
  return first > kEndOfTime - Fragments::kPatience ? kEndOfTime : first + Fragments::kPatience;
}

}  // namespace

Fragments::Datagram& Fragments::find(const Key& key, std::int64_t time) {
  if (const auto found = datagrams_.find(key); found != datagrams_.end()) {
    if (time <= latest(found->second.first_time)) return found->second;
    datagrams_.erase(found);
  }
  if (datagrams_.size() == kMostDatagrams) {
    datagrams_.erase(
        std::ranges::min_element(datagrams_, {}, [](const auto& datagram) { return datagram.second.first_time; }));
  }
  return datagrams_.emplace(key, Datagram{.first_time = time}).first->second;
}

bool Fragments::fits(const Datagram& datagram, std::uint32_t begin, std::uint32_t end) {
  if (datagram.size && end > *datagram.size) return false;
  const auto behind = datagram.pieces.lower_bound(begin);
  if (behind != datagram.pieces.end() && behind->first < end) return false;
  if (behind == datagram.pieces.begin()) return true;
  const auto& [offset, piece] = *std::prev(behind);
  return offset + piece.octets.size() <= begin;
}

void Fragments::join(const Datagram& datagram) {
  whole_.payload.clear();
  whole_.parts.clear();
  whole_.payload.reserve(datagram.held);  // so that the parts can point into it
  for (const auto& [offset, piece] : datagram.pieces) {
    std::size_t begin = whole_.payload.size();
    whole_.payload.insert(whole_.payload.end(), piece.octets.begin(), piece.octets.end());
    for (const auto& [size, place] : piece.places) {
      whole_.parts.push_back({Bytes(whole_.payload).subspan(begin, size), place});
      begin += size;
    }
  }
}

Fragments::Piece Fragments::piece_of(std::span<const Part> captured) {
  Piece piece;
  for (const Part& part : captured) {
    piece.octets.insert(piece.octets.end(), part.octets.begin(), part.octets.end());
    piece.places.emplace_back(part.octets.size(), part.place);
  }
  return piece;
}

void Fragments::put(Datagram& datagram, const packet::IpPacket& ip, Piece piece) {
  const std::uint32_t begin = ip.fragment->offset;
  const std::size_t size = ip.payload_size;
  datagram.is_void |= piece.octets.size() < size || size == 0 || begin + size > kMostOctets ||
                      !fits(datagram, begin, begin + static_cast<std::uint32_t>(size));
  if (datagram.is_void) return datagram.pieces.clear();  // it stays as a tombstone for the fragments to come
  datagram.pieces[begin] = std::move(piece);
  datagram.held += size;
  if (ip.fragment->more) return;
  datagram.size = begin + static_cast<std::uint32_t>(size);
  const auto& [offset, last] = *datagram.pieces.rbegin();
  datagram.is_void = offset + last.octets.size() != *datagram.size;
}

// A sender that makes fragments computes the checksum before, so hardware has not left it out. Zero: there is none.
bool Fragments::checksum_fits(const packet::IpPacket& ip) const {
  const Bytes part = whole_.payload;
  std::uint16_t checksum = 0;
  if (ip.protocol == packet::kTcp && part.size() >= packet::TcpLayout::kSize)
    checksum = packet::TcpLayout::Checksum::get(part);
  if (ip.protocol == packet::kUdp && part.size() >= packet::UdpLayout::kSize)
    checksum = packet::UdpLayout::Checksum::get(part);
  return checksum == 0 || packet::transport_checksum(ip.source, ip.destination, ip.protocol, part) == 0;
}

const Fragments::Whole* Fragments::add(const packet::IpPacket& ip, std::int64_t time, std::span<const Part> captured) {
  const Key key{ip.source, ip.destination, ip.fragment->id, ip.protocol};
  Datagram& datagram = find(key, time);
  Piece piece = piece_of(captured);
  const auto same = datagram.pieces.find(ip.fragment->offset);
  const bool known = same != datagram.pieces.end() && same->second.octets.size() == ip.payload_size;
  if (known && same->second.octets == piece.octets) return nullptr;  // a duplicate
  if (known || datagram.returned) datagram = {.first_time = time};
  put(datagram, ip, std::move(piece));
  if (datagram.is_void || !datagram.size || datagram.held != *datagram.size) return nullptr;
  join(datagram);
  if (checksum_fits(ip)) {
    datagram.returned = true;
    return &whole_;
  }
  Piece newest = std::move(datagram.pieces.at(ip.fragment->offset));
  datagram = {.first_time = time};
  put(datagram, ip, std::move(newest));
  return nullptr;
}

}  // namespace weft::conformance::capture
