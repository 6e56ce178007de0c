// SPDX-License-Identifier: Apache-2.0
// What the octets of a connection go through: its socket, plainly or with TLS on it. Reads and writes are those of Socket,
// so that nothing above asks which of the two it is. Plain, they cost one comparison more than the socket's own.
//
// With TLS octets may lie in the pipe that the socket does not show. A thread that leaves the socket to an epoll set has
// to read while holds(): docs/progress.md.
#pragma once

#include <memory>
#include <optional>
#include <span>
#include <system_error>

#include "transport/peer_identity.hpp"
#include "transport/socket.hpp"

namespace weft::transport {

class PcapStream;
namespace tls {
class Session;
}

// Not thread-safe, unlike Socket. Stays where it is made: what is inside points at the socket.
class Pipe {
 public:
  explicit Pipe(Socket socket) noexcept;
  // Null: plain.
  Pipe(Socket socket, std::unique_ptr<tls::Session> tls) noexcept;
  ~Pipe();
  Pipe(const Pipe&) = delete;
  Pipe& operator=(const Pipe&) = delete;

  [[nodiscard]] Socket& socket() noexcept { return socket_; }
  [[nodiscard]] const Socket& socket() const noexcept { return socket_; }

  // --- Data path. A read fills its places as far as there is anything; less means that no octet is left for now, unless
  // holds() says otherwise. kSecured comes once, where there is TLS, before the first octet.
  [[nodiscard]] IoResult read(MutableBytes into) noexcept { return tls_ ? read_tls(into, {}) : socket_.read(into); }
  [[nodiscard]] IoResult read(MutableBytes first, MutableBytes second) noexcept {
    return tls_ ? read_tls(first, second) : socket_.read(first, second);
  }
  // What it does not take now has to be offered again, the same octets at the front.
  [[nodiscard]] IoResult write(std::span<const Bytes> pieces) noexcept {
    return tls_ ? write_tls(pieces) : socket_.write(pieces);
  }

  // --- What crosses the wire
  // Where there is TLS its records go to `stream`, which outlives the last call here, and the FIN behind them. Before the first
  // octet.
  void record(PcapStream& stream) noexcept;
  // False where there is no TLS, or no more: a peer spoke plainly, and no octet was recorded.
  [[nodiscard]] bool records() const noexcept { return tls_ && recorded_ != nullptr; }

  // --- Inside the pipe
  // Octets, or the end, that the socket does not show.
  [[nodiscard]] bool holds() const noexcept { return tls_ && holds_tls(); }
  // While it lives reads bring what the pipe holds and leave the socket alone. So they come to an end.
  class Inside {
   public:
    explicit Inside(Pipe& pipe) noexcept : pipe_(pipe) { pipe_.only_inside(true); }
    ~Inside() { pipe_.only_inside(false); }
    Inside(const Inside&) = delete;
    Inside& operator=(const Inside&) = delete;

   private:
    Pipe& pipe_;
  };
  // False until the handshake is over: write() would take nothing, and room in the socket would not change that.
  [[nodiscard]] bool takes_octets() const noexcept { return !tls_ || takes_octets_tls(); }
  // Of TLS's own, or what the socket did not take: flush() is to be called. kMoved: all has gone.
  [[nodiscard]] bool has_output() const noexcept { return tls_ && has_output_tls(); }
  [[nodiscard]] IoResult flush() noexcept;

  // --- Ending. TLS's close_notify stands before each FIN; it is lost where the socket does not take it, but for
  // shutdown_write(), which then leaves has_output(), and flush() brings the FIN.
  void shutdown_write() noexcept;
  void close() noexcept;
  void reset() noexcept { socket_.reset(); }

  // --- Queries
  // Why TLS has ended the connection; nothing where it did not.
  [[nodiscard]] std::error_code failure() const noexcept;
  // Nothing where there is no TLS, or not yet.
  [[nodiscard]] std::optional<PeerIdentity> identity() const;

 private:
  [[nodiscard]] IoResult read_tls(MutableBytes first, MutableBytes second) noexcept;
  [[nodiscard]] IoResult write_tls(std::span<const Bytes> pieces) noexcept;
  [[nodiscard]] bool holds_tls() const noexcept;
  [[nodiscard]] bool takes_octets_tls() const noexcept;
  [[nodiscard]] bool has_output_tls() const noexcept;
  void only_inside(bool on) noexcept;

  Socket socket_;
  std::unique_ptr<tls::Session> tls_;
  PcapStream* recorded_ = nullptr;
  bool fin_waits_ = false;  // behind what TLS still has to write
};

}  // namespace weft::transport
