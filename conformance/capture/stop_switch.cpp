// SPDX-License-Identifier: Apache-2.0
#include "conformance/stop_switch.hpp"

#include <sys/eventfd.h>
#include <unistd.h>

#include <cerrno>
#include <cstdint>
#include <system_error>

namespace weft::conformance {

StopSwitch::StopSwitch() : descriptor_(::eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK)) {
  if (descriptor_ < 0) throw std::system_error(errno, std::generic_category(), "eventfd");
}

StopSwitch::~StopSwitch() { ::close(descriptor_); }

void StopSwitch::stop() noexcept {
  stopped_ = true;
  const int interrupted = errno;  // a signal handler leaves it as it was
  constexpr std::uint64_t kOnce = 1;
  static_cast<void>(::write(descriptor_, &kOnce, sizeof kOnce) < 0);  // fails only where it is readable already
  errno = interrupted;
}

}  // namespace weft::conformance
