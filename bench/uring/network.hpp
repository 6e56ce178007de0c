// SPDX-License-Identifier: Apache-2.0
// Where the two ends of a connection live: on loopback, or in two network namespaces with a veth pair between them.
#pragma once

#include <netinet/in.h>

#include <optional>
#include <string>

namespace weft::uring {

// Two ends of one TCP connection, both with TCP_NODELAY and blocking: io_uring would answer EAGAIN on O_NONBLOCK
// sockets instead of waiting. Who must not block says MSG_DONTWAIT.
struct Sockets {
  int measured = -1;
  int peer = -1;
};

class Network {
 public:
  static Network loopback();
  // Nothing when that is not allowed (CAP_NET_ADMIN) or `ip` is missing; says why on stderr. The namespaces have no
  // names, and are gone with this process.
  static std::optional<Network> veth();

  [[nodiscard]] Sockets connect() const;
  [[nodiscard]] const std::string& name() const { return name_; }

 private:
  std::string name_{};
  const char* address_ = nullptr;  // of the measured end, which listens
  int own_space_ = -1;             // none: no namespaces
  int measured_space_ = -1;
  int peer_space_ = -1;
};

}  // namespace weft::uring
