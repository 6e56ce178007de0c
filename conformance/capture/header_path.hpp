// SPDX-License-Identifier: Apache-2.0
// The encapsulations that a packet came in, from the outside to the inside.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <span>
#include <string>

namespace weft::conformance::capture {

enum class Encapsulation : std::uint8_t {
  kVlan,     // IEEE 802.1Q and 802.1ad: VLAN id
  kMpls,     // RFC 3032: label
  kPppoe,    // RFC 2516: session
  kIp,       // IP in IP, RFC 2003, 2473 and 4213
  kEtherIp,  // RFC 3378
  kGre,      // RFC 2784
  kGreKey,   // RFC 2890: key
  kNvgre,    // RFC 7637: virtual subnet
  kPptp,     // RFC 2637: call
  kErspan,   // session
  kVxlan,    // RFC 7348: network
  kGeneve,   // RFC 8926: network
};

struct EncapsulationLayer {
  Encapsulation kind{};
  std::uint32_t id{};
};

class HeaderPath {
 public:
  static constexpr std::size_t kMost = 16;  // layers; deeper packets are not unwrapped

  // False: the path is full.
  bool add(Encapsulation kind, std::uint32_t id = 0) noexcept {
    if (size_ == kMost) return false;
    layers_[size_++] = {kind, id};
    return true;
  }
  [[nodiscard]] std::span<const EncapsulationLayer> layers() const noexcept { return std::span(layers_).first(size_); }

 private:
  std::array<EncapsulationLayer, kMost> layers_{};
  std::size_t size_ = 0;
};

// "VLAN 5, VXLAN 42"; empty where there is none.
[[nodiscard]] std::string in_words(const HeaderPath& path);

}  // namespace weft::conformance::capture
