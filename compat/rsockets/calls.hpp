// SPDX-License-Identifier: Apache-2.0
// rsockets: each function is rdma/rsocket.h's of the same name with an r in front, with its parameters and results: -1
// and errno. Those that are not noexcept may wait, and a thread may be canceled in that (objects/cancellation.hpp).
#pragma once

#include <poll.h>
#include <signal.h>
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

// --- What the preload library has besides (duplicate.cpp). Copies share everything, and belong to this process.
// As F_DUPFD of fcntl(2): at `lowest` or higher.
int duplicate(int number, int lowest) noexcept;
// As dup2(2): `copy` is closed first. `number` may also be none of an rsocket.
int duplicate_to(int number, int copy);
// Returns how many octets can be read at once, or -1 with errno.
int unread(int number) noexcept;
// A file's octets, as sendfile(2).
ssize_t send_file(int number, int file, off_t* offset, std::size_t count);
// Takes no lock: for every call of a program on every descriptor.
bool is_rsocket(int number) noexcept;
// Returns false in a child of vfork(), which has its parent's memory: what it does to its descriptors is not for the
// table.
bool is_this_process() noexcept;
// Returns whether the program knows the number as an rsocket's, and this thread is none of weft's, nor in one of its
// calls: then a call of libc's is for these functions.
bool is_programs(int number) noexcept;
bool in_program() noexcept;
// Closes those from `first` to `last`.
void close_range(unsigned first, unsigned last);

// --- And back (close.cpp)
int shutdown(int number, int how);
// Waits for the peer, unless the rsocket is non-blocking: see close_at_once.
int close(int number);
// As close(2): the connection goes on in the background (closer.hpp), except where SO_LINGER says otherwise.
int close_at_once(int number);
// Until all connections of this process that were left to the background have ended. Before _exit(2).
void wait_for_closed() noexcept;

// --- Octets (transfer.cpp)
ssize_t receive(int number, const iovec* pieces, std::size_t count, int flags);
ssize_t send(int number, const iovec* pieces, std::size_t count, int flags);
ssize_t receive_from(int number, const iovec& piece, int flags, sockaddr* from, socklen_t* length);
ssize_t send_to(int number, const iovec* pieces, std::size_t count, int flags, const sockaddr* to, socklen_t length);
ssize_t receive_message(int number, msghdr* message, int flags);
ssize_t send_message(int number, const msghdr* message, int flags);

// --- Waiting (poll.cpp). `signals`: as ppoll(2) and pselect(2) take them.
int poll(pollfd* descriptors, nfds_t count, int timeout, const sigset_t* signals = nullptr);
int select(int count, fd_set* read, fd_set* write, fd_set* except, timeval* timeout, const sigset_t* signals = nullptr);

// --- Options (options.cpp). `argument`: of fcntl's commands that take one.
int setsockopt(int number, int level, int name, const void* value, socklen_t length) noexcept;
int getsockopt(int number, int level, int name, void* value, socklen_t* length) noexcept;
int fcntl(int number, int command, int argument) noexcept;

// --- Direct data placement (iomap.cpp)
off_t iomap(int number, void* memory, std::size_t length, int protection, int flags, off_t offset) noexcept;
int iounmap(int number, void* memory, std::size_t length) noexcept;
ssize_t iowrite(int number, const void* octets, std::size_t count, off_t offset, int flags);

}  // namespace weft::compat::rsockets
