// SPDX-License-Identifier: Apache-2.0
#include "tools/bench/raw_stream.hpp"

#include <sys/socket.h>

namespace weft::tools::bench {

ssize_t RawStream::send(std::span<const iovec> pieces, int flags) {
  if (pieces.size() == 1) {
    return ::send(descriptor(), pieces.front().iov_base, pieces.front().iov_len, MSG_NOSIGNAL | flags);
  }
  msghdr message{};
  message.msg_iov = const_cast<iovec*>(pieces.data());
  message.msg_iovlen = pieces.size();
  return ::sendmsg(descriptor(), &message, MSG_NOSIGNAL | flags);
}

ssize_t RawStream::receive(MutableBytes place, int flags) {
  return ::recv(descriptor(), place.data(), place.size(), flags);
}

void RawStream::close_write() { ::shutdown(descriptor(), SHUT_WR); }

}  // namespace weft::tools::bench
