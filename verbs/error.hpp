// SPDX-License-Identifier: Apache-2.0
// How a verbs call fails: a code for programs, the argument at fault and a reason for people.
#pragma once

#include <cstdint>
#include <expected>
#include <string>
#include <string_view>
#include <system_error>

namespace weft::verbs {

// Why a call failed. The numbers are weft's own; error_category() says which errno each is equivalent to.
enum class Errc : std::uint8_t {
  kInvalidArgument = 1,  // an argument can never be right
  kInvalidState,         // the object is not in a state that allows this call
  kInvalidKey,           // an lkey or rkey names nothing that this object may use
  kBadAddress,           // memory is not mapped, or not with the access asked for
  kLimitExceeded,        // more than the device or the object can do
  kNoResources,          // the device holds as many such objects as DeviceLimits says
  kQueueFull,            // a work queue holds its bound of uncompleted work requests
  kTooManySegments,      // a scatter/gather list is longer than the queue was made for
  kInlineTooLong,        // more octets than QueuePairAttributes::max_inline
  kMessageTooLong,       // more octets than a message can have
  kPrivateDataTooLong,   // more octets than ConnectionParameters::private_data allows
  kNotSupported,         // this end or the peer cannot do it
  kNoDevice,             // no such interface, or no route through one
  kBusy,                 // something still uses the object
  kWouldBlock,           // nothing there, and the descriptor is non-blocking
  kInterrupted,          // a signal arrived while waiting
  kTimedOut,             // it did not happen in the time that it had
  kAddressInUse,         // another socket has the port
  kRefused,              // there is no listener, or the peer reset the start-up
  kRejected,             // the peer's ULP said no
  kUnreachable,          // no route leads to the peer, or it does not answer
  kDisconnected,         // the connection has ended, or is about to
  kOverflow,             // a completion queue or event queue lost an entry
  kProtocol,             // the peer broke the protocol
  kSystem,               // the operating system refused; see Error::os_error
};

// The category of Errc. Each code compares equal to the std::errc that C facades turn into errno.
[[nodiscard]] const std::error_category& error_category() noexcept;
// So that an Errc is a std::error_code.
[[nodiscard]] inline std::error_code make_error_code(Errc code) noexcept {
  return {static_cast<int>(code), error_category()};
}

// How one call failed.
struct Error {
  Errc code{};                  // for programs
  std::string_view argument{};  // which argument or object; static storage
  std::string_view reason{};    // what is wrong with it; static storage
  int os_error{};               // errno when the operating system is the cause, else 0

  // "max_send_wr: larger than the device's limit (limit exceeded)"
  [[nodiscard]] std::string message() const;
  // errno for C facades: os_error when set, else what the code is equivalent to.
  [[nodiscard]] int to_errno() const noexcept;
};

template <typename T>
// What a call that can fail returns.
using Result = std::expected<T, Error>;

// The failure of a call that returns a Result.
[[nodiscard]] inline std::unexpected<Error> fail(Errc code, std::string_view argument, std::string_view reason,
                                                 int os_error = 0) {
  return std::unexpected(Error{code, argument, reason, os_error});
}

}  // namespace weft::verbs

template <>
struct std::is_error_code_enum<weft::verbs::Errc> : std::true_type {};
