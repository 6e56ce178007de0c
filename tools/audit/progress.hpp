// SPDX-License-Identifier: Apache-2.0
// A bar on the terminal while a large file is read.
#pragma once

#include <cstdint>

#include "conformance/capture_reader.hpp"

namespace weft::tools::audit {

class Progress {
 public:
  // Silent unless stderr is a terminal.
  explicit Progress(bool wanted);
  // After each packet; looks and draws only now and then.
  void tell(const conformance::CaptureReader& reader);
  void clear();

 private:
  bool shown_;
  bool drawn_ = false;
  std::uint64_t packets_ = 0;
  int percent_ = -1;
};

}  // namespace weft::tools::audit
