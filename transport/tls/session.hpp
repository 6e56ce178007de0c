// SPDX-License-Identifier: Apache-2.0
// TLS 1.3 on one socket: octets in clear on one side, records on the other. Neither waits nor calls back; it goes on
// when it is asked to read or write again, as the socket itself does. A Pipe uses it, and no other code does.
//
// In: one recv() brings many records (ReadAhead). What of them was not taken yet is held here, and the socket does not
// show it: holds() tells.
// Out: records that the socket does not take are kept here; octets count as written when it has taken all of their
// records.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>
#include <span>
#include <system_error>
#include <vector>

#include "transport/peer_identity.hpp"
#include "transport/socket.hpp"
#include "transport/tls/context.hpp"
#include "transport/tls/read_ahead.hpp"

struct bio_st;
struct bio_method_st;
struct ssl_st;

namespace weft::transport {
class PcapStream;
}

namespace weft::transport::tls {

// kServerIfAsked serves peers that speak plain MPA as well: looks_plain() says which the peer is.
enum class Part : std::uint8_t { kClient, kServer, kServerIfAsked };

class Session {
 public:
  static constexpr std::size_t kRecord = 16 * 1024;         // octets in clear, at most (RFC 8446 section 5.1)
  static constexpr std::size_t kMostOfWrite = 4 * kRecord;  // octets in clear that await the socket
  static constexpr std::size_t kOverhead = 22;              // octets of a record besides (RFC 8446 section 5.2)
  // Key updates and tickets that a peer may send, and one more for each MiB.
  static constexpr std::uint64_t kMostMessages = 32;
  // A ClientHello, and the certificates of a client. OpenSSL makes room for what a message announces, which is 128 KiB
  // and 100 KiB at most, and the peer has proved nothing yet.
  static constexpr std::size_t kMostOfHello = 16 * 1024;
  static constexpr long kMostCertificates = 32 * 1024;

  // Returns null without memory.
  [[nodiscard]] static std::unique_ptr<Session> make(std::shared_ptr<const Context> context, Part part) noexcept;
  Session(std::shared_ptr<const Context> context, Part part);
  ~Session();
  Session(const Session&) = delete;
  Session& operator=(const Session&) = delete;
  void attach(Socket& socket) noexcept { socket_ = &socket; }  // which outlives it
  void record(PcapStream& stream) noexcept { recorded_ = &stream; }

  // --- Before the handshake, of a server
  [[nodiscard]] bool may_be_plain() const noexcept { return part_ == Part::kServerIfAsked && !greeted_; }
  // Nothing while no octet has come. Takes none.
  [[nodiscard]] std::optional<bool> looks_plain() noexcept;

  // --- As Socket has them
  [[nodiscard]] IoResult read(MutableBytes first, MutableBytes second) noexcept;
  [[nodiscard]] IoResult write(std::span<const Bytes> pieces) noexcept;
  // The records that wait here. kMoved: none is left.
  [[nodiscard]] IoResult flush() noexcept;
  void close_write() noexcept;  // close_notify after what was written

  // --- Queries
  [[nodiscard]] bool is_secured() const noexcept { return secured_; }  // the handshake is over
  [[nodiscard]] bool is_resumed() const noexcept;
  [[nodiscard]] bool holds() const noexcept { return held_; }
  // Returns whether the last octets that arrived are a part of a record.
  [[nodiscard]] bool is_inside_record() const noexcept { return inbound_.taken != inbound_.announced; }
  [[nodiscard]] bool has_output() const noexcept { return !unsent_.empty() || (part_ == Part::kClient && !begun_); }
  void only_inside(bool on) noexcept { only_inside_ = on; }  // reads leave the socket alone
  // Returns why TLS has ended; nothing while it has not, or where the socket was the reason.
  [[nodiscard]] std::error_code failure() const noexcept;
  [[nodiscard]] PeerIdentity identity() const;

 private:
  struct Free {
    void operator()(ssl_st* ssl) const noexcept;
  };

  // session.cpp
  [[nodiscard]] bool greet() noexcept;
  [[nodiscard]] IoResult shake_hands() noexcept;
  [[nodiscard]] bool nothing_came() noexcept;
  [[nodiscard]] bool holds_records() const noexcept;
  [[nodiscard]] IoResult stopped(std::size_t octets) noexcept;
  [[nodiscard]] IoResult end_of_session() noexcept;
  [[nodiscard]] std::error_code reason_of_failure() const noexcept;
  void encrypt(Bytes record) noexcept;

  // session_bio.cpp: what OpenSSL asks of the socket
  void show(Bytes records, bool sent) noexcept;
  [[nodiscard]] IoResult read_wire(MutableBytes first, MutableBytes second = {}) noexcept;
  [[nodiscard]] IoResult read_ahead(MutableBytes place) noexcept;
  [[nodiscard]] int hand_over(Bytes octets) noexcept;
  void see_record(std::uint8_t type, std::size_t length) noexcept;
  [[nodiscard]] IoResult write_wire(Bytes records) noexcept;
  static bio_method_st* method() noexcept;
  static int read_socket(bio_st* bio, char* into, int octets) noexcept;
  static int write_socket(bio_st* bio, const char* from, int octets) noexcept;
  static long control(bio_st* bio, int what, long number, void* pointer) noexcept;
  static void see_message(int sent, int version, int type, const void* message, std::size_t octets, ssl_st* ssl,
                          void* session) noexcept;
  [[nodiscard]] bool is_flooded() const noexcept;
  [[nodiscard]] bool is_hello_too_long(Bytes record) noexcept;
  [[nodiscard]] int take(Bytes record) noexcept;
  [[nodiscard]] bool keep(Bytes record) noexcept;

  const std::shared_ptr<const Context> context_;
  const Part part_;
  Socket* socket_ = nullptr;
  PcapStream* recorded_ = nullptr;  // null: what crosses the wire is not captured
  std::unique_ptr<ssl_st, Free> ssl_;

  bool begun_ = false;                    // the handshake
  bool greeted_ = false;                  // a server has seen that the peer's first octet is TLS
  bool secured_ = false;                  // the handshake is over
  bool only_inside_ = false;              // only what is held is read
  bool held_ = false;                     // octets, or the end, that the socket does not show
  std::size_t corked_ = 0;                // what the records take that are gathered for one send(); 0: none are
  struct Inbound {                        // what the socket said, and the peer
    bool blocked = false;                 // at OpenSSL's last look
    bool drained = false;                 // the last look brought less than it might: there is no more for now
    bool ended = false;                   // FIN
    bool foreign = false;                 // the first octet is no TLS
    bool begun = false;                   // there was a first octet
    std::uint64_t taken = 0;              // octets of records that OpenSSL has read
    std::uint64_t announced = 0;          // octets of the records whose headers it has seen
    bool too_long = false;                // a ClientHello is
    bool inside = false;                  // a handshake message is not complete
    bool begins = false;                  // the next octets begin a handshake message
    std::size_t heads = 0;                // octets of that
    std::array<std::byte, 4> head{};      // type and length (RFC 8446 section 4)
    std::optional<IoResult> told{};       // an end that OpenSSL has not heard of
    std::optional<std::uint8_t> alert{};  // the last one; 0 is close_notify
    std::error_code lost{};
    void look_again() noexcept { blocked = drained = false; }
  } inbound_;
  ReadAhead ahead_{};
  std::optional<IoResult> end_;  // of reading
  std::error_code lost_out_{};   // of writing
  std::vector<std::byte> unsent_;
  std::size_t owed_ = 0;        // octets in clear that unsent_ holds and write() has not told
  std::uint64_t received_ = 0;  // octets in clear
  std::uint64_t messages_ = 0;  // of TLS itself, after the handshake
};

}  // namespace weft::transport::tls
