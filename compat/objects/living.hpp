// SPDX-License-Identifier: Apache-2.0
// The objects that a program may destroy. Destroying one twice, or what was never made here, is then a refused call
// instead of memory that is freed twice.
#pragma once

#include <cerrno>
#include <mutex>
#include <string_view>
#include <unordered_set>

#include "compat/objects/forks.hpp"
#include "compat/objects/report.hpp"

namespace weft::compat {

template <typename T>
class Living {
 public:
  // Never destroyed, see Registry.
  static Living& instance() {
    static auto* const all = new Living;
    return *all;
  }

  void enter(const T* object) {
    const std::lock_guard lock(mutex_);
    all_.insert(object);
  }
  void leave(const T* object) {
    const std::lock_guard lock(mutex_);
    all_.erase(object);
  }

  // Calls `use()` while no other thread can claim the object. False when it does not live.
  template <typename Use>
  bool with(const T* object, Use&& use) {
    const std::lock_guard lock(mutex_);
    if (!all_.contains(object)) return false;
    use();
    return true;
  }
  // 0: the caller alone may destroy it. EBUSY when `in_use()` says so; EINVAL when there is no such object.
  template <typename InUse>
  int claim(const T* object, InUse&& in_use) {
    const std::lock_guard lock(mutex_);
    if (!all_.contains(object)) return EINVAL;
    if (in_use()) return EBUSY;
    all_.erase(object);
    return 0;
  }
  int claim(const T* object) {
    return claim(object, [] { return false; });
  }

 private:
  TableMutex mutex_;
  std::unordered_set<const T*> all_;
};

// Member of an object: it is entered for as long as it exists, or until it is claimed.
template <typename T>
class Alive {
 public:
  explicit Alive(const T* self) : self_(self) { Living<T>::instance().enter(self); }
  ~Alive() { Living<T>::instance().leave(self_); }
  Alive(const Alive&) = delete;
  Alive& operator=(const Alive&) = delete;
  // From the parent process.
  [[nodiscard]] bool inherited() const noexcept { return process_ != forks(); }

 private:
  const T* const self_;
  const std::uint32_t process_ = forks();
};

// An object that was claimed goes. In a child of fork() its parent's stay where they are: their locks may be held, and
// their acknowledgements owed, by threads that are not there, and what they would end is shared with the parent.
template <typename T>
void dispose(T& object) {
  if (!object.alive.inherited()) delete &object;
}

inline constexpr std::string_view kNotAlive = "there is no such object: it was destroyed before, or never made";

// Returns whether a live object was inherited. An inherited object does not keep others from being destroyed.
template <typename T>
bool inherited(const T& object) noexcept {
  if constexpr (requires { object.alive; }) return object.alive.inherited();
  return false;  // an ibv_context, of which an open is more
}

// Claims, and tells what is in the way: `busy` is the reason for EBUSY.
template <typename T, typename InUse>
int claim(std::string_view call, const T& object, std::string_view busy, InUse&& in_use) {
  const int error = Living<T>::instance().claim(&object, [&] { return !inherited(object) && in_use(); });
  return error == 0 ? 0 : refused(call, error, error == EBUSY ? busy : kNotAlive);
}
template <typename T>
int claim(std::string_view call, const T& object) {
  return claim(call, object, {}, [] { return false; });
}
// For calls that answer with -1.
template <typename T>
int claim_minus_one(std::string_view call, const T& object) {
  const int error = claim(call, object);
  if (error != 0) errno = error;
  return error == 0 ? 0 : -1;
}

}  // namespace weft::compat
