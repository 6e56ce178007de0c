// SPDX-License-Identifier: Apache-2.0
// Threads that sleep in poll(2) until something happens to an rsocket, and that another thread of the program has to
// wake: it may have taken the very completion that they wait for. One token in the eventfd for each of them, so that
// none takes another's. All calls under the rsocket's lock.
#pragma once

#include <sys/eventfd.h>
#include <unistd.h>

#include <cstdint>

#include "transport/own_descriptors.hpp"

namespace weft::compat::rsockets {

class Waiters {
 public:
  Waiters() : descriptor_(transport::move_up(::eventfd(0, EFD_SEMAPHORE | EFD_NONBLOCK | EFD_CLOEXEC))) {}
  ~Waiters() {
    if (descriptor_ >= 0) ::close(descriptor_);
  }
  Waiters(const Waiters&) = delete;
  Waiters& operator=(const Waiters&) = delete;

  [[nodiscard]] int descriptor() const noexcept { return descriptor_; }  // readable: look again
  [[nodiscard]] bool any() const noexcept { return sleeping_ != 0; }

  void enter() noexcept { ++sleeping_; }
  void leave() noexcept {
    --sleeping_;
    for (; tokens_ > sleeping_; --tokens_) {
      std::uint64_t token = 0;
      [[maybe_unused]] const auto taken = ::read(descriptor_, &token, sizeof token);
    }
  }
  void wake_all() noexcept {
    if (tokens_ == sleeping_) return;
    const std::uint64_t more = sleeping_ - tokens_;
    [[maybe_unused]] const auto written = ::write(descriptor_, &more, sizeof more);
    tokens_ = sleeping_;
  }

 private:
  const int descriptor_;
  std::uint64_t sleeping_ = 0;
  std::uint64_t tokens_ = 0;
};

// An eventfd that is readable while it is raised.
class Flag {
 public:
  Flag() : descriptor_(transport::move_up(::eventfd(0, EFD_NONBLOCK | EFD_CLOEXEC))) {}
  ~Flag() {
    if (descriptor_ >= 0) ::close(descriptor_);
  }
  Flag(const Flag&) = delete;
  Flag& operator=(const Flag&) = delete;

  [[nodiscard]] int descriptor() const noexcept { return descriptor_; }
  void raise(bool on) noexcept {
    if (on == raised_) return;
    raised_ = on;
    std::uint64_t one = 1;
    [[maybe_unused]] const auto done =
        on ? ::write(descriptor_, &one, sizeof one) : ::read(descriptor_, &one, sizeof one);
  }

 private:
  const int descriptor_;
  bool raised_ = false;
};

}  // namespace weft::compat::rsockets
