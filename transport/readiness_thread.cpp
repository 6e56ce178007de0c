// SPDX-License-Identifier: Apache-2.0
#include "transport/readiness_thread.hpp"

#include <sys/eventfd.h>
#include <unistd.h>

#include <array>
#include <cerrno>

#include "transport/blocked_signals.hpp"

namespace weft::transport {
namespace {

constexpr std::uint64_t kBell = 0;

}  // namespace

ReadinessThread::Bell::Bell() noexcept : descriptor_(eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK)) {}

ReadinessThread::Bell::~Bell() {
  if (descriptor_ >= 0) ::close(descriptor_);
}

void ReadinessThread::Bell::ring() const noexcept {
  const std::uint64_t one = 1;
  [[maybe_unused]] const auto written = ::write(descriptor_, &one, sizeof one);
}

std::expected<ReadinessThread, std::error_code> ReadinessThread::create(Serve serve) {
  auto sockets = ReadinessSet::create();
  if (!sockets) return std::unexpected(sockets.error());
  ReadinessThread made(std::move(*sockets), std::move(serve));
  if (made.bell_.descriptor() < 0) return std::unexpected(std::error_code(errno, std::system_category()));
  if (const auto error = made.sockets_.watch(made.bell_.descriptor(), kBell)) return std::unexpected(error);
  return made;
}

void ReadinessThread::stop() {
  if (!thread_.joinable()) return;
  bell_.ring();
  thread_.join();
}

void ReadinessThread::start() {
  thread_ = std::thread([this] {
    block_signals();
    run();
  });
}

void ReadinessThread::run() {
  std::array<Ready, ReadinessSet::kMaxReady> ready;
  for (;;) {
    const std::size_t count = sockets_.wait(ready, ReadinessSet::kForEver);
    for (const Ready& one : std::span(ready).first(count)) {
      if (one.token == kBell) return;
      serve_(one);
    }
  }
}

}  // namespace weft::transport
