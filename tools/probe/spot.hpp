// SPDX-License-Identifier: Apache-2.0
// What a verdict is about: a connection, an FPDU on it, and an octet.
#pragma once

#include <cstdint>
#include <optional>
#include <string>

#include "probe/report.hpp"
#include "tools/probe/names.hpp"

namespace weft::tools::probing {

struct Spot {
  std::size_t exchange{};  // in CaseResult::exchanges
  bool by_peer{};          // whose FPDU it is
  std::uint64_t
      fpdu{};  // its number in its sender's stream, from 1; 0: the startup frame, or octets that make no frame
  std::uint64_t begin{};  // offset of the FPDU's first octet in its sender's stream
  std::uint64_t octet{};  // offset of the first octet at fault there; `begin` where none is marked
};

// What the case named; else the first thing that the prober broke on its last connection that breaks something, else
// the last FPDU of the prober's on the last connection. Empty where no octet crossed the wire.
[[nodiscard]] std::optional<Spot> spot_of(const CaseResult& one);
// The first breach of a rule.
[[nodiscard]] std::optional<Spot> spot_of(const Report& report, const RuleResult& rule);

// "connection 2, FPDU 3 of the prober, octet 128 of its stream (12 of the FPDU)"
[[nodiscard]] std::string in_words(const Spot& spot);

}  // namespace weft::tools::probing
