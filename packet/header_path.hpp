// SPDX-License-Identifier: Apache-2.0
/// @file
/// The encapsulations of a packet, from the outside to the inside.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <span>
#include <string>

namespace weft::packet {

/// Identifies an encapsulation and the number that it has.
enum class Encapsulation : std::uint8_t {
  kVlan,     ///< IEEE 802.1Q and 802.1ad: VLAN id
  kMpls,     ///< RFC 3032: label
  kPppoe,    ///< RFC 2516: session
  kIp,       ///< IP in IP, RFC 2003, 2473 and 4213
  kEtherIp,  ///< RFC 3378
  kGre,      ///< RFC 2784
  kGreKey,   ///< RFC 2890: key
  kNvgre,    ///< RFC 7637: virtual subnet
  kPptp,     ///< RFC 2637: call
  kErspan,   ///< session
  kVxlan,    ///< RFC 7348: network
  kGeneve,   ///< RFC 8926: network
};

/// Describes one encapsulation.
struct EncapsulationLayer {
  Encapsulation kind{};  ///< kind
  std::uint32_t id{};    ///< its number; 0 for kinds without one
};

/// Lists the encapsulations of a packet. Allocates no memory.
class HeaderPath {
 public:
  static constexpr std::size_t kMost = 16;  ///< layers; deeper packets are not unwrapped

  /// Adds a layer. Returns false and adds nothing if the path is full.
  bool add(Encapsulation kind, std::uint32_t id = 0) noexcept {
    if (size_ == kMost) return false;
    layers_[size_++] = {kind, id};
    return true;
  }
  /// Returns the layers, which the path owns.
  [[nodiscard]] std::span<const EncapsulationLayer> layers() const noexcept { return std::span(layers_).first(size_); }

 private:
  std::array<EncapsulationLayer, kMost> layers_{};
  std::size_t size_ = 0;
};

/// Returns the path as text: "VLAN 5, VXLAN 42"; empty for no encapsulation.
[[nodiscard]] std::string in_words(const HeaderPath& path);

}  // namespace weft::packet
