// SPDX-License-Identifier: Apache-2.0
// What every public object of verbs/ is made of: a share of the process's runtime (progress thread, STags, buffers) and
// a share of its own state. The runtime starts with the first handle and stops, threads joined, with the last.
#pragma once

#include <memory>

namespace weft::verbs::detail {

class Runtime;

template <typename State>
struct Handle {
  std::shared_ptr<Runtime> runtime{};  // declared first: it outlives the state
  std::shared_ptr<State> state{};
  [[nodiscard]] State* operator->() const noexcept { return state.get(); }
  [[nodiscard]] State& operator*() const noexcept { return *state; }
  [[nodiscard]] explicit operator bool() const noexcept { return state != nullptr; }
};

}  // namespace weft::verbs::detail
