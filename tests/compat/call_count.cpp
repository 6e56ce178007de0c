// SPDX-License-Identifier: Apache-2.0
// The program's own definitions come before those of the C library, for all that is linked into it.
#undef _FORTIFY_SOURCE  // with it recv() is an inline function
#include "tests/compat/call_count.hpp"

#include <sys/epoll.h>
#include <sys/socket.h>
#include <sys/syscall.h>
#include <sys/uio.h>
#include <unistd.h>

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

extern "C" ssize_t sendmsg(int socket, const msghdr* message, int flags) {
  ++calls.writes;
  return ::syscall(SYS_sendmsg, socket, message, flags);
}

extern "C" ssize_t send(int socket, const void* memory, size_t size, int flags) {
  ++calls.writes;
  return ::syscall(SYS_sendto, socket, memory, size, flags, nullptr, 0);
}

extern "C" ssize_t recv(int socket, void* memory, size_t size, int flags) {
  ++calls.reads;
  return ::syscall(SYS_recvfrom, socket, memory, size, flags, nullptr, nullptr);
}

extern "C" int epoll_wait(int set, epoll_event* events, int room, int timeout) {
  ++calls.waits;
  return static_cast<int>(::syscall(SYS_epoll_wait, set, events, room, timeout));
}

extern "C" ssize_t write(int descriptor, const void* memory, size_t size) {
  ++calls.tokens;
  return ::syscall(SYS_write, descriptor, memory, size);
}

extern "C" ssize_t preadv2(int descriptor, const iovec* into, int count, off_t offset, int flags) {
  ++calls.tokens;
  return ::syscall(SYS_preadv2, descriptor, into, count, offset, 0, flags);  // an offset is two words
}
