// SPDX-License-Identifier: Apache-2.0
// What one connection wants of the protocol. Set it on a ConnectionId before connect, or on a listener before listen.
#pragma once

#include <chrono>
#include <cstdint>
#include <string>

#include "mpa/policy.hpp"
#include "verbs/access_list.hpp"

namespace weft::verbs {

// Kinds of ready-to-receive indication: send, write, read (RFC 6581 section 9).
using RtrTypes = mpa::RtrTypes;

// What happens to a Send that finds no posted receive (RFC 5041 section 7.1 leaves both open).
enum class NoReceive : std::uint8_t {
  kStall,      // stop reading that stream until one is posted, for at most no_receive_timeout
  kTerminate,  // end the stream at once
};

// Whether connections go through TLS 1.3, which lies between TCP and MPA: both ends have to agree.
enum class Tls : std::uint8_t {
  kOff,      // plain MPA, as the RFCs have it
  kAccept,   // a listener serves peers with TLS and peers without; an end that connects does so without
  kRequire,  // no connection without
};

// What a capture file (set_capture_file) has of a connection with TLS.
enum class PcapShows : std::uint8_t {
  kEngine,  // what MPA says, in clear
  kWire,    // TLS's records, as they cross the wire
};

inline constexpr std::chrono::milliseconds kMaxTimeout = std::chrono::days(24);  // as far as the kernel's integers go

// What one connection wants. ConnectionId::set_policy refuses what contradicts itself. Time-outs are between 1 ms and
// kMaxTimeout; what is 0 by default may be 0.
struct Policy {
  std::uint8_t mpa_revision = 2;        // 1 or 2; for a listener the highest that it accepts
  bool fall_back_to_revision_1 = true;  // initiator: on a new TCP connection, when the peer does not know revision 2
  bool crc = true;                      // ask for CRCs; they are used all the same when the peer asks
  bool markers = false;                 // ask the peer for Markers
  bool enhanced = true;                 // exchange IRD and ORD (RFC 6581)
  // Initiator: ready-to-receive handshake, so that the responder may send first (RFC 6581 section 9.2). Off, as in the
  // MPA of RFC 5044, with which every peer agrees, and as in Linux siw: it costs a message, a peer may refuse it, and
  // clients speak first anyway. Without it a responder's work waits for the initiator's first message (MPA-7.1.2-17):
  // set it when the responder's application speaks first. A responder follows its peer. Needs enhanced and revision 2.
  bool peer_to_peer = false;
  RtrTypes rtr{false, true, true};  // kinds of ready-to-receive to offer or accept: {send, write, read}.
                                    // None: a responder then rejects peers that ask for it
  // FPDU size: 0 takes what the path's segment size gives, else a smaller limit, 128 to 64768 (MPA-4.5-08, MPA-3-05)
  std::uint32_t max_ulpdu = 0;
  // Copies to and from registered memory are the kernel's (process_vm_writev). Memory that the program has unmapped
  // before it deregistered it then ends the connection that uses it, with a Terminate or a completion in error, instead
  // of the process. A system call for each piece; no early placement.
  bool checked_memory = false;
  NoReceive no_receive = NoReceive::kStall;  // what a Send without a receive does
  // Payload of long Sends and Read Responses is read from the socket straight to its place and verified there, which
  // spares a copy. A program that writes to a buffer while a receive or an RDMA Read waits in it, which it must not,
  // then ends its connection with a CRC error; with false it spoils its data only. What a peer writes is always
  // verified first (RFC 5044 section 6).
  bool early_placement = true;
  std::chrono::milliseconds connect_timeout{10000};  // TCP connection
  // Initiator: for this time after the first try a connect that is refused is tried again, for programs announce their
  // port and listen a moment later. A peer whose refusal takes longer to come is asked once. 0: always once.
  std::chrono::milliseconds connect_retry{100};
  // MPA start-up, after TCP is connected; of a listener's peers less when there are many of them (ConnectionId::listen)
  std::chrono::milliseconds startup_timeout{10000};
  // Listener: connections of one remote address (of IPv6 one prefix of 64 bits) whose MPA Request is not complete; for
  // one more the oldest of these is reset. 0: no such bound, and a fair share of the places when all are taken: many
  // clients may share an address (a job on one host, NAT).
  std::uint32_t half_open_per_peer = 0;
  // Listener: the addresses from which connections may come. Others are reset before an octet of them is read.
  AccessList access{};
  // Listener: new TCP connections of one remote address (of IPv6 one prefix of 64 bits) in a second, and as many at
  // once; what comes faster is reset. Up to 1,000,000. 0: no bound, for a job on one host, or behind one NAT, connects
  // as fast as it can.
  std::uint32_t connect_rate_per_peer = 0;
  // Listener: connections that have asked and have not ended: of one remote address (as above), of this listener, and of
  // all listeners of the process together, whatever their policy is. One more is reset at accept, or rejected when
  // its Request comes. 0: no bound, for each was accepted by the program, and takes a queue pair (DeviceLimits::max_qp)
  // and a descriptor (RLIMIT_NOFILE).
  std::uint32_t connections_per_peer = 0;
  std::uint32_t connections_per_listener = 0;  // as connections_per_peer says
  std::uint32_t connections_per_process = 0;   // as connections_per_peer says
  // Of an established connection, for what its peer keeps waiting; 0: no bound. From the first octet of an FPDU to its
  // last one: then a Terminate. A peer sends an FPDU as a whole, so only a network or a host that stands still takes long.
  std::chrono::milliseconds fpdu_timeout{60000};
  // Without an octet in either direction: then as disconnect(). None by default: to keep a connection for later is no
  // fault, and keepalive finds peers that are gone.
  std::chrono::milliseconds idle_timeout{0};
  // Since the peer, or the kernel for it, took an octet, while some wait: then it is reset. None by default: a peer whose
  // program is busy takes nothing, for as long as its own no_receive_timeout says or longer.
  std::chrono::milliseconds window_timeout{0};
  // A stream that waits for longer, for a receive, for the peer's window or for its answers, is told by
  // AsyncEventType::kStreamStalled. 0: none is. It has no key in the policy's text, for programs that know libibverbs
  // alone do not know the event.
  std::chrono::milliseconds tell_stalls_after{0};
  // Initiator: time between the peer's Reply and our first FPDU, the ready-to-receive message included. What is posted
  // waits; no call does. For peers that send their Reply before they listen for more, as Linux siw does: an FPDU
  // that follows at once may lie there unread until the next one.
  std::chrono::milliseconds first_fpdu_delay{0};
  std::chrono::milliseconds no_receive_timeout{30000};  // of NoReceive::kStall; then the stream ends
  std::chrono::milliseconds finish_timeout{60000};      // after disconnect: for what is posted to be sent and answered
  // For the peer's FIN after ours or after a Terminate. A peer whose window is closed by then, for it has no receive and
  // its program waits for the end, is reset: what it has not taken is lost to it.
  std::chrono::milliseconds close_timeout{5000};
  std::chrono::milliseconds user_timeout{0};  // TCP_USER_TIMEOUT: unacknowledged octets; 0 leaves the system's
  bool keepalive = true;                      // TCP keep-alive probes on idle connections
  std::uint8_t type_of_service = 0;  // IP_TOS or IPV6_TCLASS, without its two bits of ECN; 0 leaves the system's
  // TCP_CONGESTION, for what this end sends: "reno", "cubic", "dctcp" or another that the system has and lets us use;
  // empty leaves the system's.
  std::string congestion_control{};
  Tls tls = Tls::kOff;  // both ends have to agree on it
  // Files in PEM, which are read again when they change; connections that run are not touched. A listener needs a
  // certificate, and an end that connects a CA, or fingerprints in tls_expect. Where a listener has a CA, its peers have
  // to show a certificate, too.
  std::string tls_certificate{};  // ours, and behind it those up to the CA's
  std::string tls_key{};          // without a password; empty: it is in the certificate's file
  std::string tls_ca{};           // whose signature makes a peer's certificate good
  std::string tls_crl{};          // revoked certificates
  // Of a listener: OCSP's answer about its certificate, in DER, which it shows with it (RFC 8446 section 4.4.2.1).
  std::string tls_staple{};
  // Of an end that connects: a listener that shows no such answer is refused. One whose answer is wrong, old, or "revoked"
  // always is.
  bool tls_require_staple = false;
  // An end that connects again within an hour, with the ticket of an earlier connection, need not prove again who it is
  // (RFC 8446 section 2.2), unless a file has changed. At both ends, or there are no tickets.
  bool tls_resumption = true;
  // What this end takes of TLS 1.3, the best first: OpenSSL's names joined by ":". Empty: what OpenSSL takes.
  std::string tls_ciphers{};  // "TLS_AES_256_GCM_SHA384:TLS_CHACHA20_POLY1305_SHA256"
  std::string tls_groups{};   // of the key exchange: "X25519:P-256"
  // Which peers, of those: "dns:node7.example+ip:192.0.2.7+uri:spiffe://example/node7+sha256:<64 hexadecimal digits>".
  // A certificate has to bear one of the names, or be one of the fingerprints, for which no CA is needed. Empty: all that
  // the CA has signed. So for a CA that signs for others as well it has to be set.
  std::string tls_expect{};
  PcapShows pcap_shows = PcapShows::kEngine;  // of a connection without TLS both are the same
};

}  // namespace weft::verbs
