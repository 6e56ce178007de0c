// SPDX-License-Identifier: Apache-2.0
// The octets of a connection: those of its socket, plain or through TLS. It reads and writes as Socket does, so that
// its users need not distinguish the two. A plain pipe costs one comparison more than the socket.
//
// With TLS, the pipe may hold octets that the socket does not show. A thread that leaves the socket to an epoll set has
// to read while holds() is true: docs/progress.md.
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

// Not thread-safe, unlike Socket. Cannot be moved, because its parts refer to the socket.
class Pipe {
 public:
  explicit Pipe(Socket socket) noexcept;
  // `tls`: null for a plain pipe.
  Pipe(Socket socket, std::unique_ptr<tls::Session> tls) noexcept;
  ~Pipe();
  Pipe(const Pipe&) = delete;
  Pipe& operator=(const Pipe&) = delete;

  [[nodiscard]] Socket& socket() noexcept { return socket_; }
  [[nodiscard]] const Socket& socket() const noexcept { return socket_; }

  // --- Data path. A read fills its places with all available octets; if it returns fewer, no octet is left for now,
  // unless holds() is true. With TLS, kSecured is returned once, before the first octet.
  [[nodiscard]] IoResult read(MutableBytes into) noexcept { return tls_ ? read_tls(into, {}) : socket_.read(into); }
  [[nodiscard]] IoResult read(MutableBytes first, MutableBytes second) noexcept {
    return tls_ ? read_tls(first, second) : socket_.read(first, second);
  }
  // Octets that it does not accept must be presented again, at the front of the next call.
  [[nodiscard]] IoResult write(std::span<const Bytes> pieces) noexcept {
    return tls_ ? write_tls(pieces) : socket_.write(pieces);
  }

  // --- What crosses the wire
  // With TLS, records its records in `stream`, which must outlive the last call here, followed by the FIN. Call it
  // before the first octet.
  void record(PcapStream& stream) noexcept;
  // False without TLS, and once a peer turned out not to use TLS; no octet was recorded then.
  [[nodiscard]] bool records() const noexcept { return tls_ && recorded_ != nullptr; }

  // --- Inside the pipe
  // Returns whether there are octets, or an end, that the socket does not show.
  [[nodiscard]] bool holds() const noexcept { return tls_ && holds_tls(); }
  // Returns whether the last octets that arrived are a part of a TLS record, which no read returns yet.
  [[nodiscard]] bool holds_part() const noexcept { return tls_ && holds_part_tls(); }
  // During its lifetime, reads return what the pipe holds without reading the socket, so they end.
  class Inside {
   public:
    explicit Inside(Pipe& pipe) noexcept : pipe_(pipe) { pipe_.only_inside(true); }
    ~Inside() { pipe_.only_inside(false); }
    Inside(const Inside&) = delete;
    Inside& operator=(const Inside&) = delete;

   private:
    Pipe& pipe_;
  };
  // False until the handshake is complete: write() would accept nothing, even if the socket is writable.
  [[nodiscard]] bool takes_octets() const noexcept { return !tls_ || takes_octets_tls(); }
  // Returns whether TLS has octets of its own, or octets that the socket did not accept: call flush(). kMoved: all were
  // written.
  [[nodiscard]] bool has_output() const noexcept { return tls_ && has_output_tls(); }
  [[nodiscard]] IoResult flush() noexcept;

  // --- Ending. A close_notify of TLS precedes each FIN; it is lost if the socket does not accept it, except for
  // shutdown_write(), which then leaves has_output(), and flush() brings the FIN.
  void shutdown_write() noexcept;
  void close() noexcept;
  void reset() noexcept { socket_.reset(); }

  // --- Queries
  // Returns why TLS ended the connection, if it did.
  [[nodiscard]] std::error_code failure() const noexcept;
  // Returns nothing without TLS, and before the handshake is complete.
  [[nodiscard]] std::optional<PeerIdentity> identity() const;

 private:
  [[nodiscard]] IoResult read_tls(MutableBytes first, MutableBytes second) noexcept;
  [[nodiscard]] IoResult write_tls(std::span<const Bytes> pieces) noexcept;
  [[nodiscard]] bool holds_tls() const noexcept;
  [[nodiscard]] bool holds_part_tls() const noexcept;
  [[nodiscard]] bool takes_octets_tls() const noexcept;
  [[nodiscard]] bool has_output_tls() const noexcept;
  void only_inside(bool on) noexcept;

  Socket socket_;
  std::unique_ptr<tls::Session> tls_;
  PcapStream* recorded_ = nullptr;
  bool fin_waits_ = false;  // after what TLS still has to write
};

}  // namespace weft::transport
