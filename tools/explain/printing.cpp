// SPDX-License-Identifier: Apache-2.0
#include "tools/explain/printing.hpp"

#include <optional>

#include "tools/cli/standard_output.hpp"

namespace weft::tools::explaining {
namespace {

std::optional<Colour> colour_of(explain::Hue hue) {
  switch (hue) {
    case explain::Hue::kPlain: return std::nullopt;
    case explain::Hue::kHeading: return Colour::kBold;
    case explain::Hue::kQuiet:
    case explain::Hue::kTcp: return Colour::kDim;
    case explain::Hue::kMpa: return Colour::kCyan;
    case explain::Hue::kDdp: return Colour::kBlue;
    case explain::Hue::kRdmap: return Colour::kMagenta;
    case explain::Hue::kPayload: return Colour::kGreen;
    case explain::Hue::kTerminate: return Colour::kRed;
    case explain::Hue::kRemark: return Colour::kYellow;
  }
  return std::nullopt;
}

}  // namespace

std::string painted(const std::vector<explain::Line>& lines, const Palette& palette) {
  std::string text;
  for (const explain::Line& line : lines) {
    for (const explain::Span& span : line) {
      const auto colour = colour_of(span.hue);
      text += colour ? palette.paint(*colour, span.text) : span.text;
    }
    text += '\n';
  }
  return text;
}

Outcome<void> print_model(const explain::Model& model, const Palette& palette) {
  auto printed = print_now(painted(explain::heading_of(model), palette));
  for (const explain::Connection& connection : model.connections) {
    if (printed) printed = print_now(painted(explain::heading_of(connection), palette));
    for (std::size_t row = 0; row < connection.rows.size() && printed; ++row)
      printed = print_now(painted(explain::lines_of(model, connection, row), palette));
    if (printed) printed = print_now(painted(explain::memory_of(connection), palette));
  }
  return printed;
}

}  // namespace weft::tools::explaining
