// SPDX-License-Identifier: Apache-2.0
// What every public object of verbs/ is made of: a share of the process's runtime (progress thread, STags, buffers) and
// a share of its own state. The runtime starts with the first handle and stops, threads joined, with the last.
#pragma once

#include <expected>
#include <memory>
#include <string_view>
#include <utility>

#include "verbs/error.hpp"

namespace weft::verbs::detail {

class Runtime;

// In a child of fork() the runtime is its parent's, and so are all objects that belong to it. They stay as they are:
// their locks may be held by threads that the child does not have, and what they would change is shared with the
// parent.
[[nodiscard]] bool is_parents(const Runtime& runtime) noexcept;
void keep_for_ever(std::shared_ptr<void> state) noexcept;
// What a call on such an object answers that would change it, or wait for something to happen to it.
[[nodiscard]] std::unexpected<Error> not_ours(std::string_view object) noexcept;

template <typename State>
struct Handle {
  Handle() = default;
  Handle(std::shared_ptr<Runtime> of, std::shared_ptr<State> what) noexcept
      : runtime(std::move(of)), state(std::move(what)) {}
  Handle(const Handle&) = default;
  Handle(Handle&&) noexcept = default;
  Handle& operator=(Handle other) noexcept {
    std::swap(runtime, other.runtime);
    std::swap(state, other.state);
    return *this;
  }
  ~Handle() {
    if (state && is_parents(*runtime)) keep_for_ever(std::move(state));
  }

  std::shared_ptr<Runtime> runtime{};  // declared first: it outlives the state
  std::shared_ptr<State> state{};
  [[nodiscard]] State* operator->() const noexcept { return state.get(); }
  [[nodiscard]] State& operator*() const noexcept { return *state; }
  [[nodiscard]] explicit operator bool() const noexcept { return state != nullptr; }
  // Null when there is none, or when it is the parent's.
  [[nodiscard]] State* ours() const noexcept { return state && !is_parents(*runtime) ? state.get() : nullptr; }
};

}  // namespace weft::verbs::detail
