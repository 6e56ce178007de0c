// SPDX-License-Identifier: Apache-2.0
/// @file
/// Errors and deadlines of the C++ interface.
#pragma once

#include <chrono>
#include <expected>
#include <optional>
#include <string>
#include <string_view>

#include "verbs/completion.hpp"
#include "verbs/error.hpp"
#include "verbs/stream_error.hpp"

namespace weft {

using verbs::Errc;

/// Describes how one call failed, and the operation, work completion and Terminate behind it. `code`, `argument`,
/// `reason` and `os_error` are those of verbs::Error.
///
/// If a work request failed, `status` says how, and the other members say why:
///  - WcStatus::kLocalProtectionError: `segment` is the local memory at fault, and `reason` what is wrong with it.
///  - WcStatus::kRemoteAccessError and kRemoteOperationError: `stream` is the peer's Terminate.
///  - WcStatus::kFlushed: the connection ended before the work request was done, and this is the error that ended it:
///    `stream` if a Terminate was sent or received; else the first work request that failed; else `reason` and
///    `os_error` (a reset: ECONNRESET), or a local cause (an expired deadline, a cancellation, close()).
struct Error : verbs::Error {
  std::string_view operation{};                ///< function that failed: "write", "connect"; static storage
  verbs::WcStatus status{};                    ///< of the failed work request; kSuccess if none failed
  std::optional<verbs::Sge> segment{};         ///< local memory at fault, if it is the cause
  std::optional<verbs::StreamError> stream{};  ///< error that ended the stream, if a Terminate was sent or received

  /// Returns one line for people: "write: 64 octets at 0x7f2a10, lkey 0x8f70aaff: lkey: unknown, or its region was
  /// deregistered (invalid key)".
  [[nodiscard]] std::string message() const;
};

template <typename T>
using Result = std::expected<T, Error>;  ///< the result of a call that can fail: a `T` or an Error

/// The point in time at which a blocking call gives up. Converts implicitly from a duration, counted from the
/// conversion: reuse one Deadline to bound a sequence of calls.
class Deadline {
 public:
  using Clock = std::chrono::steady_clock;  ///< clock of all deadlines

  /// Converts a timeout. A negative one has expired; one of more than 36500 days never expires.
  template <typename Rep, typename Period>
  Deadline(std::chrono::duration<Rep, Period> timeout) noexcept  // NOLINT(google-explicit-constructor)
      : at_(std::chrono::duration<double>(timeout) <= std::chrono::duration<double>::zero() ? Clock::now()
            : std::chrono::duration<double>(timeout) < kLongest
                ? Clock::now() + std::chrono::duration_cast<Clock::duration>(timeout)
                : Clock::time_point::max()) {}
  /// Converts a point in time.
  Deadline(Clock::time_point at) noexcept : at_(at) {}  // NOLINT(google-explicit-constructor)
  /// Returns a deadline that never expires.
  [[nodiscard]] static Deadline never() noexcept { return Clock::time_point::max(); }

  /// Returns the point in time; the clock's maximum if it never expires.
  [[nodiscard]] Clock::time_point at() const noexcept { return at_; }
  /// Returns whether the deadline has passed.
  [[nodiscard]] bool expired() const noexcept { return at_ != Clock::time_point::max() && Clock::now() >= at_; }
  /// Returns the remaining time, rounded up to milliseconds, from 0 to 24 days (verbs::kMaxTimeout).
  [[nodiscard]] std::chrono::milliseconds left() const noexcept;

 private:
  static constexpr std::chrono::duration<double> kLongest = std::chrono::days(36500);
  Clock::time_point at_;
};

namespace detail {

// Returns the error with the name of the operation that failed.
[[nodiscard]] Error to_error(const verbs::Error& error, std::string_view operation);

}  // namespace detail
}  // namespace weft
