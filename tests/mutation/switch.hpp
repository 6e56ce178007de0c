// SPDX-License-Identifier: Apache-2.0
// Included in front of every file of a mutation run (see README.md): the switch behind which all faults lie. The fault
// whose number WEFT_FAULT names is there; without it none is, and WEFT_FAULTS_REACHED names a file for the numbers of
// those that were asked for.
#pragma once

#include <cstdio>
#include <cstdlib>

namespace weft::mutation {

inline constexpr int kMost = 1 << 24;  // mostly untouched: pages of zeros

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
      if (reached_[i] != 0) std::fprintf(file, "%d\n", i);
    }
    std::fclose(file);
  }
  bool is(int fault) noexcept {
    __atomic_store_n(&reached_[fault], 1, __ATOMIC_RELAXED);  // by many threads
    return fault == chosen_;
  }

 private:
  int chosen_ = -1;
  char reached_[kMost]{};
};

inline Switch the_switch;

}  // namespace weft::mutation

// What the compiler computes has no faults: constants are tried one by one.
constexpr bool weft_fault(int fault) noexcept {
  if (__builtin_is_constant_evaluated()) return false;
  return weft::mutation::the_switch.is(fault);
}
