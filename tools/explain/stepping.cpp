// SPDX-License-Identifier: Apache-2.0
#include "tools/explain/stepping.hpp"

#include <fmt/format.h>

#include <algorithm>

#include "tools/cli/standard_output.hpp"
#include "tools/explain/keys.hpp"
#include "tools/explain/printing.hpp"

namespace weft::tools::explaining {
namespace {

constexpr const char* kWipe = "\r\x1b[K";  // the line, from its beginning on

struct Stop {
  const explain::Connection* connection{};
  std::size_t row{};
};

std::vector<Stop> stops_of(const explain::Model& model) {
  std::vector<Stop> stops;
  for (const auto& connection : model.connections) {
    for (std::size_t row = 0; row < connection.rows.size(); ++row) stops.push_back({&connection, row});
  }
  return stops;
}

// Where a key leads from `at`.
std::size_t led(Key key, std::size_t at, std::size_t stops) {
  switch (key) {
    case Key::kNext: return std::min(at + 1, stops - 1);
    case Key::kBack: return at == 0 ? 0 : at - 1;
    case Key::kFirst: return 0;
    case Key::kLast: return stops - 1;
    case Key::kQuit:
    case Key::kOther: return at;
  }
  return at;
}

Outcome<void> print_stop(const explain::Model& model, const Stop& stop, const Palette& palette) {
  std::string text = kWipe;
  if (stop.row == 0) text += painted(explain::heading_of(*stop.connection), palette);
  return print_now(text + painted(explain::lines_of(model, *stop.connection, stop.row), palette));
}

Outcome<void> print_prompt(std::size_t at, std::size_t stops, const Palette& palette) {
  const std::string words = fmt::format("{} of {}{}: space next, b back, g first, G last, q quit", at + 1, stops,
                                        at + 1 == stops ? ", the end" : "");
  return print_now(palette.paint(Colour::kBold, words));
}

Outcome<void> walk(const explain::Model& model, const std::vector<Stop>& stops, const Palette& palette) {
  const auto keys = KeyMode::begin();
  if (!keys) return std::unexpected(keys.error());
  std::size_t at = 0;
  auto printed = print_stop(model, stops[at], palette);
  while (printed) {
    if (auto prompted = print_prompt(at, stops.size(), palette); !prompted) return prompted;
    auto key = keys->next();
    while (key && (*key == Key::kOther || (*key != Key::kQuit && led(*key, at, stops.size()) == at)))
      key = keys->next();
    if (auto wiped = print_now(kWipe); !wiped) return wiped;
    if (!key) return std::unexpected(key.error());
    if (*key == Key::kQuit) return {};
    at = led(*key, at, stops.size());
    printed = print_stop(model, stops[at], palette);
  }
  return printed;
}

}  // namespace

Outcome<void> step_through(const explain::Model& model, const Palette& palette) {
  if (auto printed = print_now(painted(explain::heading_of(model), palette)); !printed) return printed;
  const auto stops = stops_of(model);
  return stops.empty() ? Outcome<void>() : walk(model, stops, palette);
}

}  // namespace weft::tools::explaining
