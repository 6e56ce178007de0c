// SPDX-License-Identifier: Apache-2.0
#include "probe/socket.hpp"

#include "transport/system_words.hpp"

namespace weft::probe {
namespace {

// What no connection was tried for.
bool lacks_a_socket(const std::error_code& error) {
  return error == std::errc::too_many_files_open || error == std::errc::too_many_files_open_in_system ||
         error == std::errc::address_family_not_supported;
}

std::unexpected<std::string> unusable(const std::string& what, const std::error_code& error) {
  return std::unexpected((lacks_a_socket(error) ? "no socket" : what) + ": " + system_words(error.value()));
}

}  // namespace

std::expected<std::unique_ptr<Socket>, std::string> connect_to(const transport::Endpoint& peer, Instant deadline,
                                                               const SocketWish& wish) {
  auto socket = Socket::connect(peer, deadline, wish);
  if (socket) return std::make_unique<Socket>(std::move(*socket));
  if (socket.error() == std::errc::connection_refused)
    return std::unexpected("nothing is listening on " + peer.to_string());
  return unusable(peer.to_string() + " cannot be reached", socket.error());
}

std::expected<std::unique_ptr<ListeningSocket>, std::string> ListeningSocket::open(
    const transport::Endpoint& at, const std::optional<transport::Address>& from) {
  auto listener = transport::BlockingListener::open(at);
  if (!listener) return unusable("cannot listen at " + at.to_string(), listener.error());
  return std::make_unique<ListeningSocket>(std::move(*listener), from);
}

bool ListeningSocket::may_come(const transport::Address& address) {
  const std::scoped_lock lock(mutex_);
  if (!from_) from_ = address;
  return *from_ == address;
}

std::unique_ptr<Socket> ListeningSocket::accept(Instant deadline) {
  do {
    auto socket = listener_.accept(deadline);
    if (!socket) return nullptr;
    if (may_come(socket->peer().value_or(transport::Endpoint{}).address))
      return std::make_unique<Socket>(std::move(*socket));
    socket->reset();
  } while (now() < deadline);
  return nullptr;
}

}  // namespace weft::probe
