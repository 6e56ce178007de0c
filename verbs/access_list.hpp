// SPDX-License-Identifier: Apache-2.0
/// @file
/// Access lists: the remote addresses that a listener accepts, as allowed and denied prefixes.
#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "verbs/endpoint.hpp"

namespace weft::verbs {

/// Represents the addresses that share their first bits.
/// An IPv4 address mapped into IPv6 counts as IPv4: "::/0" contains no such address, and "::ffff:192.0.2.0/120" equals
/// "192.0.2.0/24".
class AddressPrefix {
 public:
  /// Parses "192.0.2.0/24", "2001:db8::/32", "fe80::%eth0/10" (restricted to one interface) or a single address.
  /// Returns nothing for any other text, for a prefix with bits set after its length, such as "192.0.2.1/24", and for a
  /// prefix outside of fe80::/10 that names an interface: no peer has such an address.
  [[nodiscard]] static std::optional<AddressPrefix> parse(std::string_view text);

  /// Returns whether the prefix contains `address`.
  /// Returns false for an address of another family and, if the prefix names an interface, of another interface.
  [[nodiscard]] bool contains(const Address& address) const noexcept;
  /// Returns the length of the prefix in bits.
  [[nodiscard]] unsigned length() const noexcept { return length_; }
  /// Returns the text that parse() accepts, always with the length: "192.0.2.0/24".
  [[nodiscard]] std::string to_string() const;
  /// Compares the first addresses and the lengths.
  bool operator==(const AddressPrefix&) const = default;

 private:
  AddressPrefix(const Address& first, unsigned length) noexcept : first_(first), length_(length) {}

  Address first_{};
  unsigned length_ = 0;
};

/// Parses prefixes joined by "+", or "none" for an empty list. Returns nothing if one of them is not a valid prefix.
[[nodiscard]] std::optional<std::vector<AddressPrefix>> parse_prefixes(std::string_view text);

/// Decides which addresses a listener accepts.
/// The longest prefix that contains the address decides; if `allow` and `deny` both have it, the address is denied.
/// An address that no prefix contains is accepted if `allow` is empty and `only_allowed` is false, else denied.
///
///     allow             deny              accepted addresses
///     -                 -                 all
///     - (only_allowed)  -                 none
///     10.0.0.0/8        -                 10.0.0.0/8, and no IPv6
///     -                 10.0.0.0/8        all except 10.0.0.0/8
///     10.0.0.0/8        10.1.0.0/16       10.0.0.0/8 except 10.1.0.0/16
///     10.1.2.0/24       10.1.0.0/16       10.1.2.0/24
struct AccessList {
  std::vector<AddressPrefix> allow{};  ///< accepted prefixes; if empty, every address that is not denied is accepted
  std::vector<AddressPrefix> deny{};   ///< denied prefixes
  /// If true, an address that no prefix contains is denied, even if `allow` is empty ("allow=none").
  bool only_allowed = false;

  /// Returns true if the list accepts every address.
  [[nodiscard]] bool empty() const noexcept { return allow.empty() && deny.empty() && !only_allowed; }
  /// Returns whether a connection from `peer` is accepted. Takes time linear in the number of prefixes.
  [[nodiscard]] bool admits(const Address& peer) const noexcept;
  /// Compares all members; the lists in order.
  bool operator==(const AccessList&) const = default;
};

}  // namespace weft::verbs
