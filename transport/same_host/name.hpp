// SPDX-License-Identifier: Apache-2.0
// The file names of the sockets that take offers. They are in a directory that only this user may search, so that
// nobody else can connect: whoever connects may leave descriptors in the socket, and their last close() may take any
// time (SO_LINGER, a network file system, a large file).
#pragma once

#include <sys/socket.h>
#include <sys/types.h>
#include <sys/un.h>

#include <cstdint>
#include <expected>
#include <string>
#include <system_error>
#include <utility>

#include "transport/endpoint.hpp"

namespace weft::transport::same_host {

// The families of a listener at a wildcard: that of its address, or both, as IPv6's may be (IPV6_V6ONLY).
enum class Families : std::uint8_t { kItsOwn, kBoth };

// The name for a TCP endpoint in this thread's network namespace: "/dev/shm/weft-USER/NAMESPACE-ADDRESS:PORT", and
// "NAMESPACE-*:PORT" for the wildcard of both families. Fails without /proc.
class SocketName {
 public:
  [[nodiscard]] static std::expected<SocketName, std::error_code> of(const Endpoint& at,
                                                                     Families families = Families::kItsOwn);
  [[nodiscard]] const sockaddr* address() const { return reinterpret_cast<const sockaddr*>(&address_); }
  [[nodiscard]] const char* path() const { return address_.sun_path; }
  static constexpr socklen_t kLength = sizeof(sockaddr_un);

 private:
  sockaddr_un address_{.sun_family = AF_UNIX, .sun_path = {}};
};

// Fails with no_such_file_or_directory if there is no directory yet, and with permission_denied if it is another
// user's, or open to others.
[[nodiscard]] std::error_code check_directory();
// Makes the directory if there is none, and checks it.
[[nodiscard]] std::error_code make_directory();
// Removes names of this network namespace that processes which were killed, or did not close their listeners, have
// left.
void remove_stale_names();

// A name to which a socket is bound. The process that has bound it removes it with this object; its children do not.
class BoundName {
 public:
  BoundName() = default;
  explicit BoundName(const SocketName& name);
  BoundName(BoundName&& other) noexcept : path_(std::move(other.path_)), process_(std::exchange(other.process_, 0)) {}
  BoundName& operator=(BoundName&& other) noexcept;
  ~BoundName() { remove(); }

 private:
  void remove() noexcept;
  std::string path_{};
  pid_t process_ = 0;  // 0: none
};

}  // namespace weft::transport::same_host
