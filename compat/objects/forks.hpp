// SPDX-License-Identifier: Apache-2.0
// What fork() leaves behind in a child: its parent's objects, as copies that no thread serves, and the locks of tables
// that both go on using, each its own copy.
#pragma once

#include <cstdint>
#include <mutex>

namespace weft::compat {

// Returns how many fork() there were between the process that loaded the library and this one.
std::uint32_t forks() noexcept;

// The mutex of a table that lives as long as the process. fork() finds it free, or almost always; the child has it
// free.
class TableMutex {
 public:
  TableMutex() noexcept;
  ~TableMutex() {}  // never: see above
  TableMutex(const TableMutex&) = delete;
  TableMutex& operator=(const TableMutex&) = delete;
  void lock() { mutex_.lock(); }
  void unlock() { mutex_.unlock(); }

 private:
  friend struct Forking;
  union {  // a child makes it anew
    std::mutex mutex_;
  };
  bool held_ = false;  // by fork()
  TableMutex* next_ = nullptr;
};

}  // namespace weft::compat
