// SPDX-License-Identifier: Apache-2.0
// A second process, forked before any thread exists, joined to its parent by a pair of sockets.
#pragma once

#include <sys/types.h>

#include <functional>

#include "tools/cli/outcome.hpp"
#include "tools/cli/unique_fd.hpp"

namespace weft::tools {

class ChildProcess {
 public:
  // Runs `body` in the child, with the child's end of the pair; the child leaves with the exit code it returns and is
  // killed if the parent dies first. Must be called while the process has a single thread.
  static Outcome<ChildProcess> start(const std::function<ExitCode(int channel)>& body);

  ChildProcess(ChildProcess&& other) noexcept;
  ChildProcess& operator=(ChildProcess&&) = delete;
  ~ChildProcess();  // kills a child that was not waited for

  [[nodiscard]] pid_t pid() const noexcept { return pid_; }
  [[nodiscard]] int channel() const noexcept { return channel_.get(); }
  // Waits for the child to leave. A child that failed has said why on stderr already.
  Outcome<void> wait();
  // Gives it a second to leave by itself, and to say why: of two ends one may have failed because of the other.
  void let_it_speak() const;

 private:
  ChildProcess(pid_t pid, UniqueFd channel) : pid_(pid), channel_(std::move(channel)) {}

  pid_t pid_ = -1;
  UniqueFd channel_;
};

// Small fixed-size messages between the two processes. An error when the other end has gone.
Outcome<void> write_exactly(int fd, const void* data, std::size_t size);
Outcome<void> read_exactly(int fd, void* data, std::size_t size);

template <typename T>
  requires std::is_trivially_copyable_v<T>
Outcome<void> tell(int fd, const T& value) {
  return write_exactly(fd, &value, sizeof value);
}

template <typename T>
  requires std::is_trivially_copyable_v<T>
Outcome<T> hear(int fd) {
  T value{};
  if (auto done = read_exactly(fd, &value, sizeof value); !done) return std::unexpected(done.error());
  return value;
}

}  // namespace weft::tools
