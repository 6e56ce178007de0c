// SPDX-License-Identifier: Apache-2.0
/// @file
/// Error reporting of the verbs API: a code for programs, the argument at fault, and a reason for people.
#pragma once

#include <cstdint>
#include <expected>
#include <string>
#include <string_view>
#include <system_error>

namespace weft::verbs {

/// Identifies why a call failed. The numbers are specific to weft; error_category() maps each code to an errno value.
enum class Errc : std::uint8_t {
  kInvalidArgument = 1,  ///< an argument is invalid in every state
  kInvalidState,         ///< the object is not in a state that allows this call
  kInvalidKey,           ///< an lkey or rkey does not refer to anything that this object may use
  kBadAddress,           ///< memory is not mapped, or lacks the required protection
  kLimitExceeded,        ///< the request exceeds a limit of the device or of the object
  kNoResources,          ///< the device already has as many such objects as DeviceLimits allows
  kQueueFull,            ///< a work queue already has its maximum of uncompleted work requests
  kTooManySegments,      ///< a scatter/gather list is longer than the queue was created for
  kInlineTooLong,        ///< inline data is longer than QueuePairAttributes::max_inline
  kMessageTooLong,       ///< the message is longer than RDMAP allows
  kPrivateDataTooLong,   ///< the private data is longer than ConnectionParameters::private_data allows
  kNotSupported,         ///< this end or the peer does not support the operation
  kNoDevice,             ///< the interface does not exist, or no route leads through one
  kBusy,                 ///< the object is still in use
  kWouldBlock,           ///< nothing is available, and the descriptor is non-blocking
  kInterrupted,          ///< a signal arrived during the wait
  kTimedOut,             ///< the time limit expired
  kAddressInUse,         ///< another socket uses the port
  kRefused,              ///< no listener exists, or the peer reset the connection during startup
  kRejected,             ///< the peer's application rejected the connection
  kUnreachable,          ///< no route leads to the peer, or the peer does not answer
  kDisconnected,         ///< the connection has ended or is closing
  kOverflow,             ///< a completion queue or event queue lost an entry
  kProtocol,             ///< the peer violated the protocol
  kSystem,               ///< the operating system refused; see Error::os_error
};

/// Returns the category of Errc. Each code compares equal to the std::errc that C facades convert to errno.
[[nodiscard]] const std::error_category& error_category() noexcept;
/// Converts an Errc to a std::error_code. The standard library calls this function for implicit conversions.
[[nodiscard]] inline std::error_code make_error_code(Errc code) noexcept {
  return {static_cast<int>(code), error_category()};
}

/// Describes how one call failed.
struct Error {
  Errc code{};                  ///< cause, for programs
  std::string_view argument{};  ///< name of the argument or object at fault; static storage
  std::string_view reason{};    ///< what is wrong with it, for people; static storage
  int os_error{};               ///< errno if the operating system is the cause, else 0

  /// Returns one line for people: "max_send_wr: larger than the device's limit (limit exceeded)".
  [[nodiscard]] std::string message() const;
  /// Returns an errno value for C facades: os_error if it is not 0, else the equivalent of `code`.
  [[nodiscard]] int to_errno() const noexcept;
};

template <typename T>
using Result = std::expected<T, Error>;  ///< the result of a call that can fail: a `T` or an Error

/// Returns the error value of a call that returns a Result.
/// `argument` and `reason` must have static storage duration.
[[nodiscard]] inline std::unexpected<Error> fail(Errc code, std::string_view argument, std::string_view reason,
                                                 int os_error = 0) {
  return std::unexpected(Error{code, argument, reason, os_error});
}

}  // namespace weft::verbs

/// @cond
// Enables the implicit conversion of weft::verbs::Errc to std::error_code.
template <>
struct std::is_error_code_enum<weft::verbs::Errc> : std::true_type {};
/// @endcond
