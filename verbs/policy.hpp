// SPDX-License-Identifier: Apache-2.0
/// @file
/// The policy of a connection: protocol options, timeouts, admission limits and TLS.
/// Set it on a ConnectionId before connect(), or on a listener before listen().
#pragma once

#include <chrono>
#include <cstdint>
#include <string>

#include "mpa/policy.hpp"
#include "verbs/access_list.hpp"

namespace weft::verbs {

/// Selects kinds of ready-to-receive indication: `send`, `write`, `read` (RFC 6581 section 9).
using RtrTypes = mpa::RtrTypes;

/// Selects what happens when a Send arrives and no receive is posted. RFC 5041 section 7.1 permits both.
enum class NoReceive : std::uint8_t {
  kStall,      ///< stops reading that stream until a receive is posted, at most TimeoutPolicy::no_receive
  kTerminate,  ///< ends the stream at once
};

/// Selects whether connections use TLS 1.3 between TCP and MPA. Both ends have to agree.
enum class Tls : std::uint8_t {
  kOff,      ///< plain MPA, as the RFCs specify
  kAccept,   ///< listener: serves peers with and without TLS; initiator: connects without TLS
  kRequire,  ///< refuses connections without TLS
};

/// Selects whether connections within one host, network namespace and user exchange their octets through shared memory.
enum class SameHost : std::uint8_t {
  kOff,      ///< all octets go through TCP
  kOn,       ///< through shared memory if both ends want it, otherwise through TCP
  kRequire,  ///< refuses connections that go through TCP
};

/// Selects what a capture file (set_capture_file()) contains of a connection with TLS.
enum class PcapShows : std::uint8_t {
  kEngine,  ///< the MPA octets in clear
  kWire,    ///< the TLS records as they are on the wire
};

/// Selects what happens to posted work that does not advance after ConnectionId::disconnect().
enum class Unfinished : std::uint8_t {
  kFlush,  ///< it is flushed after TimeoutPolicy::disconnect
  kAwait,  ///< it has until TimeoutPolicy::finish
};

/// The maximum of all timeouts; longer times do not fit the kernel's integers.
inline constexpr std::chrono::milliseconds kMaxTimeout = std::chrono::days(24);

/// Holds what is settled when a connection starts and stays until it ends: what MPA negotiates, how messages are
/// received and sent, and the settings of TCP.
struct StartupPolicy {
  std::uint8_t mpa_revision = 2;  ///< MPA revision to request: 1 or 2; listener: the highest revision to accept
  /// Initiator: retries on a new TCP connection with revision 1 if the peer does not support revision 2.
  bool fall_back_to_revision_1 = true;
  bool crc = true;       ///< requests CRCs; if false, CRCs are still used if the peer requests them
  bool markers = false;  ///< requests Markers from the peer
  bool enhanced = true;  ///< exchanges IRD and ORD (RFC 6581)
  /// Initiator: requests peer-to-peer mode, so that the responder may send first (RFC 6581 section 9.2).
  /// Requires `enhanced` and revision 2. A responder follows the initiator.
  /// Off by default, as in RFC 5044 and in Linux siw: it costs a message, a peer may refuse it, and in most protocols
  /// the client sends first. Without it, the responder's work waits for the initiator's first message (MPA-7.1.2-17).
  bool peer_to_peer = false;
  /// Kinds of ready-to-receive indication to offer or accept: {send, write, read}.
  /// A responder with none rejects peers that request peer-to-peer mode.
  RtrTypes rtr{false, true, true};
  /// Maximum size of a ULPDU in octets, 128 to 64768 (MPA-4.5-08, MPA-3-05). 0 selects what fits a TCP segment.
  std::uint32_t max_ulpdu = 0;
  /// Copies to and from registered memory by the kernel (process_vm_writev).
  /// If the program unmaps memory before it deregisters it, a connection that uses the memory then ends with a
  /// Terminate or a failed completion, instead of the process with a signal. Costs one system call per piece, and
  /// disables early placement.
  bool checked_memory = false;
  NoReceive no_receive = NoReceive::kStall;  ///< reaction to a Send without a posted receive
  /// Reads the payload of long Sends and Read Responses from the socket directly to its destination and verifies it
  /// there, which saves a copy.
  /// A program must not write to a buffer while a receive or an RDMA Read uses it. If it does, its connection ends with
  /// a CRC error; with false, only its data is corrupted. RDMA Writes of the peer are always verified before they are
  /// placed (RFC 5044 section 6).
  bool early_placement = true;
  std::uint8_t type_of_service = 0;  ///< IP_TOS or IPV6_TCLASS without the two ECN bits; 0: system default
  /// Moves the octets of the stream through memory that both processes share, instead of through the kernel, from the
  /// first MPA octet. TCP connects first and stays open, for the addresses, the options and the end of the connection.
  /// An initiator offers the memory to a listener on a loopback or its own address; the listener needs the same policy
  /// and user ID. A connection with TLS never uses shared memory, and neither does one beyond three quarters of the
  /// descriptors that the process may have (RLIMIT_NOFILE), because each such connection has a second descriptor.
  SameHost same_host = SameHost::kOn;
  /// TCP_CONGESTION of this end: "reno", "cubic", "dctcp" or another algorithm that the system has and permits.
  /// Empty: system default.
  std::string congestion_control{};
};

/// Holds how long a connection waits.
/// A timeout is between 1 ms and kMaxTimeout. One whose default is 0, or whose description mentions 0, may also be 0.
struct TimeoutPolicy {
  std::chrono::milliseconds connect{10000};  ///< limit for the TCP connection
  /// Initiator: how long a refused TCP connect is repeated, counted from the first attempt. 0: a single attempt.
  /// It covers programs that announce their port slightly before they listen. If the first refusal takes longer than
  /// this time to arrive, there is no second attempt.
  std::chrono::milliseconds connect_retry{100};
  /// Limit for the MPA startup, after TCP has connected. Shorter for a listener's peers when there are many of them:
  /// see ConnectionId::listen().
  std::chrono::milliseconds startup{10000};
  /// Limit from the first octet of an FPDU to its last one. Beyond it, the stream ends with a Terminate. 0: no limit.
  /// A peer sends an FPDU as a whole, so only a stalled network or host takes long.
  std::chrono::milliseconds fpdu{60000};
  /// Limit without an octet in either direction. Beyond it, the connection closes as by ConnectionId::disconnect().
  /// 0: no limit, because an idle connection is not an error, and keepalive detects peers that have gone.
  std::chrono::milliseconds idle{0};
  /// Limit without progress while octets wait to be sent: neither the peer's window nor the kernel's send buffer takes
  /// one. Beyond it, the connection is reset. 0: no limit, because a peer whose program is busy may accept nothing for
  /// as long as its own TimeoutPolicy::no_receive, or longer.
  std::chrono::milliseconds window{0};
  /// Time after which a stalled stream raises AsyncEventType::kStreamStalled. 0: no such event.
  /// A stream stalls while it waits for a receive, for the peer's window or for the peer's responses.
  /// It has no text key: programs that know only libibverbs do not know the event.
  std::chrono::milliseconds tell_stalls_after{0};
  /// Initiator: delay between the peer's Reply and the first FPDU, including the ready-to-receive message.
  /// Posted work waits, but no call does. For peers that send their Reply before they are ready to read, such as Linux
  /// siw: they may leave an FPDU that follows at once unread until the next one arrives.
  std::chrono::milliseconds first_fpdu_delay{0};
  std::chrono::milliseconds no_receive{30000};  ///< limit of NoReceive::kStall, after which the stream ends
  /// Limit after ConnectionId::disconnect() for posted work to be sent and answered.
  std::chrono::milliseconds finish{60000};
  /// Limit after ConnectionId::disconnect() during which the peer neither sends nor acknowledges an octet; at least
  /// four round trips. Beyond it, kDisconnected is raised. Unfinished work is flushed then, and the connection reset;
  /// with Unfinished::kAwait, unfinished work has until `finish` instead. Without unfinished work, the kernel delivers
  /// in the background what it has taken, within `close`.
  std::chrono::milliseconds disconnect{250};
  /// Limit for the peer's FIN, after this end has sent its FIN or a Terminate. Beyond it, the connection is reset.
  /// A peer whose window is still closed then, because its program posts no receive, loses the octets that it has not
  /// accepted.
  std::chrono::milliseconds close{5000};
  /// Time from the end of a connection to ConnectionEventType::kTimewaitExit. 0: no such event.
  /// It has no text key: the drop-in library always raises the event, after 2 s.
  std::chrono::milliseconds timewait{0};
  std::chrono::milliseconds user{0};  ///< TCP_USER_TIMEOUT: limit for unacknowledged octets; 0: system default
  bool keepalive = true;              ///< enables TCP keep-alive probes on idle connections
};

/// Limits which peers may connect to a listener, and how many. An initiator ignores it.
struct AdmissionPolicy {
  /// Listener: maximum of connections from one remote address (IPv6: one 64-bit prefix) whose MPA Request is
  /// incomplete.
  /// Beyond it, each new connection resets the oldest of them. 0: no maximum, but a fair share when the listener's
  /// limit is reached, because many clients may share an address (jobs on one host, NAT).
  std::uint32_t half_open_per_peer = 0;
  /// Listener: addresses from which connections are accepted. Others are reset before any octet is read.
  AccessList access{};
  /// Listener: maximum rate of new TCP connections from one remote address (IPv6: one 64-bit prefix), per second. The
  /// same number may arrive at once. Connections beyond it are reset. At most 1,000,000.
  /// 0: no maximum, because jobs on one host, or behind one NAT, connect as fast as they can.
  std::uint32_t connect_rate_per_peer = 0;
  /// Listener: maximum of requests and established connections from one remote address (IPv6: one 64-bit prefix).
  /// Connections beyond it are reset at accept, or rejected when their MPA Request arrives. 0: no maximum, because the
  /// program accepts each connection, and each needs a queue pair (DeviceLimits::max_qp) and a descriptor
  /// (RLIMIT_NOFILE).
  std::uint32_t connections_per_peer = 0;
  std::uint32_t connections_per_listener = 0;  ///< as connections_per_peer, from all addresses together
  /// As connections_per_listener, but counts the connections of all listeners of the process, whatever their policy is.
  std::uint32_t connections_per_process = 0;
};

/// Holds whether and how a connection uses TLS.
/// Files are in PEM format, unless noted otherwise. They are read again when they change; existing connections are not
/// affected.
struct TlsPolicy {
  Tls mode = Tls::kOff;       ///< use of TLS; both ends have to agree
  std::string certificate{};  ///< certificate chain of this end, its own certificate first; required for a listener
  std::string key{};          ///< private key without a password; empty: in the file of the certificate
  /// Certificates of the CAs that sign for peers. An initiator needs this or fingerprints in `expect`.
  /// If a listener has it, its peers have to present a certificate.
  std::string ca{};
  std::string crl{};  ///< certificates that the CA has revoked
  /// Listener: OCSP response for its certificate, in DER, presented with the certificate (RFC 8446 section 4.4.2.1).
  std::string staple{};
  /// Initiator: refuses a listener that presents no OCSP response.
  /// A response that is invalid, outdated, or "revoked" is always refused.
  bool require_staple = false;
  /// Lets an initiator reconnect within an hour with a ticket of an earlier connection instead of the certificates (RFC
  /// 8446 section 2.2), unless a file has changed. Tickets are used only if both ends enable it.
  bool resumption = true;
  /// Cipher suites of TLS 1.3 in order of preference, as OpenSSL's names joined by ":". Empty: OpenSSL's default.
  /// Example: "TLS_AES_256_GCM_SHA384:TLS_CHACHA20_POLY1305_SHA256".
  std::string ciphers{};
  std::string groups{};  ///< groups of the key exchange, in the same form: "X25519:P-256"
  /// Peers to accept: "dns:node7.example+ip:192.0.2.7+uri:spiffe://example/node7+sha256:DIGITS".
  /// A certificate has to contain one of the names, or match one of the fingerprints (64 hexadecimal digits), which
  /// need no CA. Empty: every peer with a certificate that the CA signed; so set it if the CA also signs for others.
  std::string expect{};
  /// Content of a capture. Without TLS, both values are equivalent.
  PcapShows pcap_shows = PcapShows::kEngine;
};

/// Holds the settings of one connection, or of all connections of a listener.
/// ConnectionId::set_policy() rejects settings that contradict each other.
struct Policy {
  StartupPolicy startup{};      ///< what is settled when the connection starts
  TimeoutPolicy timeouts{};     ///< how long the connection waits
  AdmissionPolicy admission{};  ///< which peers a listener accepts, and how many connections
  TlsPolicy tls{};              ///< whether and how the connection uses TLS
};

}  // namespace weft::verbs
