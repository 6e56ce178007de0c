// SPDX-License-Identifier: Apache-2.0
#include "compat/rsockets/table.hpp"

#include <pthread.h>
#include <unistd.h>

#include <cerrno>
#include <cstdlib>
#include <unordered_map>
#include <unordered_set>
#include <utility>
#include <vector>

namespace weft::compat::rsockets {

namespace {

struct Table {
  std::mutex mutex{};
  std::unordered_map<int, std::shared_ptr<Socket>> own{};
  std::unordered_set<int> inherited{};               // numbers that came from a parent
  std::vector<std::shared_ptr<Socket>> of_parent{};  // never touched: their locks and connections are the parent's
};

// Never destroyed: a program's other threads may still call while exit() runs.
Table& table() {
  static auto* const one = new Table;
  return *one;
}

void before_fork() { table().mutex.lock(); }
void after_fork_in_parent() { table().mutex.unlock(); }
void after_fork_in_child() {
  for (auto& [number, socket] : table().own) {
    table().inherited.insert(number);
    table().of_parent.push_back(std::move(socket));
  }
  table().own.clear();
  table().mutex.unlock();
}

}  // namespace

int enter(std::shared_ptr<Socket> socket) {
  static const int watched = ::pthread_atfork(before_fork, after_fork_in_parent, after_fork_in_child);
  static const int at_exit = std::atexit(say_goodbye);
  static_cast<void>(watched + at_exit);
  const int number = socket->number();
  std::shared_ptr<Socket> stale;  // its number was closed behind our back; it ends behind the lock
  const std::lock_guard lock(table().mutex);
  stale = std::exchange(table().own[number], std::move(socket));
  if (stale) stale->forget_number();
  table().inherited.erase(number);
  return number;
}

std::shared_ptr<Socket> find(int number) {
  {
    const std::lock_guard lock(table().mutex);
    if (const auto found = table().own.find(number); found != table().own.end()) return found->second;
  }
  errno = EBADF;
  return nullptr;
}

std::vector<std::shared_ptr<Socket>> everyone() {
  const std::lock_guard lock(table().mutex);
  std::vector<std::shared_ptr<Socket>> all;
  for (const auto& [number, socket] : table().own) all.push_back(socket);
  return all;
}

std::shared_ptr<Socket> remove(int number) {
  {
    const std::lock_guard lock(table().mutex);
    if (auto node = table().own.extract(number)) return std::move(node.mapped());
  }
  errno = EBADF;
  return nullptr;
}

bool close_inherited(int number) {
  const std::lock_guard lock(table().mutex);
  if (table().inherited.erase(number) == 0) return false;
  ::close(number);
  return true;
}

}  // namespace weft::compat::rsockets
