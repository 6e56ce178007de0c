// SPDX-License-Identifier: Apache-2.0
// Hostile scripts, and hostile octets at the end that they make: nothing is placed where there is no memory, and what is
// kept and told stays within bounds.
#include <algorithm>
#include <cstdint>
#include <cstdlib>
#include <span>

#include "explain/laboratory/laboratory.hpp"

using namespace weft;
using namespace weft::explain::laboratory;

namespace {

void demand(bool condition) {
  if (!condition) std::abort();
}

constexpr std::size_t kMostJson = 32U << 20;

struct Session {
  Script script;
  Laboratory end;
  std::uint64_t fed = 0, taken = 0;
  std::size_t receives;

  explicit Session(const Script& parsed) : script(parsed), end(parsed), receives(parsed.receives.size()) {}

  void check(const Step& step) {
    std::size_t sent = 0;
    for (const Frame& frame : step.out) sent += frame.octets.size();
    demand(sent <= 2 * Laboratory::kMostSent);
    demand(to_json(step).size() <= kMostJson);
    taken += step.consumed;
    demand(taken + step.held == fed);
    for (const Placed& placed : step.placed) {
      if (placed.where == Placed::Where::kReceive) {
        demand(placed.index < receives);
      } else {
        const std::uint64_t size = script.regions.at(placed.index).size;
        demand(placed.offset <= size && placed.octets.size() <= size - placed.offset);
      }
    }
  }

  // Takes its octets from the front of `input`.
  void act(Bytes& input) {
    const auto verb = std::to_integer<unsigned>(input.front());
    input = input.subspan(1);
    switch (verb % 8) {
      case 0: return check(end.end());
      case 1: ++receives; return check(end.post_receive(verb));
      case 2: return check(end.pass_time());
      default: break;
    }
    const Bytes octets = input.first(std::min<std::size_t>(input.size(), verb / 8 * 4));
    input = input.subspan(octets.size());
    const Step step = end.feed(octets, verb % 8);
    if (taken + step.consumed + step.held != fed) fed += octets.size();  // else they were refused
    check(step);
  }
};

}  // namespace

// Up to the first octet of zero a script, after it what happens.
extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  if (size > 8192) return 0;
  Bytes input = std::as_bytes(std::span(data, size));
  const auto end = std::ranges::find(input, std::byte{0});
  const auto length = static_cast<std::size_t>(end - input.begin());
  const auto script = parse_script({reinterpret_cast<const char*>(data), length});
  if (!script) return 0;
  input = input.subspan(std::min(length + 1, size));
  Session session(*script);
  const Step first = session.end.start();
  session.check(first);
  if (!first.refused.empty()) return 0;
  while (!input.empty()) session.act(input);
  return 0;
}
