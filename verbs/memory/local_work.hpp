// SPDX-License-Identifier: Apache-2.0
// Work requests that never leave the host. They wait for their turn in the send queue and then affect memory.
#pragma once

#include <cstdint>
#include <memory>
#include <variant>

#include "verbs/memory/region_state.hpp"

namespace weft::verbs::detail {

struct LocalInvalidate {
  std::uint32_t stag{};
};

struct BindWindow {
  std::shared_ptr<WindowState> window{};
  std::shared_ptr<RegionState> region{};
  std::uint32_t stag{};
  std::uint64_t address{};
  std::uint64_t length{};
  Access access{};
};

struct LocalWork {
  std::uint64_t cookie{};
  std::variant<LocalInvalidate, BindWindow> work{};
};

}  // namespace weft::verbs::detail
