// SPDX-License-Identifier: Apache-2.0
// The program's own definitions come before those of the C library, for all that is linked into it.
#undef _FORTIFY_SOURCE  // with it recv() is an inline function
#include "tests/compat/call_count.hpp"

#include <dlfcn.h>
#include <sys/epoll.h>
#include <sys/socket.h>
#include <sys/syscall.h>
#include <sys/uio.h>
#include <unistd.h>

#include <array>
#include <cstdarg>
#include <cstdlib>
#include <new>

namespace {

thread_local weft::compat::test::Calls calls;

}  // namespace

weft::compat::test::Calls weft::compat::test::calls_so_far() noexcept { return calls; }

void* operator new(std::size_t size) {
  ++calls.allocations;
  if (void* memory = std::malloc(size)) return memory;
  throw std::bad_alloc();
}
void operator delete(void* memory) noexcept { std::free(memory); }
void operator delete(void* memory, std::size_t) noexcept { std::free(memory); }

// All of them end here; the library makes some calls here at once.
extern "C" long syscall(long number, ...) noexcept {
  using Call = long (*)(long, ...);
  static const auto call = reinterpret_cast<Call>(::dlsym(RTLD_NEXT, "syscall"));
  if (number == SYS_sendmsg || number == SYS_sendto) ++calls.writes;
  if (number == SYS_recvfrom) ++calls.reads;
  if (number == SYS_epoll_wait) ++calls.waits;
  if (number == SYS_write || number == SYS_preadv2) ++calls.tokens;
  std::array<long, 6> arguments{};
  va_list list;
  va_start(list, number);
  for (long& argument : arguments) argument = va_arg(list, long);
  va_end(list);
  const auto& [a, b, c, d, e, f] = arguments;
  return call(number, a, b, c, d, e, f);
}

extern "C" ssize_t sendmsg(int socket, const msghdr* message, int flags) {
  return ::syscall(SYS_sendmsg, socket, message, flags);
}

extern "C" ssize_t send(int socket, const void* memory, size_t size, int flags) {
  return ::syscall(SYS_sendto, socket, memory, size, flags, nullptr, 0);
}

extern "C" ssize_t recv(int socket, void* memory, size_t size, int flags) {
  return ::syscall(SYS_recvfrom, socket, memory, size, flags, nullptr, nullptr);
}

extern "C" int epoll_wait(int set, epoll_event* events, int room, int timeout) {
  return static_cast<int>(::syscall(SYS_epoll_wait, set, events, room, timeout));
}

extern "C" ssize_t write(int descriptor, const void* memory, size_t size) {
  return ::syscall(SYS_write, descriptor, memory, size);
}

extern "C" ssize_t preadv2(int descriptor, const iovec* into, int count, off_t offset, int flags) {
  return ::syscall(SYS_preadv2, descriptor, into, count, offset, 0, flags);  // an offset is two words
}
