// SPDX-License-Identifier: Apache-2.0
#include "conformance/tls/handshake.hpp"

#include <algorithm>

namespace weft::conformance::tls {
namespace {

constexpr std::size_t kMessageHeader = 4;         // type, and a length of three octets
constexpr std::size_t kVersionSize = 2;           // legacy_version, in front of the random
constexpr std::uint16_t kSupportedVersions = 43;  // section 4.2.1
constexpr std::uint16_t kTls13 = 0x0304;

std::size_t body_size(Bytes header) noexcept { return Be<0, std::uint32_t>::get(header) & 0xffffffU; }

// From the front, or nothing and an end.
Bytes take(Bytes& rest, std::size_t size, bool& good) noexcept {
  good = good && rest.size() >= size;
  if (!good) return {};
  const Bytes front = rest.first(size);
  rest = rest.subspan(size);
  return front;
}

std::uint16_t take_number(Bytes& rest, bool& good) noexcept {
  const Bytes octets = take(rest, sizeof(std::uint16_t), good);
  return good ? Be<0, std::uint16_t>::get(octets) : std::uint16_t{0};
}

bool names_tls_1_3(Bytes extensions) noexcept {
  bool good = true;
  while (good && !extensions.empty()) {
    const std::uint16_t type = take_number(extensions, good);
    Bytes value = take(extensions, take_number(extensions, good), good);
    if (good && type == kSupportedVersions) return take_number(value, good) == kTls13;
  }
  return false;
}

}  // namespace

std::optional<MessageCutter::Message> MessageCutter::next(Bytes& octets) {
  while (!octets.empty()) {
    const std::size_t whole = kept_.size() < kMessageHeader ? kMessageHeader : kMessageHeader + body_size(kept_);
    const Bytes piece = octets.first(std::min(octets.size(), whole - seen_));
    octets = octets.subspan(piece.size());
    seen_ += piece.size();
    const Bytes fits = piece.first(std::min(piece.size(), kMessageHeader + kKept - kept_.size()));
    kept_.insert(kept_.end(), fits.begin(), fits.end());
    if (seen_ < kMessageHeader || seen_ < kMessageHeader + body_size(kept_)) continue;
    seen_ = 0;
    const auto type = static_cast<MessageType>(kept_.front());
    body_.assign(kept_.begin() + kMessageHeader, kept_.end());
    kept_.clear();
    return Message{type, body_};
  }
  return std::nullopt;
}

std::optional<ClientRandom> client_random(Bytes body) {
  ClientRandom random{};
  if (body.size() < kVersionSize + random.size()) return std::nullopt;
  std::ranges::copy(body.subspan(kVersionSize, random.size()), random.begin());
  return random;
}

std::optional<ServerChoice> server_choice(Bytes body) {
  bool good = true;
  take(body, kVersionSize + ClientRandom{}.size(), good);
  const Bytes session_size = take(body, 1, good);
  take(body, good ? std::to_integer<std::size_t>(session_size.front()) : 0, good);
  const std::uint16_t suite = take_number(body, good);
  take(body, 1, good);  // legacy_compression_method
  if (!good) return std::nullopt;
  const std::uint16_t extensions = take_number(body, good);  // before TLS 1.3 there may be none
  return ServerChoice{names_tls_1_3(take(body, extensions, good)), suite};
}

}  // namespace weft::conformance::tls
