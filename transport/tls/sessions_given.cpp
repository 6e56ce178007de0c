// SPDX-License-Identifier: Apache-2.0
#include "transport/tls/sessions_given.hpp"

#include <openssl/ssl.h>

#include <algorithm>
#include <utility>

namespace weft::transport::tls {

void FreeSession::operator()(SSL_SESSION* session) const noexcept { SSL_SESSION_free(session); }

void SessionsGiven::keep(SessionCopy session) {
  Number number{};
  unsigned octets = 0;
  const unsigned char* const begin = SSL_SESSION_get_id(session.get(), &octets);
  if (octets != number.size()) return;
  std::copy_n(begin, octets, number.begin());
  const std::lock_guard lock(mutex_);
  order_.push_back(number);
  sessions_[number] = std::move(session);
  if (order_.size() <= kMost) return;
  sessions_.erase(order_.front());
  order_.pop_front();
}

SessionCopy SessionsGiven::take(std::span<const unsigned char> number) noexcept {
  Number wanted{};
  if (number.size() != wanted.size()) return nullptr;
  std::ranges::copy(number, wanted.begin());
  const std::lock_guard lock(mutex_);
  const auto found = sessions_.find(wanted);
  if (found == sessions_.end()) return nullptr;
  SessionCopy session = std::move(found->second);
  sessions_.erase(found);
  return session;
}

}  // namespace weft::transport::tls
