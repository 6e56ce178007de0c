// SPDX-License-Identifier: Apache-2.0
#include "verbs/base/random.hpp"

#include <sys/random.h>

#include <cstdlib>
#include <span>
#include <utility>

namespace weft::verbs::detail {

namespace {

// Without randomness no STag could be hard to guess, and there is nothing sensible to go on with.
void refill(std::span<std::byte> out) {
  while (!out.empty()) {
    const auto got = getrandom(out.data(), out.size(), 0);
    if (got > 0) out = out.subspan(static_cast<std::size_t>(got));
    if (got < 0 && errno != EINTR) std::abort();
  }
}

}  // namespace

std::uint32_t RandomSource::next() {
  const std::lock_guard lock(mutex_);
  if (left_ == 0) {
    refill(std::as_writable_bytes(std::span(batch_)));
    left_ = batch_.size();
  }
  // What was handed out does not stay in memory.
  return std::exchange(batch_[--left_], 0);
}

}  // namespace weft::verbs::detail
