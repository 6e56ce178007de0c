// SPDX-License-Identifier: Apache-2.0
// Included in front of every file of a mutation run (see README.md): the switch behind which all faults lie. The fault
// whose number WEFT_FAULT names is there; without it none is, and WEFT_FAULTS_REACHED names a file for the numbers of
// those that were asked for, in the program or in a child of fork().
#pragma once

#include <sys/mman.h>

#include <cstdio>
#include <cstdlib>

namespace weft::mutation {

inline constexpr int kMost = 1 << 24;  // mostly untouched: pages of zeros

class Switch {
 public:
  Switch() {
    if (const char* fault = std::getenv("WEFT_FAULT")) chosen_ = std::atoi(fault);
    // Shared: a child may end with _exit(), and writes no file then.
    void* const memory =
        ::mmap(nullptr, kMost, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
    if (memory == MAP_FAILED) std::abort();
    reached_ = static_cast<char*>(memory);
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
  char* reached_ = nullptr;
};

inline Switch the_switch;

}  // namespace weft::mutation

// What the compiler computes has no faults: constants are tried one by one.
constexpr bool weft_fault(int fault) noexcept {
  if (__builtin_is_constant_evaluated()) return false;
  return weft::mutation::the_switch.is(fault);
}
