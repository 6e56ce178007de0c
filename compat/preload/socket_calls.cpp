// SPDX-License-Identifier: Apache-2.0
// librspreload.so: libc's functions on sockets, for programs that know nothing of RDMA. TCP sockets are rsockets, and
// all other descriptors remain the kernel's. What weft itself calls from within goes on to libc.
#undef _FORTIFY_SOURCE  // its wrappers have the names that are defined here
#include <dlfcn.h>
#include <fcntl.h>
#include <netinet/in.h>
#include <poll.h>
#include <sys/epoll.h>
#include <sys/ioctl.h>
#include <sys/select.h>
#include <sys/sendfile.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/uio.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <chrono>
#include <cstdarg>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <initializer_list>
#include <memory>
#include <span>
#include <utility>

#include "compat/entry.hpp"
#include "compat/objects/cancellation.hpp"
#include "compat/rsockets/calls.hpp"
#include "compat/rsockets/epoll.hpp"

namespace rs = weft::compat::rsockets;

namespace {

template <typename Function>
Function* next_of(const char* name) noexcept {
  return reinterpret_cast<Function*>(::dlsym(RTLD_NEXT, name));
}

bool is_stream(int domain, int type) {
  return (domain == AF_INET || domain == AF_INET6) && (type & ~(SOCK_NONBLOCK | SOCK_CLOEXEC)) == SOCK_STREAM;
}

// Which of two families of sockets a list has; poll(2) of the kernel is faster.
bool any_rsocket(const pollfd* list, nfds_t count) {
  if (list == nullptr || !rs::in_program()) return false;
  return std::ranges::any_of(std::span(list, count), [](const pollfd& one) { return rs::is_rsocket(one.fd); });
}

bool any_rsocket(int count, std::initializer_list<const fd_set*> sets) {
  if (!rs::in_program()) return false;
  for (int number = 0; number < std::min(count, FD_SETSIZE); ++number) {
    if (!rs::is_rsocket(number)) continue;
    if (std::ranges::any_of(sets, [&](const fd_set* set) { return set != nullptr && FD_ISSET(number, set); }))
      return true;
  }
  return false;
}

int milliseconds_of(const timespec& time) {
  constexpr std::int64_t kLongest = 1 << 30;
  const std::int64_t seconds = std::min<std::int64_t>(time.tv_sec, kLongest / 1000);
  return static_cast<int>(seconds * 1000 + (time.tv_nsec + 999'999) / 1'000'000);
}
bool is_valid(const timespec& time) { return time.tv_sec >= 0 && time.tv_nsec >= 0 && time.tv_nsec < 1'000'000'000; }

int refuse(int error) {
  errno = error;
  return -1;
}

// Returns `copy`, which is what dup(2) of libc returned.
int copied(int number, int copy) {
  return rs::in_program() && rs::is_this_process() ? rs::copy_epoll_set(number, copy) : copy;
}

// For functions that are not cancellation points in libc but wait here.
using weft::compat::Uncancelled;

}  // namespace

// libc's function of that name, or what was preloaded behind this library.
#define LIBC(name) static auto* const libc_##name = next_of<decltype(::name)>(#name)

// --- From nothing to a connection

WEFT_ENTRY int socket(int domain, int type, int protocol) noexcept {
  LIBC(socket);
  if (!is_stream(domain, type) || !rs::in_program()) return libc_socket(domain, type, protocol);
  const int number = rs::socket(domain, type, protocol);
  return number < 0 && errno == ENOTSUP ? libc_socket(domain, type, protocol) : number;
}

WEFT_ENTRY int bind(int number, const sockaddr* address, socklen_t length) noexcept {
  LIBC(bind);
  return rs::is_programs(number) ? rs::bind(number, address, length) : libc_bind(number, address, length);
}

WEFT_ENTRY int listen(int number, int backlog) noexcept {
  LIBC(listen);
  return rs::is_programs(number) ? rs::listen(number, backlog) : libc_listen(number, backlog);
}

WEFT_ENTRY int accept(int number, sockaddr* address, socklen_t* length) {
  LIBC(accept);
  return rs::is_programs(number) ? rs::accept(number, address, length) : libc_accept(number, address, length);
}

WEFT_ENTRY int accept4(int number, sockaddr* address, socklen_t* length, int flags) {
  LIBC(accept4);
  if (!rs::is_programs(number)) return libc_accept4(number, address, length, flags);
  if ((flags & ~(SOCK_NONBLOCK | SOCK_CLOEXEC)) != 0) return refuse(EINVAL);
  const int made = rs::accept(number, address, length);
  if (made >= 0 && (flags & SOCK_NONBLOCK) != 0) rs::fcntl(made, F_SETFL, O_NONBLOCK);
  return made;
}

WEFT_ENTRY int connect(int number, const sockaddr* address, socklen_t length) {
  LIBC(connect);
  return rs::is_programs(number) ? rs::connect(number, address, length) : libc_connect(number, address, length);
}

WEFT_ENTRY int getsockname(int number, sockaddr* address, socklen_t* length) noexcept {
  LIBC(getsockname);
  return rs::is_programs(number) ? rs::getsockname(number, address, length) : libc_getsockname(number, address, length);
}

WEFT_ENTRY int getpeername(int number, sockaddr* address, socklen_t* length) noexcept {
  LIBC(getpeername);
  return rs::is_programs(number) ? rs::getpeername(number, address, length) : libc_getpeername(number, address, length);
}

// --- And back

WEFT_ENTRY int shutdown(int number, int how) noexcept {
  LIBC(shutdown);
  const Uncancelled until_return;
  return rs::is_programs(number) ? rs::shutdown(number, how) : libc_shutdown(number, how);
}

WEFT_ENTRY int close(int number) {
  LIBC(close);
  if (!rs::in_program() || !rs::is_this_process()) return libc_close(number);
  if (rs::is_rsocket(number)) return rs::close_at_once(number);
  rs::close_epoll_set(number);
  return libc_close(number);
}

// The connections that it closed are finished first: a child of fork() often ends like this.
WEFT_ENTRY void _exit(int status) {
  LIBC(_exit);
  if (rs::in_program() && rs::is_this_process()) rs::wait_for_closed();
  libc__exit(status);
  std::unreachable();
}

WEFT_ENTRY void _Exit(int status) noexcept { ::_exit(status); }

WEFT_ENTRY int close_range(unsigned first, unsigned last, int flags) noexcept {
  LIBC(close_range);
  const Uncancelled until_return;
  if (flags == 0 && rs::in_program() && rs::is_this_process()) rs::close_range(first, last);
  return libc_close_range(first, last, flags);
}

WEFT_ENTRY void closefrom(int first) noexcept {
  LIBC(closefrom);
  const Uncancelled until_return;
  if (rs::in_program() && rs::is_this_process()) rs::close_range(static_cast<unsigned>(std::max(first, 0)), ~0U);
  libc_closefrom(first);
}

WEFT_ENTRY int dup(int number) noexcept {
  LIBC(dup);
  if (rs::is_programs(number)) return rs::duplicate(number, 0);
  return copied(number, libc_dup(number));
}

WEFT_ENTRY int dup2(int number, int copy) noexcept {
  LIBC(dup2);
  const Uncancelled until_return;
  const bool ours = rs::in_program() && rs::is_this_process() && (rs::is_rsocket(number) || rs::is_rsocket(copy));
  return ours ? rs::duplicate_to(number, copy) : copied(number, libc_dup2(number, copy));
}

WEFT_ENTRY int dup3(int number, int copy, int flags) noexcept {
  LIBC(dup3);
  const Uncancelled until_return;
  const bool ours = rs::in_program() && rs::is_this_process() && (rs::is_rsocket(number) || rs::is_rsocket(copy));
  if (!ours) return copied(number, libc_dup3(number, copy, flags));
  if (number == copy) return refuse(EINVAL);
  if (rs::is_rsocket(number)) return rs::duplicate_to(number, copy);
  rs::close_at_once(copy);
  return libc_dup3(number, copy, flags);
}

// --- Octets

WEFT_ENTRY ssize_t read(int number, void* octets, std::size_t count) {
  LIBC(read);
  if (!rs::is_programs(number)) return libc_read(number, octets, count);
  const iovec piece{.iov_base = octets, .iov_len = count};
  return rs::receive(number, &piece, 1, 0);
}

WEFT_ENTRY ssize_t readv(int number, const iovec* pieces, int count) {
  LIBC(readv);
  if (!rs::is_programs(number)) return libc_readv(number, pieces, count);
  return rs::receive(number, pieces, static_cast<std::size_t>(count), 0);
}

WEFT_ENTRY ssize_t recv(int number, void* octets, std::size_t count, int flags) {
  LIBC(recv);
  if (!rs::is_programs(number)) return libc_recv(number, octets, count, flags);
  const iovec piece{.iov_base = octets, .iov_len = count};
  return rs::receive(number, &piece, 1, flags);
}

// A connected socket has no address to tell, and says so by its length.
WEFT_ENTRY ssize_t recvfrom(int number, void* octets, std::size_t count, int flags, sockaddr* from, socklen_t* length) {
  LIBC(recvfrom);
  if (!rs::is_programs(number)) return libc_recvfrom(number, octets, count, flags, from, length);
  const ssize_t received = recv(number, octets, count, flags);
  if (received >= 0 && from != nullptr && length != nullptr) *length = 0;
  return received;
}

WEFT_ENTRY ssize_t recvmsg(int number, msghdr* message, int flags) {
  LIBC(recvmsg);
  return rs::is_programs(number) ? rs::receive_message(number, message, flags) : libc_recvmsg(number, message, flags);
}

WEFT_ENTRY ssize_t write(int number, const void* octets, std::size_t count) {
  LIBC(write);
  if (!rs::is_programs(number)) return libc_write(number, octets, count);
  const iovec piece{.iov_base = const_cast<void*>(octets), .iov_len = count};  // is only read
  return rs::send(number, &piece, 1, 0);
}

WEFT_ENTRY ssize_t writev(int number, const iovec* pieces, int count) {
  LIBC(writev);
  if (!rs::is_programs(number)) return libc_writev(number, pieces, count);
  return rs::send(number, pieces, static_cast<std::size_t>(count), 0);
}

WEFT_ENTRY ssize_t send(int number, const void* octets, std::size_t count, int flags) {
  LIBC(send);
  if (!rs::is_programs(number)) return libc_send(number, octets, count, flags);
  const iovec piece{.iov_base = const_cast<void*>(octets), .iov_len = count};
  return rs::send(number, &piece, 1, flags);
}

WEFT_ENTRY ssize_t sendto(int number, const void* octets, std::size_t count, int flags, const sockaddr* to,
                          socklen_t length) {
  LIBC(sendto);
  return rs::is_programs(number) ? send(number, octets, count, flags)
                                 : libc_sendto(number, octets, count, flags, to, length);
}

WEFT_ENTRY ssize_t sendmsg(int number, const msghdr* message, int flags) {
  LIBC(sendmsg);
  return rs::is_programs(number) ? rs::send_message(number, message, flags) : libc_sendmsg(number, message, flags);
}

WEFT_ENTRY ssize_t sendfile(int number, int file, off_t* offset, std::size_t count) noexcept {
  LIBC(sendfile);
  const Uncancelled until_return;
  return rs::is_programs(number) ? rs::send_file(number, file, offset, count)
                                 : libc_sendfile(number, file, offset, count);
}
static_assert(sizeof(off_t) == sizeof(off64_t));
WEFT_ENTRY ssize_t sendfile64(int number, int file, off64_t* offset, std::size_t count) noexcept {
  return sendfile(number, file, offset, count);
}

WEFT_ENTRY off_t lseek(int number, off_t offset, int whence) noexcept {
  LIBC(lseek);
  return rs::is_programs(number) ? refuse(ESPIPE) : libc_lseek(number, offset, whence);
}
WEFT_ENTRY off64_t lseek64(int number, off64_t offset, int whence) noexcept { return lseek(number, offset, whence); }

extern "C" int __vasprintf_chk(char** text, int flag, const char* format, va_list arguments) noexcept;

namespace {

// libc's dprintf() writes without calling write(2) by its name. `flag`: as _FORTIFY_SOURCE passes it, or 0.
int print(int number, int flag, const char* format, va_list arguments) {
  char* text = nullptr;
  const int size = __vasprintf_chk(&text, flag, format, arguments);
  if (size < 0) return -1;
  const std::unique_ptr<char, decltype(&::free)> owner(text, ::free);
  for (int sent = 0; sent < size;) {
    const ssize_t more = write(number, text + sent, static_cast<std::size_t>(size - sent));
    if (more < 0) return -1;
    sent += static_cast<int>(more);
  }
  return size;
}

}  // namespace

WEFT_ENTRY int vdprintf(int number, const char* format, va_list arguments) {
  LIBC(vdprintf);
  return rs::is_programs(number) ? print(number, 0, format, arguments) : libc_vdprintf(number, format, arguments);
}
WEFT_ENTRY int __vdprintf_chk(int number, int flag, const char* format, va_list arguments) {
  static auto* const libc = next_of<int(int, int, const char*, va_list)>("__vdprintf_chk");
  return rs::is_programs(number) ? print(number, flag, format, arguments) : libc(number, flag, format, arguments);
}
WEFT_ENTRY int dprintf(int number, const char* format, ...) {
  va_list arguments;
  va_start(arguments, format);
  const int size = vdprintf(number, format, arguments);
  va_end(arguments);
  return size;
}
WEFT_ENTRY int __dprintf_chk(int number, int flag, const char* format, ...) {
  va_list arguments;
  va_start(arguments, format);
  const int size = __vdprintf_chk(number, flag, format, arguments);
  va_end(arguments);
  return size;
}

// What _FORTIFY_SOURCE makes of them. They end the program where the buffer is too small.
WEFT_ENTRY ssize_t __read_chk(int number, void* octets, std::size_t count, std::size_t room) {
  if (count > room) __builtin_trap();
  return read(number, octets, count);
}
WEFT_ENTRY ssize_t __recv_chk(int number, void* octets, std::size_t count, std::size_t room, int flags) {
  if (count > room) __builtin_trap();
  return recv(number, octets, count, flags);
}
WEFT_ENTRY ssize_t __recvfrom_chk(int number, void* octets, std::size_t count, std::size_t room, int flags,
                                  sockaddr* from, socklen_t* length) {
  if (count > room) __builtin_trap();
  return recvfrom(number, octets, count, flags, from, length);
}

// --- Waiting

WEFT_ENTRY int poll(pollfd* list, nfds_t count, int timeout) {
  LIBC(poll);
  return any_rsocket(list, count) ? rs::poll(list, count, timeout) : libc_poll(list, count, timeout);
}

WEFT_ENTRY int ppoll(pollfd* list, nfds_t count, const timespec* timeout, const sigset_t* signals) {
  LIBC(ppoll);
  if (!any_rsocket(list, count)) return libc_ppoll(list, count, timeout, signals);
  if (timeout != nullptr && !is_valid(*timeout)) return refuse(EINVAL);
  return rs::poll(list, count, timeout != nullptr ? milliseconds_of(*timeout) : -1, signals);
}

WEFT_ENTRY int __poll_chk(pollfd* list, nfds_t count, int timeout, std::size_t room) {
  if (room / sizeof *list < count) __builtin_trap();
  return poll(list, count, timeout);
}
WEFT_ENTRY int __ppoll_chk(pollfd* list, nfds_t count, const timespec* timeout, const sigset_t* signals,
                           std::size_t room) {
  if (room / sizeof *list < count) __builtin_trap();
  return ppoll(list, count, timeout, signals);
}

WEFT_ENTRY int select(int count, fd_set* read, fd_set* write, fd_set* except, timeval* timeout) {
  LIBC(select);
  if (!any_rsocket(count, {read, write, except})) return libc_select(count, read, write, except, timeout);
  const auto begin = std::chrono::steady_clock::now();
  const int ready = rs::select(count, read, write, except, timeout);
  constexpr time_t kLongest = 1'000'000'000;
  if (timeout == nullptr || timeout->tv_sec > kLongest || (ready < 0 && errno != EINTR)) return ready;
  // Linux leaves the time that was not slept.
  const auto given = std::chrono::seconds(timeout->tv_sec) + std::chrono::microseconds(timeout->tv_usec);
  const auto slept = std::chrono::ceil<std::chrono::microseconds>(std::chrono::steady_clock::now() - begin);
  const auto left = std::max(given - slept, std::chrono::microseconds(0));
  *timeout = {.tv_sec = left / std::chrono::seconds(1), .tv_usec = (left % std::chrono::seconds(1)).count()};
  return ready;
}

WEFT_ENTRY int pselect(int count, fd_set* read, fd_set* write, fd_set* except, const timespec* timeout,
                       const sigset_t* signals) {
  LIBC(pselect);
  if (!any_rsocket(count, {read, write, except})) return libc_pselect(count, read, write, except, timeout, signals);
  if (timeout != nullptr && !is_valid(*timeout)) return refuse(EINVAL);
  timeval time{};
  if (timeout != nullptr) time = {.tv_sec = timeout->tv_sec, .tv_usec = (timeout->tv_nsec + 999) / 1000};
  return rs::select(count, read, write, except, timeout != nullptr ? &time : nullptr, signals);
}

WEFT_ENTRY int epoll_ctl(int set, int operation, int number, epoll_event* event) noexcept {
  LIBC(epoll_ctl);
  if (rs::is_programs(set)) return refuse(EINVAL);
  return rs::is_programs(number) ? rs::epoll_ctl(set, operation, number, event)
                                 : libc_epoll_ctl(set, operation, number, event);
}

// Waits this way even for a set without rsockets: another thread may add one.
WEFT_ENTRY int epoll_pwait(int set, epoll_event* events, int most, int timeout, const sigset_t* signals) {
  LIBC(epoll_pwait);
  if (rs::is_programs(set)) return refuse(EINVAL);
  return rs::in_program() ? rs::epoll_wait(set, events, most, timeout, signals)
                          : libc_epoll_pwait(set, events, most, timeout, signals);
}
WEFT_ENTRY int epoll_wait(int set, epoll_event* events, int most, int timeout) {
  return epoll_pwait(set, events, most, timeout, nullptr);
}
WEFT_ENTRY int epoll_pwait2(int set, epoll_event* events, int most, const timespec* timeout, const sigset_t* signals) {
  if (timeout != nullptr && !is_valid(*timeout)) return refuse(EINVAL);
  return epoll_pwait(set, events, most, timeout != nullptr ? milliseconds_of(*timeout) : -1, signals);
}

// --- Options

// What only tunes the kernel's TCP is a hint: it is taken, and changes nothing.
WEFT_ENTRY int setsockopt(int number, int level, int name, const void* value, socklen_t length) noexcept {
  LIBC(setsockopt);
  if (!rs::is_programs(number)) return libc_setsockopt(number, level, name, value, length);
  const int before = errno;
  const int done = rs::setsockopt(number, level, name, value, length);
  const bool shares = level == SOL_SOCKET && name == SO_REUSEPORT;
  if (done == 0 || errno != ENOPROTOOPT || shares) return done;
  errno = before;
  return 0;
}

WEFT_ENTRY int getsockopt(int number, int level, int name, void* value, socklen_t* length) noexcept {
  LIBC(getsockopt);
  return rs::is_programs(number) ? rs::getsockopt(number, level, name, value, length)
                                 : libc_getsockopt(number, level, name, value, length);
}

// The third argument of commands that have one fits a long, an int or a pointer.
WEFT_ENTRY int fcntl(int number, int command, ...) {
  LIBC(fcntl);
  va_list arguments;
  va_start(arguments, command);
  const long argument = va_arg(arguments, long);
  va_end(arguments);
  const bool copies = command == F_DUPFD || command == F_DUPFD_CLOEXEC;
  if (!rs::is_programs(number)) {
    const int done = libc_fcntl(number, command, argument);
    return copies ? copied(number, done) : done;
  }
  if (copies) return rs::duplicate(number, static_cast<int>(argument));
  return rs::fcntl(number, command, static_cast<int>(argument));
}
WEFT_ENTRY int fcntl64(int number, int command, ...) {
  va_list arguments;
  va_start(arguments, command);
  const long argument = va_arg(arguments, long);
  va_end(arguments);
  return fcntl(number, command, argument);
}

WEFT_ENTRY int ioctl(int number, unsigned long request, ...) noexcept {
  LIBC(ioctl);
  va_list arguments;
  va_start(arguments, request);
  void* const argument = va_arg(arguments, void*);
  va_end(arguments);
  if (!rs::is_programs(number)) return libc_ioctl(number, request, argument);
  auto* const value = static_cast<int*>(argument);
  if (request == FIONBIO) return rs::fcntl(number, F_SETFL, *value != 0 ? O_NONBLOCK : 0);
  if (request == FIOCLEX || request == FIONCLEX) return 0;
  if (request != FIONREAD) return refuse(ENOTTY);
  const int unread = rs::unread(number);
  if (unread < 0) return -1;
  *value = unread;
  return 0;
}

WEFT_ENTRY int fstat(int number, struct stat* status) noexcept {
  LIBC(fstat);
  const int done = libc_fstat(number, status);
  if (done == 0 && rs::is_programs(number))
    status->st_mode = (status->st_mode & ~static_cast<mode_t>(S_IFMT)) | S_IFSOCK;
  return done;
}
static_assert(sizeof(struct stat) == sizeof(struct stat64));
WEFT_ENTRY int fstat64(int number, struct stat64* status) noexcept {
  return fstat(number, reinterpret_cast<struct stat*>(status));
}
