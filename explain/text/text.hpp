// SPDX-License-Identifier: Apache-2.0
// The model as text for a terminal: a line of the ladder, and below it what its octets are and what they do.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "explain/model/model.hpp"

namespace weft::explain {

/// What a piece of text is about; who prints it chooses the color.
enum class Hue : std::uint8_t { kPlain, kHeading, kQuiet, kTcp, kMpa, kDdp, kRdmap, kPayload, kTerminate, kRemark };

/// Text of one hue.
struct Span {
  Hue hue{};           ///< what it is about
  std::string text{};  ///< without the end of a line
};
/// What stands in one line.
using Line = std::vector<Span>;

/// What the model is of, and what could not be read.
[[nodiscard]] std::vector<Line> heading_of(const Model& model);
/// Whose connection it is, and what both ends agreed on.
[[nodiscard]] std::vector<Line> heading_of(const Connection& connection);
/// A row with all that there is to tell of it.
[[nodiscard]] std::vector<Line> lines_of(const Model& model, const Connection& connection, std::size_t row);
/// What the connection shows of both ends' memory.
[[nodiscard]] std::vector<Line> memory_of(const Connection& connection);

}  // namespace weft::explain
