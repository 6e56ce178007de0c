// SPDX-License-Identifier: Apache-2.0
// Makes raw streams of connected sockets, at either end: in clear or with OpenSSL.
#pragma once

#include <memory>

#include "tools/bench/openssl_stream.hpp"

namespace weft::tools::bench {

enum class Protection : std::uint8_t { kNone, kOpenSsl, kOpenSslResumed };

class StreamMaker {
 public:
  static Outcome<StreamMaker> make(const verbs::Policy& policy, Protection protection);

  // Both wait for the handshake, if there is one.
  Outcome<std::unique_ptr<RawStream>> at_listener(UniqueFd socket) const;
  Outcome<std::unique_ptr<RawStream>> at_caller(UniqueFd socket) const;
  // Once the peer has answered: what the next caller resumes, if it is to.
  void remember(const RawStream& stream);

 private:
  StreamMaker(Protection protection, std::shared_ptr<ssl_ctx_st> context)
      : protection_(protection), context_(std::move(context)) {}

  Protection protection_;
  std::shared_ptr<ssl_ctx_st> context_;  // none: in clear
  std::shared_ptr<ssl_session_st> session_{};
};

}  // namespace weft::tools::bench
