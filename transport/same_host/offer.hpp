// SPDX-License-Identifier: Apache-2.0
// How two processes of one host come to share rings. Beside the port of a TCP listener there is an AF_UNIX
// socket, whose name only processes of this user can reach (transport/same_host/name.hpp). An initiator that finds one
// sends one message, with the descriptor of the rings (Session::offer). If it finds none, that costs it a failed
// connect().
#pragma once

#include <sys/types.h>

#include <cstdint>
#include <expected>
#include <memory>
#include <optional>
#include <system_error>

#include "transport/endpoint.hpp"
#include "transport/same_host/name.hpp"
#include "transport/same_host/session.hpp"
#include "transport/socket.hpp"

namespace weft::transport::same_host {

// Rings that an initiator offers for the TCP connection between two endpoints. What the endpoints are is its word
// alone.
struct Offer {
  Endpoint from{};  // the initiator's end
  Endpoint to{};    // the listener's
  std::unique_ptr<Session> session{};
};

// A socket that takes offers. Its name goes with it.
struct OfferListener {
  Socket socket{};
  BoundName name{};
};

// Listens for offers of initiators that connect to the TCP endpoint `at`. The socket is non-blocking and close-on-exec.
// Fails with address_in_use if another socket listens for them, and as make_directory().
[[nodiscard]] std::expected<OfferListener, std::error_code> listen_for_offers(const Endpoint& at, int backlog,
                                                                              Families families = Families::kItsOwn);

// Returns the process that connected such a socket, as this process numbers it: 0 if it cannot see that process.
[[nodiscard]] pid_t process_of(const Socket& accepted) noexcept;

// Reads the offer from a socket that was accepted from such a listener. On success, `accepted` has become the doorbell
// of the session. Returns nothing if the message has not arrived yet. Never waits. Fails with permission_denied if the
// initiator is another user's; with too_many_files_open as Session::offer(); with protocol_error for octets that are no
// offer, or for more or fewer descriptors than one; with protocol_not_supported for another version; with bad_message
// for a file that is not sealed or not of the size that the message says; with connection_aborted if the initiator has
// gone; or for want of memory.
[[nodiscard]] std::expected<std::optional<Offer>, std::error_code> receive_offer(Socket& accepted);

}  // namespace weft::transport::same_host
