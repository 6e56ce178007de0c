// SPDX-License-Identifier: Apache-2.0
#include "tools/audit/progress.hpp"

#include <fmt/format.h>
#include <unistd.h>

#include <cstdio>
#include <string>

namespace weft::tools::audit {

Progress::Progress(bool wanted) : shown_(wanted && ::isatty(STDERR_FILENO) == 1) {}

void Progress::tell(const conformance::CaptureReader& reader) {
  constexpr std::uint64_t kLookEvery = 4096;  // packets
  if (!shown_ || ++packets_ % kLookEvery != 0) return;
  const auto progress = reader.progress();
  if (!progress || progress->of == 0) return;
  const int percent = static_cast<int>(progress->octets * 100 / progress->of);
  if (percent == percent_) return;
  percent_ = percent;
  drawn_ = true;
  constexpr int kWidth = 40;
  const auto done = static_cast<std::size_t>(percent * kWidth / 100);
  std::fputs(fmt::format("\r[{}{}] {:3} %, {} packets", std::string(done, '#'), std::string(kWidth - done, ' '),
                         percent, packets_)
                 .c_str(),
             stderr);
  std::fflush(stderr);
}

void Progress::clear() {
  if (drawn_) std::fputs(fmt::format("\r{}\r", std::string(78, ' ')).c_str(), stderr);
  drawn_ = false;
}

}  // namespace weft::tools::audit
