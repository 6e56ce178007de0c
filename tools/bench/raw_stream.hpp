// SPDX-License-Identifier: Apache-2.0
// What the raw patterns move octets with: a socket as it is. OpenSslStream has TLS on it.
#pragma once

#include <sys/types.h>
#include <sys/uio.h>

#include <memory>
#include <span>
#include <utility>

#include "common/wire.hpp"
#include "tools/cli/unique_fd.hpp"

struct ssl_session_st;

namespace weft::tools::bench {

class RawStream {
 public:
  explicit RawStream(UniqueFd socket) : socket_(std::move(socket)) {}
  virtual ~RawStream() = default;
  RawStream(const RawStream&) = delete;
  RawStream& operator=(const RawStream&) = delete;

  // As sendmsg() and recv() say it, errno included. `flags`: MSG_DONTWAIT, or none for a call that sleeps. After EAGAIN
  // the same octets are offered again.
  virtual ssize_t send(std::span<const iovec> pieces, int flags);
  virtual ssize_t receive(MutableBytes place, int flags);
  // That this was all.
  virtual void close_write();
  // What another connection may resume; none in clear, or as long as the peer has not given one.
  [[nodiscard]] virtual std::shared_ptr<ssl_session_st> session() const { return nullptr; }

  [[nodiscard]] int descriptor() const noexcept { return socket_.get(); }

 private:
  UniqueFd socket_;
};

}  // namespace weft::tools::bench
