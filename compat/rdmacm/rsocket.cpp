// SPDX-License-Identifier: Apache-2.0
// rsockets: sockets over RDMA. The names are here so that programs load (rping's shared code imports rpoll without
// calling it); the protocol is not implemented, so no rsocket can be made, and every call says so.
#include <rdma/rsocket.h>

#include <cerrno>

#include "compat/entry.hpp"

namespace {

int absent() {
  errno = ENOSYS;
  return -1;
}

}  // namespace

WEFT_ENTRY int rsocket(int, int, int) { return absent(); }
WEFT_ENTRY int rbind(int, const sockaddr*, socklen_t) { return absent(); }
WEFT_ENTRY int rlisten(int, int) { return absent(); }
WEFT_ENTRY int raccept(int, sockaddr*, socklen_t*) { return absent(); }
WEFT_ENTRY int rconnect(int, const sockaddr*, socklen_t) { return absent(); }
WEFT_ENTRY int rshutdown(int, int) { return absent(); }
WEFT_ENTRY int rclose(int) { return absent(); }

WEFT_ENTRY ssize_t rrecv(int, void*, std::size_t, int) { return absent(); }
WEFT_ENTRY ssize_t rrecvfrom(int, void*, std::size_t, int, sockaddr*, socklen_t*) { return absent(); }
WEFT_ENTRY ssize_t rrecvmsg(int, msghdr*, int) { return absent(); }
WEFT_ENTRY ssize_t rsend(int, const void*, std::size_t, int) { return absent(); }
WEFT_ENTRY ssize_t rsendto(int, const void*, std::size_t, int, const sockaddr*, socklen_t) { return absent(); }
WEFT_ENTRY ssize_t rsendmsg(int, const msghdr*, int) { return absent(); }
WEFT_ENTRY ssize_t rread(int, void*, std::size_t) { return absent(); }
WEFT_ENTRY ssize_t rreadv(int, const iovec*, int) { return absent(); }
WEFT_ENTRY ssize_t rwrite(int, const void*, std::size_t) { return absent(); }
WEFT_ENTRY ssize_t rwritev(int, const iovec*, int) { return absent(); }

WEFT_ENTRY int rpoll(pollfd*, nfds_t, int) { return absent(); }
WEFT_ENTRY int rselect(int, fd_set*, fd_set*, fd_set*, timeval*) { return absent(); }

WEFT_ENTRY int rgetpeername(int, sockaddr*, socklen_t*) { return absent(); }
WEFT_ENTRY int rgetsockname(int, sockaddr*, socklen_t*) { return absent(); }
WEFT_ENTRY int rsetsockopt(int, int, int, const void*, socklen_t) { return absent(); }
WEFT_ENTRY int rgetsockopt(int, int, int, void*, socklen_t*) { return absent(); }
WEFT_ENTRY int rfcntl(int, int, ...) { return absent(); }

WEFT_ENTRY off_t riomap(int, void*, std::size_t, int, int, off_t) { return absent(); }
WEFT_ENTRY int riounmap(int, void*, std::size_t) { return absent(); }
WEFT_ENTRY std::size_t riowrite(int, const void*, std::size_t, off_t, int) {
  return static_cast<std::size_t>(absent());
}
