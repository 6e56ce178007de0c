// SPDX-License-Identifier: Apache-2.0
// The system calls of the data path. Those of the C library are cancellation points (cancellation.hpp), for which a
// program with threads pays two atomic operations each; these are not. Under a sanitizer they are the library's all the
// same: it watches those to know what the kernel reads and writes.
#pragma once

#include <sys/socket.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "common/sanitizers.hpp"
#include "common/wire.hpp"
#include "transport/cancellation.hpp"

namespace weft::transport {

#if WEFT_ADDRESS_SANITIZER || WEFT_THREAD_SANITIZER

inline ssize_t receive(int descriptor, MutableBytes into, int flags) noexcept {
  const NoCancellation here;
  return ::recv(descriptor, into.data(), into.size(), flags);
}
inline ssize_t receive(int descriptor, msghdr& message, int flags) noexcept {
  const NoCancellation here;
  return ::recvmsg(descriptor, &message, flags);
}
inline ssize_t send(int descriptor, Bytes piece, int flags) noexcept {
  const NoCancellation here;
  return ::send(descriptor, piece.data(), piece.size(), flags);
}
inline ssize_t send(int descriptor, const msghdr& message, int flags) noexcept {
  const NoCancellation here;
  return ::sendmsg(descriptor, &message, flags);
}

#else

inline ssize_t receive(int descriptor, MutableBytes into, int flags) noexcept {
  return ::syscall(SYS_recvfrom, descriptor, into.data(), into.size(), flags, nullptr, nullptr);
}
inline ssize_t receive(int descriptor, msghdr& message, int flags) noexcept {
  return ::syscall(SYS_recvmsg, descriptor, &message, flags);
}
inline ssize_t send(int descriptor, Bytes piece, int flags) noexcept {
  return ::syscall(SYS_sendto, descriptor, piece.data(), piece.size(), flags, nullptr, 0);
}
inline ssize_t send(int descriptor, const msghdr& message, int flags) noexcept {
  return ::syscall(SYS_sendmsg, descriptor, &message, flags);
}

#endif

}  // namespace weft::transport
