// SPDX-License-Identifier: Apache-2.0
// What is in each file of pcap-samples/, written down from its manifest: what the captures hold must not depend on who
// reads them.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

namespace weft::captures {

// The enhanced data of RFC 6581 as it is on the wire: A, B, IRD; C, D, ORD.
struct Enhanced {
  std::uint32_t request{};
  std::uint32_t reply{};
  bool operator==(const Enhanced&) const = default;
};

struct ExpectedTerminate {
  std::uint8_t layer{};
  std::uint8_t type{};
  std::uint8_t code{};
  bool operator==(const ExpectedTerminate&) const = default;
};

struct Expectation {
  std::string_view name{};
  int revision{};
  bool crc{};
  std::size_t connections{};                    // those that speak MPA
  std::array<std::size_t, 8> fpdus{};           // by RDMAP opcode 0 to 7
  std::vector<Enhanced> enhanced{};             // by connection; one entry stands for all
  std::vector<ExpectedTerminate> terminates{};  // what siw means by its own layout
  std::size_t nonzero_pads{};                   // FPDUs whose pad siw left as it was (MPA-4.1-03)
};

const std::vector<Expectation>& expectations();
std::string sample_path(std::string_view name);
std::string test_name(const Expectation& expectation);  // as gtest takes it: without hyphens

}  // namespace weft::captures
