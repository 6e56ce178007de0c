// SPDX-License-Identifier: Apache-2.0
#include "conformance/tls_layer.hpp"

#include <algorithm>
#include <array>
#include <optional>
#include <utility>
#include <variant>

#include "conformance/tls/decryption.hpp"

namespace weft::conformance {
namespace {

constexpr std::size_t kTold = 6;       // octets that tell TLS from others: a record's header, and the type of a message
constexpr std::size_t kMostHeld = 64;  // events without octets

// Returns whether the first octets of a connection, or of what the capture shows of it, are a TLS record. MPA's startup
// frames begin with 'M', and an FPDU that began like a TLS record would have an invalid DDP or RDMAP version.
bool begins_like_tls(Bytes front) noexcept {
  using tls::ContentType;
  const auto at = [&](std::size_t index) { return std::to_integer<unsigned>(front[index]); };
  const auto type = static_cast<ContentType>(front[0]);
  const std::size_t size = Be<3, std::uint16_t>::get(front);
  if (at(1) != 3 || at(2) == 0 || at(2) > 3 || size == 0) return false;
  switch (type) {
    case ContentType::kChangeCipherSpec: return size == 1;
    case ContentType::kAlert: return size == 2;
    case ContentType::kHandshake: return size < tls::kMostFragment - 256 && (at(5) == 1 || at(5) == 2);
    case ContentType::kApplicationData: return at(2) == 3 && size > tls::kTagSize && size <= tls::kMostFragment;
  }
  return false;
}

}  // namespace

// Octets of an event are gone when it is; these are kept.
struct TlsLayer::Held {
  TcpEvent event{};
  std::vector<std::byte> octets{};
};

TlsLayer::TlsLayer(KeyLog* keys) : keys_(keys) {}
TlsLayer::~TlsLayer() = default;
TlsLayer::TlsLayer(TlsLayer&&) noexcept = default;
TlsLayer& TlsLayer::operator=(TlsLayer&&) noexcept = default;

void TlsLayer::feed(const TcpEvent& event) {
  if (!decided_) return look(event);
  if (decryption_) return decryption_->feed(event);
  passing_ = &event;
}

// The end that speaks first tells. Where anything else comes before enough of its octets are there, it is no TLS.
void TlsLayer::look(const TcpEvent& event) {
  hold(event);
  std::vector<std::byte> front;
  std::optional<End> first;
  std::size_t others = 0;
  bool mixed = std::holds_alternative<TcpGap>(event) || std::holds_alternative<TcpClosed>(event);
  for (const Held& held : held_) {
    const auto* const octets = std::get_if<TcpOctets>(&held.event);
    if (octets == nullptr) {
      ++others;
      continue;
    }
    mixed = mixed || first.value_or(octets->from) != octets->from;
    first = octets->from;
    front.insert(front.end(), held.octets.begin(), held.octets.end());
  }
  const bool enough = front.size() >= kTold;
  if (enough || mixed || others == kMostHeld) decide(enough && !mixed && begins_like_tls(front));
}

void TlsLayer::hold(const TcpEvent& event) {
  Held& held = held_.emplace_back(event);
  auto* octets = std::get_if<TcpOctets>(&held.event);
  if (octets == nullptr) return;
  held.octets.assign(octets->octets.begin(), octets->octets.end());
  octets->octets = held.octets;
  held_octets_ += held.octets.size();
}

void TlsLayer::decide(bool tls) {
  decided_ = true;
  if (tls) decryption_ = std::make_unique<tls::Decryption>(keys_);
}

const TcpEvent* TlsLayer::next() {
  if (!decided_) return nullptr;
  for (;;) {
    const TcpEvent* clear = decryption_ ? decryption_->next() : std::exchange(passing_, nullptr);
    if (clear != nullptr) return clear;
    if (given_ == held_.size()) break;
    const Held& held = held_[given_++];
    if (!decryption_) return &held.event;
    decryption_->feed(held.event);
  }
  held_ = {};
  held_octets_ = 0;
  given_ = 0;
  return nullptr;
}

void TlsLayer::finish() {
  if (!decided_) decide(false);
  if (decryption_) decryption_->finish();
}

std::size_t TlsLayer::held() const noexcept { return held_octets_ + (decryption_ ? decryption_->held() : 0); }

const TlsFacts* TlsLayer::tls() const noexcept { return decryption_ ? &decryption_->facts() : nullptr; }

}  // namespace weft::conformance
