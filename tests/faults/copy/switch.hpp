// SPDX-License-Identifier: Apache-2.0
// The switch of the copy with faults: the fault whose number WEFT_FAULT holds is on. When the program ends, it appends the numbers of all
// faults that it has come by to the file that WEFT_FAULTS_REACHED names.
#pragma once

#include <atomic>
#include <cstdio>
#include <cstdlib>

namespace weft::faults {

class Switch {
 public:
  Switch() {
    if (const char* fault = std::getenv("WEFT_FAULT")) chosen_ = std::atoi(fault);
  }
  Switch(const Switch&) = delete;
  Switch& operator=(const Switch&) = delete;
  ~Switch() {
    const char* name = std::getenv("WEFT_FAULTS_REACHED");
    std::FILE* const file = name != nullptr ? std::fopen(name, "a") : nullptr;
    if (file == nullptr) return;
    for (int i = 0; i < kMost; ++i) {
      if (reached_[i].load()) std::fprintf(file, "%d\n", i);
    }
    std::fclose(file);
  }
  bool is(int fault) noexcept {
    reached_[fault].store(true, std::memory_order_relaxed);
    return fault == chosen_;
  }

 private:
  static constexpr int kMost = 2048;
  int chosen_ = -1;
  std::atomic<bool> reached_[kMost] = {};
};

inline Switch the_switch;

}  // namespace weft::faults

// False in what the compiler computes.
constexpr bool weft_fault(int fault) noexcept {
  if (__builtin_is_constant_evaluated()) return false;
  return weft::faults::the_switch.is(fault);
}
