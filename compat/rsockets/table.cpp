// SPDX-License-Identifier: Apache-2.0
#include "compat/rsockets/table.hpp"

#include <fcntl.h>
#include <pthread.h>
#include <sys/socket.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <atomic>
#include <cerrno>
#include <cstdlib>
#include <iterator>
#include <unordered_map>
#include <unordered_set>
#include <utility>
#include <vector>

#include "compat/rsockets/acceptor.hpp"
#include "compat/rsockets/call.hpp"
#include "compat/rsockets/calls.hpp"
#include "compat/rsockets/closer.hpp"
#include "compat/rsockets/epoll.hpp"

namespace weft::compat::rsockets {

namespace {

struct Entry {
  std::shared_ptr<Socket> socket{};
  bool copied = false;  // the socket has a descriptor of its own besides, and this one is closed here
};

struct Table {
  std::mutex mutex{};
  std::unordered_map<int, Entry> own{};
  std::unordered_map<int, Sizes> datagrams{};
  std::unordered_set<int> inherited{};               // numbers that came from a parent
  std::vector<std::shared_ptr<Socket>> of_parent{};  // never touched: their locks and connections are the parent's
  std::unordered_map<int, InheritedListener> inherited_listeners{};  // listeners of a parent that nobody asked for yet
  std::unordered_map<int, InheritedListener> for_child{};            // while fork() runs
  std::atomic<pid_t> process{::getpid()};
};

// Never destroyed: a program's other threads may still call while exit() runs.
Table& table() {
  static auto* const one = new Table;
  return *one;
}

// Numbers that are in the table. As many as the kernel's default of fs.nr_open permits; no rsocket gets a greater one.
// Pages that are never written take no memory.
constexpr std::size_t kMarks = 1 << 20;
std::array<std::atomic<bool>, kMarks>& marks() {
  static std::array<std::atomic<bool>, kMarks> all{};
  return all;
}
bool has_mark(int number) noexcept { return number >= 0 && static_cast<std::size_t>(number) < kMarks; }
void mark(int number, bool known) {
  if (has_mark(number)) marks()[static_cast<std::size_t>(number)].store(known, std::memory_order_release);
}

// A listener that another thread is busy with is not idle, and stays the parent's alone.
void before_fork() {
  table().mutex.lock();
  for (auto& [number, entry] : table().own) {
    std::unique_lock lock(entry.socket->mutex, std::try_to_lock);
    if (!lock) continue;
    if (auto listener = entry.socket->duplicate_for_child()) table().for_child.emplace(number, std::move(*listener));
  }
}

// The child may be one that serves the listener in place of this process, or beside it; connections wait for whoever
// asks for them first.
void after_fork_in_parent() {
  for (const auto& [number, listener] : std::exchange(table().for_child, {})) {
    ::close(listener.listening);
    Socket& socket = *table().own[number].socket;
    const std::unique_lock lock(socket.mutex, std::try_to_lock);
    if (lock) socket.hold_requests();
  }
  table().mutex.unlock();
}

// The parent's connections: their numbers stay open until the child closes them, as those of a socket that is not
// connected. The parent's descriptor would be readable here all the time.
void leave_to_parent(int number, int unconnected) {
  if (unconnected >= 0) ::dup3(unconnected, number, O_CLOEXEC);
}

void after_fork_in_child() {
  const Inside inside;
  Acceptor::leave_to_parent();
  Closer::leave_to_parent();
  leave_epoll_sets_to_parent();
  const int unconnected = table().own.empty() ? -1 : ::socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);
  for (auto& [number, entry] : table().own) {
    table().inherited.insert(number);
    table().of_parent.push_back(std::move(entry.socket));
    mark(number, false);
    if (!table().for_child.contains(number)) leave_to_parent(number, unconnected);
  }
  if (unconnected >= 0) ::close(unconnected);
  table().own.clear();
  for (auto& [number, listener] : std::exchange(table().for_child, {})) {
    table().inherited_listeners.insert_or_assign(number, std::move(listener));
    mark(number, true);
  }
  table().process = ::getpid();
  table().mutex.unlock();
}

// With the table's lock held, so that one thread does it.
std::shared_ptr<Socket> inherit(int number) {
  auto node = table().inherited_listeners.extract(number);
  if (!node) return nullptr;
  auto made = Socket::make_of(std::move(node.mapped()), number);
  mark(number, made != nullptr);
  if (!made) return nullptr;
  table().inherited.erase(number);
  table().own[number] = {.socket = made};
  Acceptor::of_process().watch(made);
  return made;
}

void watch_process() {
  static const int watched = ::pthread_atfork(before_fork, after_fork_in_parent, after_fork_in_child);
  static const int at_exit = std::atexit(finish_all_at_exit);
  static_cast<void>(watched + at_exit);
}

}  // namespace

int enter(std::shared_ptr<Socket> socket) {
  watch_process();
  const int number = socket->number();
  if (!has_mark(number)) return minus_one(EMFILE);
  Entry stale;  // its number was closed behind our back; it ends after the lock
  const std::lock_guard lock(table().mutex);
  table().datagrams.erase(number);
  stale = std::exchange(table().own[number], Entry{.socket = std::move(socket)});
  if (stale.socket && !stale.copied) stale.socket->forget_number();
  table().inherited.erase(number);
  mark(number, true);
  return number;
}

std::shared_ptr<Socket> find(int number) {
  {
    const std::lock_guard lock(table().mutex);
    if (const auto found = table().own.find(number); found != table().own.end()) return found->second.socket;
    if (auto made = inherit(number)) return made;
  }
  errno = EBADF;
  return nullptr;
}

int enter_datagram(int number) {
  watch_process();
  Entry stale;  // as above
  const std::lock_guard lock(table().mutex);
  table().datagrams.insert_or_assign(number, default_sizes());
  if (auto node = table().own.extract(number)) stale = std::move(node.mapped());
  if (stale.socket && !stale.copied) stale.socket->forget_number();
  table().inherited.erase(number);
  mark(number, false);
  return number;
}

std::optional<Sizes> find_datagram(int number) {
  const std::lock_guard lock(table().mutex);
  const auto found = table().datagrams.find(number);
  return found != table().datagrams.end() ? std::optional(found->second) : std::nullopt;
}

void set_sizes_of_datagram(int number, const Sizes& sizes) {
  const std::lock_guard lock(table().mutex);
  if (const auto found = table().datagrams.find(number); found != table().datagrams.end()) found->second = sizes;
}

bool close_datagram(int number) {
  const std::lock_guard lock(table().mutex);
  if (table().datagrams.erase(number) == 0) return false;
  ::close(number);
  return true;
}

bool is_rsocket(int number) noexcept {
  return has_mark(number) && marks()[static_cast<std::size_t>(number)].load(std::memory_order_acquire);
}

// Another thread may close either number meanwhile.
int enter_copy(int number, int copy) {
  const auto socket = find(number);
  if (!socket) return -1;
  {
    const std::lock_guard lock(socket->mutex);
    if (!socket->hide_number()) return -1;
  }
  if (!has_mark(copy)) return minus_one(EMFILE);
  const std::lock_guard lock(table().mutex);
  const auto entry = table().own.find(number);
  if (entry == table().own.end() || entry->second.socket != socket) return minus_one(EBADF);
  entry->second.copied = true;
  table().datagrams.erase(copy);
  table().own[copy] = {.socket = socket, .copied = true};
  ++socket->numbers;
  mark(copy, true);
  return copy;
}

std::vector<int> numbers(unsigned first, unsigned last) {
  const auto within = [&](int number) {
    return static_cast<unsigned>(number) >= first && static_cast<unsigned>(number) <= last;
  };
  const std::lock_guard lock(table().mutex);
  std::vector<int> all;
  for (const auto& [number, entry] : table().own) {
    if (within(number)) all.push_back(number);
  }
  std::ranges::copy_if(table().inherited, std::back_inserter(all), within);
  return all;
}

std::vector<std::shared_ptr<Socket>> all_sockets() {
  const std::lock_guard lock(table().mutex);
  std::vector<std::shared_ptr<Socket>> all;
  for (const auto& [number, entry] : table().own) all.push_back(entry.socket);
  return all;
}

Removed remove(int number) {
  {
    const std::lock_guard lock(table().mutex);
    if (auto node = table().own.extract(number)) {
      mark(number, false);
      if (node.mapped().copied) ::close(number);
      const bool last = --node.mapped().socket->numbers == 0;
      return {.socket = std::move(node.mapped().socket), .last = last};
    }
  }
  errno = EBADF;
  return {};
}

bool close_inherited(int number) {
  const std::lock_guard lock(table().mutex);
  if (table().inherited.erase(number) == 0) return false;
  if (const auto node = table().inherited_listeners.extract(number)) ::close(node.mapped().listening);
  mark(number, false);
  ::close(number);
  return true;
}

bool is_this_process() noexcept { return table().process.load(std::memory_order_relaxed) == ::getpid(); }

}  // namespace weft::compat::rsockets
