// SPDX-License-Identifier: Apache-2.0
/// @file
/// Base of every public handle: shared ownership of the process's runtime and of the object's state.
///
/// The runtime holds the progress threads, the STags and the buffers. It starts with the first handle and stops with
/// the last one, which joins the threads.
#pragma once

#include <expected>
#include <memory>
#include <string_view>
#include <utility>

#include "verbs/error.hpp"

namespace weft::verbs::detail {

class Runtime;

/// Returns true in a child of fork() for a runtime that its parent created.
/// The child neither uses nor destroys the objects of such a runtime: threads that do not exist in the child may hold
/// their locks, and a change would affect state that is shared with the parent.
[[nodiscard]] bool is_parents(const Runtime& runtime) noexcept;
/// Leaks `state`, so that it is never destroyed.
void keep_for_ever(std::shared_ptr<void> state) noexcept;
/// Returns the error of a call that would modify or wait for an object of the parent process: Errc::kInvalidState.
[[nodiscard]] std::unexpected<Error> not_ours(std::string_view object) noexcept;

/// Owns a share of a state and of the runtime that the state belongs to.
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

  std::shared_ptr<Runtime> runtime{};  ///< declared first, so that it outlives the state
  std::shared_ptr<State> state{};      ///< null for an empty handle
  [[nodiscard]] State* operator->() const noexcept { return state.get(); }
  [[nodiscard]] State& operator*() const noexcept { return *state; }
  [[nodiscard]] explicit operator bool() const noexcept { return state != nullptr; }
  /// Returns the state, or null if the handle is empty or belongs to the parent process.
  [[nodiscard]] State* ours() const noexcept { return state && !is_parents(*runtime) ? state.get() : nullptr; }
};

}  // namespace weft::verbs::detail
