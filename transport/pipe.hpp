// SPDX-License-Identifier: Apache-2.0
// The octets of a connection: those of its socket, plain or through TLS, or octets in memory that it shares with a peer
// on the same host. It reads and writes as Socket does, so that its users need not distinguish them. A plain pipe costs
// one comparison more than the socket.
//
// With TLS, the pipe may hold octets that the socket does not show. A thread that leaves the socket to an epoll set has
// to read while holds() is true: docs/progress.md. With shared memory, the socket shows nothing: sets watch the
// doorbell of the rings, and rest() precedes each sleep.
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
namespace same_host {
class Session;
}

// Why a connection failed, as far as the pipe knows.
struct PipeFailure {
  std::error_code tls{};       // why TLS ended it
  bool offer_refused = false;  // the peer has let go of the shared memory, and not of the TCP connection
};

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

  // --- Shared memory. The connection remains the socket's: its addresses, options and end.
  // The rings that this end has offered, or the peer. Before the first octet in either direction, and never with TLS.
  void share(std::unique_ptr<same_host::Session> shared) noexcept;
  [[nodiscard]] bool is_shared() const noexcept { return shared_ != nullptr; }
  // Before a thread may sleep until the doorbell is readable (`sleeps`), and when none does any more. Returns whether
  // there are octets or an end to read. Only for shared memory.
  bool rest(bool sleeps) noexcept;

  // --- Data path. A read fills its places with all available octets; if it returns fewer, no octet is left for now,
  // unless holds() is true. With TLS, kSecured is returned once, before the first octet.
  [[nodiscard]] IoResult read(MutableBytes into) noexcept { return plain_ ? socket_.read(into) : read_other(into, {}); }
  [[nodiscard]] IoResult read(MutableBytes first, MutableBytes second) noexcept {
    return plain_ ? socket_.read(first, second) : read_other(first, second);
  }
  // Octets that it does not accept must be presented again, at the front of the next call.
  [[nodiscard]] IoResult write(std::span<const Bytes> pieces) noexcept {
    return plain_ ? socket_.write(pieces) : write_other(pieces);
  }

  // Returns the next octets of the stream in place, in shared memory, if all of them are there in one piece; empty
  // otherwise. The peer can still write to them. take_back() follows, before any other call.
  [[nodiscard]] Bytes lend(std::size_t octets) noexcept { return shared_ ? lend_shared(octets) : Bytes(); }
  void take_back(std::size_t octets) noexcept;
  // Returns memory for what is written next. A write() that presents octets there, from its beginning, does not copy
  // them. Empty if little room is there.
  [[nodiscard]] MutableBytes room_in_place() noexcept { return shared_ ? room_shared() : MutableBytes(); }

  // --- What crosses the wire
  // With TLS, records its records in `stream`, which must outlive the last call here, followed by the FIN. Call it
  // before the first octet.
  void record(PcapStream& stream) noexcept;
  // Returns false without TLS, and once a peer turned out not to use TLS; no octet was recorded then.
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
  void reset() noexcept;
  // In a child process after fork(): replaces the descriptors by `nowhere`.
  void leave_to_parent(int nowhere) noexcept;

  // --- Queries
  // Returns how many octets that were written the peer has not acknowledged, or not read from shared memory.
  [[nodiscard]] std::size_t unacknowledged() const noexcept;
  // Returns whether the peer sends nothing after what has arrived, read or not.
  [[nodiscard]] bool peer_has_closed() const noexcept;
  // Returns whether octets wait for a peer that takes none.
  [[nodiscard]] bool peer_takes_nothing() const noexcept;
  // Returns whether octets or an end can be read, or octets written, as requested.
  [[nodiscard]] bool is_ready(bool to_read, bool to_write) const noexcept;
  [[nodiscard]] PipeFailure failure() const noexcept;
  // Returns nothing without TLS, and before the handshake is complete.
  [[nodiscard]] std::optional<PeerIdentity> identity() const;

 private:
  [[nodiscard]] IoResult read_other(MutableBytes first, MutableBytes second) noexcept;
  [[nodiscard]] IoResult read_tls(MutableBytes first, MutableBytes second) noexcept;
  [[nodiscard]] IoResult write_other(std::span<const Bytes> pieces) noexcept;
  [[nodiscard]] Bytes lend_shared(std::size_t octets) noexcept;
  [[nodiscard]] MutableBytes room_shared() noexcept;
  void stop_sharing() noexcept;
  [[nodiscard]] bool holds_tls() const noexcept;
  [[nodiscard]] bool holds_part_tls() const noexcept;
  [[nodiscard]] bool takes_octets_tls() const noexcept;
  [[nodiscard]] bool has_output_tls() const noexcept;
  void only_inside(bool on) noexcept;

  Socket socket_;
  bool plain_ = true;       // without TLS and without shared memory
  bool fin_waits_ = false;  // after what TLS still has to write
  std::unique_ptr<tls::Session> tls_;
  std::unique_ptr<same_host::Session> shared_;  // never with TLS
  PcapStream* recorded_ = nullptr;
};

}  // namespace weft::transport
