// SPDX-License-Identifier: Apache-2.0
// Hostile octets at a pipe with TLS, in pieces, as a client and as both kinds of server: it ends or waits, never says that it
// holds what it does not have, and stays at its end.
#include <sys/mman.h>
#include <sys/socket.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cstdint>
#include <cstdlib>
#include <span>
#include <string>
#include <utility>

#include "transport/pipe.hpp"
#include "transport/tls/authority.hpp"
#include "transport/tls/session.hpp"

using namespace weft;
using transport::IoResult;
using transport::Pipe;
using transport::Socket;
using Status = IoResult::Status;

namespace {

void require(bool condition) {
  if (!condition) std::abort();
}

// A file without a folder.
std::string file_of(const std::string& text) {
  const int file = ::memfd_create("pem", MFD_CLOEXEC);
  require(::write(file, text.data(), text.size()) == static_cast<ssize_t>(text.size()));
  return "/proc/self/fd/" + std::to_string(file);
}

const transport::tls::Settings& settings() {
  static const auto one = [] {
    using transport::tls::Authority;
    const auto authority = Authority::make("fuzz", Authority::Days(1000)).value();
    const auto issued = authority.issue({.common_name = "end"}).value();
    return transport::tls::Settings{.certificate = file_of(issued.certificate + issued.key),
                                    .ca = file_of(authority.certificate())};
  }();
  return one;
}

std::pair<Socket, Socket> connected() {
  std::array<int, 2> ends{};
  require(::socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0, ends.data()) == 0);
  return {Socket::own(ends[0]), Socket::own(ends[1])};
}

bool is_over(Status status) { return status == Status::kLost || status == Status::kEndOfStream; }

// All that is there, `at_once` octets a read.
Status read_all(Pipe& pipe, std::size_t at_once) {
  std::array<std::byte, 64> place{};
  for (;;) {
    const auto io = pipe.read(MutableBytes(place).first(at_once));
    require(io.octets <= at_once);
    if (io.status == Status::kWouldBlock) require(!pipe.holds());
    if (is_over(io.status) || io.status == Status::kWouldBlock) return io.status;
    if (!pipe.holds()) continue;
    const Pipe::Inside inside(pipe);
    require(pipe.read(MutableBytes(place).first(at_once)).octets <= at_once);
  }
}

}  // namespace

// The first octet chooses the part, the second the size of the pieces.
extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  if (size < 2) return 0;
  using transport::tls::Part;
  constexpr std::array kParts{Part::kClient, Part::kServer, Part::kServerIfAsked};
  auto [ours, peer] = connected();
  auto session = transport::tls::Session::make(transport::tls::Context::find(settings())->context,
                                               kParts[data[0] % kParts.size()]);
  Pipe pipe(std::move(ours), std::move(session));
  static_cast<void>(pipe.flush());
  const std::size_t piece = std::size_t{data[1]} + 1;
  for (Bytes rest = std::as_bytes(std::span(data + 2, size - 2)); !rest.empty();) {
    const Bytes next = rest.first(std::min(piece, rest.size()));
    rest = rest.subspan(next.size());
    if (peer.write({&next, 1}).status != Status::kMoved) return 0;
    const Status status = read_all(pipe, 1 + piece % 64);
    if (!is_over(status)) continue;
    require(read_all(pipe, 1) == status);
    return 0;
  }
  peer.shutdown_write();
  require(is_over(read_all(pipe, 64)));
  return 0;
}
