// SPDX-License-Identifier: Apache-2.0
// How a verbs call fails: a code for programs, the argument at fault and a reason for people.
#pragma once

#include <cstdint>
#include <expected>
#include <string>
#include <string_view>
#include <system_error>

namespace weft::verbs {

enum class Errc : std::uint8_t {
  kInvalidArgument = 1,  // an argument can never be right
  kInvalidState,         // the object is not in a state that allows this call
  kInvalidKey,           // an lkey or rkey names nothing that this object may use
  kBadAddress,           // memory is not mapped, or not with the access asked for
  kLimitExceeded,        // more than the device or the object can do
  kNoResources,          // the device holds as many such objects as DeviceLimits says
  kQueueFull,            // a work queue holds its bound of uncompleted work requests
  kTooManySegments,
  kInlineTooLong,
  kMessageTooLong,
  kPrivateDataTooLong,
  kNotSupported,
  kNoDevice,     // no such interface, or no route through one
  kBusy,         // something still uses the object
  kWouldBlock,   // nothing there, and the descriptor is non-blocking
  kInterrupted,  // a signal arrived while waiting
  kTimedOut,
  kAddressInUse,
  kRefused,   // there is no listener, or the peer reset the start-up
  kRejected,  // the peer's ULP said no
  kUnreachable,
  kDisconnected,
  kOverflow,  // a completion queue or event queue lost an entry
  kProtocol,  // the peer broke the protocol
  kSystem,    // the operating system refused; see Error::os_error
};

// The category of Errc. Each code compares equal to the std::errc that C facades turn into errno.
[[nodiscard]] const std::error_category& error_category() noexcept;
[[nodiscard]] inline std::error_code make_error_code(Errc code) noexcept {
  return {static_cast<int>(code), error_category()};
}

struct Error {
  Errc code{};
  std::string_view argument{};  // which argument or object; static storage
  std::string_view reason{};    // what is wrong with it; static storage
  int os_error{};               // errno when the operating system is the cause, else 0

  // "max_send_wr: larger than the device's limit (limit exceeded)"
  [[nodiscard]] std::string message() const;
  // errno for C facades: os_error when set, else what the code is equivalent to.
  [[nodiscard]] int to_errno() const noexcept;
};

template <typename T>
using Result = std::expected<T, Error>;

[[nodiscard]] inline std::unexpected<Error> fail(Errc code, std::string_view argument, std::string_view reason,
                                                 int os_error = 0) {
  return std::unexpected(Error{code, argument, reason, os_error});
}

}  // namespace weft::verbs

template <>
struct std::is_error_code_enum<weft::verbs::Errc> : std::true_type {};
