// SPDX-License-Identifier: Apache-2.0
// The sessions that a listener's tickets stand for, by their numbers.
#pragma once

#include <array>
#include <cstddef>
#include <deque>
#include <map>
#include <memory>
#include <mutex>
#include <span>

struct ssl_session_st;

namespace weft::transport::tls {

struct FreeSession {
  void operator()(ssl_session_st* session) const noexcept;
};
// A copy of OpenSSL's own, which it cannot spoil.
using SessionCopy = std::unique_ptr<ssl_session_st, FreeSession>;

// Safe for threads.
class SessionsGiven {
 public:
  static constexpr std::size_t kMost = 1024;  // some kilobytes each: of the last that were given, those not shown yet

  void keep(SessionCopy session);
  // Once: it is not there any more for a peer that shows the number again.
  [[nodiscard]] SessionCopy take(std::span<const unsigned char> number) noexcept;

 private:
  using Number = std::array<unsigned char, 32>;

  std::mutex mutex_{};
  std::map<Number, SessionCopy> sessions_{};
  std::deque<Number> order_{};  // as they were given; what was taken is still here
};

}  // namespace weft::transport::tls
