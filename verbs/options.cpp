// SPDX-License-Identifier: Apache-2.0
#include "verbs/options.hpp"

#include <unistd.h>

#include <algorithm>
#include <atomic>
#include <memory>
#include <mutex>
#include <optional>
#include <thread>

#include "verbs/base/process_settings.hpp"
#include "verbs/log/log.hpp"
#include "verbs/progress/runtime.hpp"

namespace weft::verbs {

namespace {

struct Capture {
  std::mutex mutex;
  std::optional<transport::PcapTap> tap;
};

Capture& capture() {
  static auto* const instance = new Capture;  // never destroyed: connections may open while exit() runs
  return *instance;
}

// Separate from the capture, whose lock may be held when a write fails. Never destroyed, like the capture.
struct Failure {
  std::mutex mutex;
  std::string sentence{};
  pid_t process{};  // the process that failed: a child of fork() inherits a copy
};

Failure& failure() {
  static auto* const instance = new Failure;
  return *instance;
}

std::atomic<std::size_t>& asked_threads() noexcept {
  static std::atomic<std::size_t> count{0};
  return count;
}

}  // namespace

Result<void> detail::use_capture_file(const std::string& path) {
  std::optional<transport::PcapTap> tap;
  if (!path.empty()) {
    auto made = transport::PcapTap::create(path, [](const transport::PcapError& error) {
      capture_has_failed(error.sentence);
      detail::log_warning("capture", error.sentence + "; the packets that follow are left out");
    });
    if (!made) {
      const auto& [sentence, refusal, os_error] = made.error();
      return fail(Errc::kSystem, "path", refusal.empty() ? "cannot write a capture file there" : refusal, os_error);
    }
    tap.emplace(std::move(*made));
  }
  const std::lock_guard lock(capture().mutex);
  capture().tap.swap(tap);
  return {};
}

void detail::capture_has_failed(const std::string& sentence) {
  const std::lock_guard lock(failure().mutex);
  if (!failure().sentence.empty() && failure().process == ::getpid()) return;  // keep the first
  failure().sentence = sentence;
  failure().process = ::getpid();
}

std::string capture_failure() {
  const std::lock_guard lock(failure().mutex);
  return failure().process == ::getpid() ? failure().sentence : std::string();
}

Result<void> set_capture_file(const std::string& path) {
  detail::program_sets(detail::ProcessSetting::kCapture);
  return detail::use_capture_file(path);
}

Result<void> set_progress_threads(std::size_t count) {
  if (count > kMostProgressThreads) return fail(Errc::kLimitExceeded, "count", "more than 64 progress threads");
  asked_threads() = count;
  return {};
}

void set_crc32c(Crc32cRoutine routine) noexcept {
  detail::program_sets(detail::ProcessSetting::kCrc32c);
  use_crc32c(routine);
}

Result<Crc32cRoutine> parse_crc32c(std::string_view text) {
  for (const auto routine : {Crc32cRoutine::kIsaL, Crc32cRoutine::kPortable}) {
    if (text == name(routine)) return routine;
  }
  return fail(Errc::kInvalidArgument, "crc32c", "not one of isa-l, portable");
}

namespace detail {

std::size_t Runtime::thread_count() noexcept {
  constexpr std::size_t kProcessorsOfEach = 4, kMostByItself = 8;
  if (const std::size_t asked = asked_threads(); asked != 0) return asked;
  return std::clamp<std::size_t>(std::thread::hardware_concurrency() / kProcessorsOfEach, 1, kMostByItself);
}

std::optional<transport::PcapStream> Runtime::capture(const transport::Socket& socket, bool opened_here) {
  auto& global = verbs::capture();
  const std::lock_guard lock(global.mutex);
  if (!global.tap) return std::nullopt;
  const auto local = socket.local();
  const auto peer = socket.peer();
  if (!local || !peer) return std::nullopt;
  using Opener = transport::PcapTap::Opener;
  return global.tap->open(*local, *peer, opened_here ? Opener::kLocal : Opener::kRemote);
}

transport::PcapDatagrams Runtime::capture_datagrams(const transport::Endpoint& local) {
  auto& global = verbs::capture();
  const std::lock_guard lock(global.mutex);
  return global.tap ? global.tap->open_datagrams(local) : transport::PcapDatagrams();
}

}  // namespace detail

bool on_progress_thread() noexcept { return detail::Runtime::on_its_thread(); }

}  // namespace weft::verbs
