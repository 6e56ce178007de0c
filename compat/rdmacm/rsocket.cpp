// SPDX-License-Identifier: Apache-2.0
// rsockets: sockets over RDMA, rsocket(7).
#include <rdma/rsocket.h>
#include <sys/epoll.h>

#include <cerrno>
#include <cstdarg>

#include "compat/entry.hpp"
#include "compat/rsockets/calls.hpp"
#include "compat/rsockets/epoll.hpp"

namespace rs = weft::compat::rsockets;

WEFT_ENTRY int rsocket(int domain, int type, int protocol) { return rs::socket(domain, type, protocol); }
WEFT_ENTRY int rbind(int socket, const sockaddr* addr, socklen_t addrlen) { return rs::bind(socket, addr, addrlen); }
WEFT_ENTRY int rlisten(int socket, int backlog) { return rs::listen(socket, backlog); }
WEFT_ENTRY int raccept(int socket, sockaddr* addr, socklen_t* addrlen) { return rs::accept(socket, addr, addrlen); }
WEFT_ENTRY int rconnect(int socket, const sockaddr* addr, socklen_t addrlen) {
  return rs::connect(socket, addr, addrlen);
}
WEFT_ENTRY int rshutdown(int socket, int how) { return rs::shutdown(socket, how); }
WEFT_ENTRY int rclose(int socket) { return rs::close(socket); }

WEFT_ENTRY ssize_t rrecv(int socket, void* buf, std::size_t len, int flags) {
  const iovec piece{.iov_base = buf, .iov_len = len};
  return rs::receive(socket, &piece, 1, flags);
}
WEFT_ENTRY ssize_t rrecvfrom(int socket, void* buf, std::size_t len, int flags, sockaddr* src_addr,
                             socklen_t* addrlen) {
  const iovec piece{.iov_base = buf, .iov_len = len};
  return rs::receive_from(socket, piece, flags, src_addr, addrlen);
}
WEFT_ENTRY ssize_t rrecvmsg(int socket, msghdr* msg, int flags) { return rs::receive_message(socket, msg, flags); }
WEFT_ENTRY ssize_t rsend(int socket, const void* buf, std::size_t len, int flags) {
  const iovec piece{.iov_base = const_cast<void*>(buf), .iov_len = len};  // is only read
  return rs::send(socket, &piece, 1, flags);
}
WEFT_ENTRY ssize_t rsendto(int socket, const void* buf, std::size_t len, int flags, const sockaddr* dest_addr,
                           socklen_t addrlen) {
  const iovec piece{.iov_base = const_cast<void*>(buf), .iov_len = len};  // is only read
  return rs::send_to(socket, &piece, 1, flags, dest_addr, addrlen);
}
WEFT_ENTRY ssize_t rsendmsg(int socket, const msghdr* msg, int flags) { return rs::send_message(socket, msg, flags); }
WEFT_ENTRY ssize_t rread(int socket, void* buf, std::size_t count) { return rrecv(socket, buf, count, 0); }
WEFT_ENTRY ssize_t rreadv(int socket, const iovec* iov, int iovcnt) {
  return rs::receive(socket, iov, static_cast<std::size_t>(iovcnt), 0);
}
WEFT_ENTRY ssize_t rwrite(int socket, const void* buf, std::size_t count) { return rsend(socket, buf, count, 0); }
WEFT_ENTRY ssize_t rwritev(int socket, const iovec* iov, int iovcnt) {
  return rs::send(socket, iov, static_cast<std::size_t>(iovcnt), 0);
}

WEFT_ENTRY int rpoll(pollfd* fds, nfds_t nfds, int timeout) { return rs::poll(fds, nfds, timeout); }
WEFT_ENTRY int rselect(int nfds, fd_set* readfds, fd_set* writefds, fd_set* exceptfds, timeval* timeout) {
  return rs::select(nfds, readfds, writefds, exceptfds, timeout);
}

// RDMACM_1.5 (rdma-core 65), which the headers that weft is built with lack: epoll(7) for rsockets and other
// descriptors. The set is a descriptor of the kernel, and close(2) closes it.
WEFT_ENTRY_NAMED(int, weft_repoll_create, repoll_create, int size) {
  if (size <= 0) return errno = EINVAL, -1;
  const int set = ::epoll_create1(EPOLL_CLOEXEC);
  rs::close_epoll_set(set);  // of an earlier set of this number
  return set;
}
WEFT_ENTRY_NAMED(int, weft_repoll_ctl, repoll_ctl, int set, int operation, int number, epoll_event* event) {
  return rs::epoll_ctl(set, operation, number, event);
}
WEFT_ENTRY_NAMED(int, weft_repoll_wait, repoll_wait, int set, epoll_event* events, int most, int timeout) {
  return rs::epoll_wait(set, events, most, timeout, nullptr);
}

WEFT_ENTRY int rgetpeername(int socket, sockaddr* addr, socklen_t* addrlen) {
  return rs::getpeername(socket, addr, addrlen);
}
WEFT_ENTRY int rgetsockname(int socket, sockaddr* addr, socklen_t* addrlen) {
  return rs::getsockname(socket, addr, addrlen);
}
WEFT_ENTRY int rsetsockopt(int socket, int level, int optname, const void* optval, socklen_t optlen) {
  return rs::setsockopt(socket, level, optname, optval, optlen);
}
WEFT_ENTRY int rgetsockopt(int socket, int level, int optname, void* optval, socklen_t* optlen) {
  return rs::getsockopt(socket, level, optname, optval, optlen);
}
// Commands without an argument leave what is read here unused.
WEFT_ENTRY int rfcntl(int socket, int cmd, ...) {
  va_list arguments;
  va_start(arguments, cmd);
  const int argument = va_arg(arguments, int);
  va_end(arguments);
  return rs::fcntl(socket, cmd, argument);
}

WEFT_ENTRY off_t riomap(int socket, void* buf, std::size_t len, int prot, int flags, off_t offset) {
  return rs::iomap(socket, buf, len, prot, flags, offset);
}
WEFT_ENTRY int riounmap(int socket, void* buf, std::size_t len) { return rs::iounmap(socket, buf, len); }
WEFT_ENTRY std::size_t riowrite(int socket, const void* buf, std::size_t count, off_t offset, int flags) {
  return static_cast<std::size_t>(rs::iowrite(socket, buf, count, offset, flags));
}
