// SPDX-License-Identifier: Apache-2.0
// A wait that is usually too short to speak of: after a second the user is told what for. Nothing where stderr is no
// terminal.
#pragma once

#include <string>
#include <thread>

namespace weft::tools {

class SlowNotice {
 public:
  // `sentence` is told unless the notice is destroyed before.
  explicit SlowNotice(std::string sentence);
  ~SlowNotice() = default;  // stops the thread and waits for it
  SlowNotice(const SlowNotice&) = delete;
  SlowNotice& operator=(const SlowNotice&) = delete;

 private:
  std::jthread thread_;
};

}  // namespace weft::tools
