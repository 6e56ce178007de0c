// SPDX-License-Identifier: Apache-2.0
// How a call of the C interfaces fails: an errno for the program, and at log level info one line with the reason.
#pragma once

#include <cxxabi.h>

#include <cerrno>
#include <exception>
#include <new>
#include <string_view>
#include <utility>

#include "compat/objects/cancellation.hpp"
#include "verbs/error.hpp"

namespace weft::compat {

// Logs "ibv_reg_mr: access: ... (EINVAL)", sets errno and returns it, positive: rdma-core's calls that return an errno
// set it as well, and programs print it by perror().
int refused(std::string_view call, const verbs::Error& error) noexcept;
int refused(std::string_view call, int error, std::string_view reason) noexcept;
// At log level warn, for what no program on iWARP can have, and one that tries seldom tells its user why.
int refused_for_good(std::string_view call, int error, std::string_view reason) noexcept;

// For calls that answer with a null pointer, or with -1.
std::nullptr_t refused_null(std::string_view call, const verbs::Error& error) noexcept;
std::nullptr_t refused_null(std::string_view call, int error, std::string_view reason) noexcept;
int refused_minus_one(std::string_view call, const verbs::Error& error) noexcept;
int refused_minus_one(std::string_view call, int error, std::string_view reason) noexcept;

// --- Nothing is thrown across the C boundary: out of memory is what the call answers then. `Answer` is what the C
// function returns; `otherwise` is called with ENOMEM.

// For the data path, and what the other two have in common.
template <typename Body, typename Otherwise>
auto quickly(Body&& body, Otherwise&& otherwise) noexcept -> decltype(body()) {
  try {
    return std::forward<Body>(body)();
  } catch (...) {  // std::bad_alloc; or std::system_error, when a thread or a lock is not to be had
    return std::forward<Otherwise>(otherwise)(ENOMEM);
  }
}
template <typename Body>
int quickly_errno(Body&& body) noexcept {
  return quickly(std::forward<Body>(body), [](int error) { return errno = error; });
}

template <typename Body>
int quickly_minus_one(Body&& body) noexcept {
  return quickly(std::forward<Body>(body), [](int error) {
    errno = error;
    return -1;
  });
}

// For calls that do not wait, or are to be carried out all the same: the thread is not canceled in them.
template <typename Body, typename Otherwise>
auto guarded(Body&& body, Otherwise&& otherwise) noexcept -> decltype(body()) {
  const Uncancelled until_return;
  return quickly(std::forward<Body>(body), std::forward<Otherwise>(otherwise));
}
// The three conventions: an errno as result; null and errno; -1 and errno.
template <typename Body>
int guarded_errno(Body&& body) noexcept {
  return guarded(std::forward<Body>(body), [](int error) { return errno = error; });
}
template <typename Body>
auto guarded_null(Body&& body) noexcept -> decltype(body()) {
  return guarded(std::forward<Body>(body), [](int error) {
    errno = error;
    return decltype(body()){};
  });
}
template <typename Body>
int guarded_minus_one(Body&& body) noexcept {
  return guarded(std::forward<Body>(body), [](int error) {
    errno = error;
    return -1;
  });
}

// For calls that wait: the thread may be canceled in their Waits, and only there. That unwinds it, through the call
// and through the program: neither these nor their callers are noexcept.
template <typename Body, typename Otherwise>
auto waiting(Body&& body, Otherwise&& otherwise) -> decltype(body()) {
  const UncancelledButInWaits until_return;
  try {
    return std::forward<Body>(body)();
  } catch (const abi::__forced_unwind&) {
    throw;
  } catch (...) {
    return std::forward<Otherwise>(otherwise)(ENOMEM);
  }
}
template <typename Body>
int waiting_minus_one(Body&& body) {
  return waiting(std::forward<Body>(body), [](int error) {
    errno = error;
    return -1;
  });
}

}  // namespace weft::compat
