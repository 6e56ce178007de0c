// SPDX-License-Identifier: Apache-2.0
// Which remote addresses a listener lets in: prefixes that it allows, and prefixes that it denies.
#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "verbs/endpoint.hpp"

namespace weft::verbs {

// The addresses that begin with the same bits. An IPv4 address mapped into IPv6 is IPv4 here as everywhere: "::/0" has
// none of them, and "::ffff:192.0.2.0/120" is "192.0.2.0/24".
class AddressPrefix {
 public:
  // "192.0.2.0/24", "2001:db8::/32", "fe80::%eth0/10" (of one interface), or an address alone. Nothing when it is none
  // of these, or has bits behind the prefix: "192.0.2.1/24" is a slip, one way or the other.
  [[nodiscard]] static std::optional<AddressPrefix> parse(std::string_view text);

  // False for an address of the other family, and, for a prefix of one interface, for an address of another one.
  [[nodiscard]] bool contains(const Address& address) const noexcept;
  [[nodiscard]] unsigned length() const noexcept { return length_; }  // in bits
  [[nodiscard]] std::string to_string() const;  // as parse() takes it, with its length: "192.0.2.0/24"
  bool operator==(const AddressPrefix&) const = default;

 private:
  AddressPrefix(const Address& first, unsigned length) noexcept : first_(first), length_(length) {}

  Address first_{};
  unsigned length_ = 0;
};

// Prefixes joined by "+", or "none". Nothing when one of them is no prefix.
[[nodiscard]] std::optional<std::vector<AddressPrefix>> parse_prefixes(std::string_view text);

// Which addresses are let in. The longest prefix that contains an address decides, and of two that are alike the denied
// one. What no prefix contains is let in if nothing is allowed by name, else not:
//
//   allow             deny              lets in
//   -                 -                 all
//   10.0.0.0/8        -                 10.0.0.0/8, and no IPv6
//   -                 10.0.0.0/8        all but 10.0.0.0/8
//   10.0.0.0/8        10.1.0.0/16       10.0.0.0/8 but for 10.1.0.0/16
//   10.1.2.0/24       10.1.0.0/16       10.1.2.0/24
struct AccessList {
  std::vector<AddressPrefix> allow{};  // let in; where there is none, all are that are not denied
  std::vector<AddressPrefix> deny{};   // not let in

  // True: every address is let in.
  [[nodiscard]] bool empty() const noexcept { return allow.empty() && deny.empty(); }
  // Looks at each prefix.
  [[nodiscard]] bool admits(const Address& peer) const noexcept;
  bool operator==(const AccessList&) const = default;
};

}  // namespace weft::verbs
