// SPDX-License-Identifier: Apache-2.0
// A file, pipe or standard input to read from, whose reads end when a StopSwitch is turned. A read that waits for a
// silent pipe ends at once, too.
#pragma once

#include <sys/types.h>

#include <cstdint>
#include <optional>
#include <string>

#include "common/wire.hpp"
#include "conformance/stop_switch.hpp"

namespace weft::conformance::capture {

class StoppableFile {
 public:
  // "-" is the standard input. Not open, with errno set, where it cannot be; a named pipe without a writer can. `stop`
  // may be null.
  StoppableFile(const std::string& path, const StopSwitch* stop);
  ~StoppableFile();
  StoppableFile(const StoppableFile&) = delete;
  StoppableFile& operator=(const StoppableFile&) = delete;

  [[nodiscard]] bool is_open() const noexcept { return open_; }
  // As read(2), but waits; 0 at the end, and once the switch is turned.
  [[nodiscard]] ssize_t read(MutableBytes into);
  // Returns whether read() would not wait.
  [[nodiscard]] bool ready() const noexcept;
  [[nodiscard]] bool stopped() const noexcept { return stop_ != nullptr && stop_->stopped(); }

  [[nodiscard]] std::uint64_t taken() const noexcept { return taken_; }               // octets
  [[nodiscard]] std::optional<std::uint64_t> size() const noexcept { return size_; }  // nothing for pipes

 private:
  const bool own_;  // not the standard input
  int descriptor_;
  const StopSwitch* stop_;
  bool open_ = false;
  std::optional<std::uint64_t> size_{};
  std::uint64_t taken_ = 0;
};

}  // namespace weft::conformance::capture
