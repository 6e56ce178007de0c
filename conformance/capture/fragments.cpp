// SPDX-License-Identifier: Apache-2.0
#include "conformance/capture/fragments.hpp"

#include <algorithm>
#include <iterator>
#include <limits>

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

void Fragments::join(Datagram& datagram) {
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

const Fragments::Whole* Fragments::add(const packet::IpPacket& ip, std::int64_t time, std::span<const Part> captured) {
  const Key key{ip.source, ip.destination, ip.fragment->id, ip.protocol};
  Datagram& datagram = find(key, time);
  const std::uint32_t begin = ip.fragment->offset;
  const std::size_t size = ip.payload_size;
  const auto same = datagram.pieces.find(begin);
  if (same != datagram.pieces.end() && same->second.octets.size() == size) return nullptr;  // a duplicate
  std::size_t captured_size = 0;
  for (const Part& part : captured) captured_size += part.octets.size();
  const bool cut = captured_size < size;
  datagram.is_void |= cut || size == 0 || begin + size > kMostOctets ||
                      !fits(datagram, begin, begin + static_cast<std::uint32_t>(size));
  if (datagram.is_void) {
    datagram.pieces.clear();  // it stays as a tombstone for the fragments to come
    return nullptr;
  }
  Piece fresh;
  for (const Part& part : captured) {
    fresh.octets.insert(fresh.octets.end(), part.octets.begin(), part.octets.end());
    fresh.places.emplace_back(part.octets.size(), part.place);
  }
  datagram.pieces[begin] = std::move(fresh);
  datagram.held += size;
  if (!ip.fragment->more) {
    datagram.size = begin + static_cast<std::uint32_t>(size);
    const auto& [offset, last] = *datagram.pieces.rbegin();
    datagram.is_void = offset + last.octets.size() != *datagram.size;
  }
  if (datagram.is_void || !datagram.size || datagram.held != *datagram.size) return nullptr;
  join(datagram);
  datagrams_.erase(key);
  return &whole_;
}

}  // namespace weft::conformance::capture
