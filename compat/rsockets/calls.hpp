// SPDX-License-Identifier: Apache-2.0
// rsockets: each function is rdma/rsocket.h's of the same name with an r in front, with its parameters and results: -1
// and errno. Those that are not noexcept may wait, and a thread may be cancelled in that (objects/cancellation.hpp).
#pragma once

#include <poll.h>
#include <sys/select.h>
#include <sys/socket.h>
#include <sys/types.h>

#include <cstddef>

namespace weft::compat::rsockets {

// --- From nothing to a connection (open.cpp, connect.cpp, accept.cpp)
int socket(int domain, int type, int protocol) noexcept;
int bind(int number, const sockaddr* address, socklen_t length) noexcept;
int listen(int number, int backlog) noexcept;
int accept(int number, sockaddr* address, socklen_t* length);
int connect(int number, const sockaddr* address, socklen_t length);
int getsockname(int number, sockaddr* address, socklen_t* length) noexcept;
int getpeername(int number, sockaddr* address, socklen_t* length) noexcept;

// --- And back (close.cpp)
int shutdown(int number, int how);
int close(int number);

// --- Octets (transfer.cpp)
ssize_t receive(int number, const iovec* pieces, std::size_t count, int flags);
ssize_t send(int number, const iovec* pieces, std::size_t count, int flags);
ssize_t receive_message(int number, msghdr* message, int flags);
ssize_t send_message(int number, const msghdr* message, int flags);

// --- Waiting (poll.cpp)
int poll(pollfd* descriptors, nfds_t count, int timeout);
int select(int count, fd_set* read, fd_set* write, fd_set* except, timeval* timeout);

// --- Options (options.cpp). `argument`: of fcntl's commands that take one.
int setsockopt(int number, int level, int name, const void* value, socklen_t length) noexcept;
int getsockopt(int number, int level, int name, void* value, socklen_t* length) noexcept;
int fcntl(int number, int command, int argument) noexcept;

// --- Direct data placement (iomap.cpp)
off_t iomap(int number, void* memory, std::size_t length, int protection, int flags, off_t offset) noexcept;
int iounmap(int number, void* memory, std::size_t length) noexcept;
ssize_t iowrite(int number, const void* octets, std::size_t count, off_t offset, int flags);

}  // namespace weft::compat::rsockets
