// SPDX-License-Identifier: Apache-2.0
#include "verbs/base/policy_table.hpp"

#include <algorithm>
#include <array>
#include <source_location>

#include "mpa/mulpdu.hpp"
#include "verbs/base/policy_kinds.hpp"

namespace weft::verbs::detail {

namespace {

constexpr std::int64_t kLongest = kMaxTimeout.count();
constexpr PolicyWord kOnOff[] = {{"on", 1}, {"off", 0}};
constexpr PolicyWord kOneTwo[] = {{"1", 1}, {"2", 2}};
constexpr PolicyWord kNoReceiveWords[] = {{"stall", to_number(NoReceive::kStall)},
                                          {"terminate", to_number(NoReceive::kTerminate)}};
constexpr PolicyWord kTlsWords[] = {
    {"off", to_number(Tls::kOff)}, {"accept", to_number(Tls::kAccept)}, {"require", to_number(Tls::kRequire)}};
constexpr PolicyWord kPcapWords[] = {{"engine", to_number(PcapShows::kEngine)}, {"wire", to_number(PcapShows::kWire)}};

constexpr PolicyWord kSameHostWords[] = {
    {"off", to_number(SameHost::kOff)}, {"on", to_number(SameHost::kOn)}, {"require", to_number(SameHost::kRequire)}};

constexpr PolicyKind kSwitch{.values = "on or off", .words = kOnOff};
constexpr PolicyKind kTime{"a time such as 500ms or 10s", "not between 1 ms and 24 days", 1, kLongest, false, true};
constexpr PolicyKind kTimeOrNone{
    "0, or a time such as 500ms or 10s", "neither 0 nor between 1 ms and 24 days", 0, kLongest, true, true};
constexpr PolicyKind kNumberOrNone{.values = "0, or a number"};
constexpr PolicyKind kConnectRate{"0, or a number up to 1000000", "more than 1000000", 0, 1'000'000};
constexpr PolicyKind kUlpdu{"0, or 128 to 64768", "neither 0 nor between 128 and 64768", mpa::kMinMulpdu,
                            mpa::kMaxUlpdu, true};
constexpr PolicyKind kOctet{.values = "0 to 255"};
constexpr PolicyKind kRevision{.values = "1 or 2", .outside = "neither 1 nor 2", .words = kOneTwo};
constexpr PolicyKind kNoReceive{
    .values = "stall or terminate", .outside = "neither kStall nor kTerminate", .words = kNoReceiveWords};
constexpr PolicyKind kTls{
    .values = "off, accept or require", .outside = "neither kOff nor kAccept nor kRequire", .words = kTlsWords};
constexpr PolicyKind kPcapShows{
    .values = "engine or wire", .outside = "neither kEngine nor kWire", .words = kPcapWords};
constexpr PolicyKind kSameHost{
    .values = "off, on or require", .outside = "neither kOff nor kOn nor kRequire", .words = kSameHostWords};
constexpr PolicyKind kAlgorithm{.values = "system, or a name such as reno, cubic or dctcp", .empty = "system"};
constexpr PolicyKind kPemFile{.values = "none, or a PEM file", .names_file = true};
constexpr PolicyKind kDerFile{.values = "none, or a DER file", .names_file = true};
constexpr PolicyKind kOpensslNames{.values = "none, or OpenSSL names joined by :"};
constexpr PolicyKind kPeerNames{.values =
                                    "none, or some of dns:NAME, ip:ADDRESS, uri:URI and sha256:DIGITS joined by +"};
constexpr PolicyKind kRtr{.values = "none, or some of send, write and read joined by +"};
constexpr PolicyKind kAllow{
    .values = "all, none, or addresses and prefixes such as 10.0.0.0/8 and 2001:db8::/32 joined by +", .empty = "all"};
constexpr PolicyKind kDeny{.values =
                               "none, or addresses and prefixes such as 10.0.0.0/8 and 2001:db8::/32 joined by +"};

constexpr auto part_of(auto StartupPolicy::*) { return &Policy::startup; }
constexpr auto part_of(auto TimeoutPolicy::*) { return &Policy::timeouts; }
constexpr auto part_of(auto AdmissionPolicy::*) { return &Policy::admission; }
constexpr auto part_of(auto TlsPolicy::*) { return &Policy::tls; }

// The name of a member, as the compiler knows it: "... kMember = &weft::verbs::TimeoutPolicy::connect; ...".
template <auto kMember>
consteval std::string_view member_name() {
  std::string_view text = std::source_location::current().function_name();
  text.remove_prefix(text.find("kMember = "));
  text = text.substr(0, text.find_first_of(";,]"));
  return text.substr(text.rfind(':') + 1);
}

// "policy.timeouts.connect".
template <auto kMember>
constexpr auto kArgument = [] {
  constexpr std::string_view kPieces[] = {"policy.", member_name<part_of(kMember)>(), ".", member_name<kMember>()};
  std::array<char, kPieces[0].size() + kPieces[1].size() + kPieces[2].size() + kPieces[3].size()> name{};
  auto end = name.begin();
  for (const std::string_view piece : kPieces) end = std::ranges::copy(piece, end).out;
  return name;
}();

template <auto kMember>
constexpr auto& member_of(auto& policy) {
  return (policy.*part_of(kMember)).*kMember;
}

template <auto kMember, const PolicyKind& kKind>
constexpr PolicyRow row(std::string_view name = {}, std::string_view meaning = {}) {
  return {.key = {.name = name,
                  .values = kKind.values,
                  .meaning = meaning,
                  .names_file = kKind.names_file,
                  .text = [](const Policy& policy) { return to_text(kKind, member_of<kMember>(policy)); }},
          .argument = {kArgument<kMember>.data(), kArgument<kMember>.size()},
          .set = [](Policy& policy, std::string_view text) { return set(kKind, member_of<kMember>(policy), text); },
          .refusal = [](const Policy& policy) { return refusal_of(kKind, member_of<kMember>(policy)); }};
}

constexpr PolicyRow kRows[] = {
    row<&StartupPolicy::mpa_revision, kRevision>(
        "mpa-rev", "MPA revision to request; for a listener, the highest revision to accept"),
    row<&StartupPolicy::fall_back_to_revision_1, kSwitch>(
        "fallback", "Retry with revision 1 if the peer does not support revision 2"),
    row<&StartupPolicy::crc, kSwitch>("crc", "Request CRCs; they are also used if the peer requests them"),
    row<&StartupPolicy::markers, kSwitch>("markers", "Request Markers from the peer"),
    row<&StartupPolicy::enhanced, kSwitch>("enhanced", "Exchange IRD and ORD (RFC 6581)"),
    row<&StartupPolicy::peer_to_peer, kSwitch>(
        "peer-to-peer", "Request the ready-to-receive handshake, so that the accepting end may send first"),
    row<&StartupPolicy::rtr, kRtr>("rtr", "Ready-to-receive types to offer or accept"),
    row<&StartupPolicy::max_ulpdu, kUlpdu>("max-ulpdu",
                                           "Maximum size of a ULPDU in octets; 0: what fits a TCP segment"),
    row<&StartupPolicy::early_placement, kSwitch>(
        "early-placement", "Read long Sends and Read Responses directly into their buffers and verify them there"),
    row<&StartupPolicy::checked_memory, kSwitch>(
        "checked-memory",
        "Copy registered memory through the kernel: access to unmapped memory ends its connection, not the process"),
    row<&StartupPolicy::same_host, kSameHost>(
        "same-host", "Move octets through shared memory if the peer is on this host and has the same user"),
    row<&StartupPolicy::no_receive, kNoReceive>("no-receive",
                                                "Reaction to a Send that arrives when no receive is posted"),
    row<&TimeoutPolicy::connect, kTime>("connect-timeout", "Limit for establishing the TCP connection"),
    row<&TimeoutPolicy::connect_retry, kTimeOrNone>("connect-retry",
                                                    "How long to retry a refused connection, after 1, 2, 4, 8 and 16 "
                                                    "ms; distant peers are tried once; 0: no retry"),
    row<&TimeoutPolicy::startup, kTime>("startup-timeout", "Limit for the MPA startup, after TCP has connected"),
    row<&AdmissionPolicy::half_open_per_peer, kNumberOrNone>(
        "half-open-per-peer",
        "Listener: maximum number of connections from one address without a complete MPA Request; 0: a fair share"),
    row<&AdmissionPolicy::access, kAllow>(
        "allow", "Listener: addresses that may connect; the longest matching prefix of allow and deny decides"),
    row<&AdmissionPolicy::access, kDeny>("deny",
                                         "Listener: addresses that may not connect; with allow=all, all others may"),
    row<&AdmissionPolicy::connect_rate_per_peer, kConnectRate>(
        "connect-rate-per-peer",
        "Listener: maximum new connections per second from one address, also the maximum burst; 0: no limit"),
    row<&AdmissionPolicy::connections_per_peer, kNumberOrNone>(
        "connections-per-peer",
        "Listener: maximum number of requests and established connections from one address; 0: no limit"),
    row<&AdmissionPolicy::connections_per_listener, kNumberOrNone>("connections-per-listener",
                                                                   "The same for all addresses together"),
    row<&AdmissionPolicy::connections_per_process, kNumberOrNone>("connections-per-process",
                                                                  "The same for all listeners of the process together"),
    row<&TimeoutPolicy::fpdu, kTimeOrNone>("fpdu-timeout",
                                           "Limit from the first octet of an incoming FPDU to its last; 0: no limit"),
    row<&TimeoutPolicy::idle, kTimeOrNone>("idle-timeout",
                                           "How long a connection may be idle before it is closed; 0: no limit"),
    row<&TimeoutPolicy::window, kTimeOrNone>("window-timeout",
                                             "How long octets may wait while the peer accepts none; 0: no limit"),
    row<&TimeoutPolicy::tell_stalls_after, kTimeOrNone>(),
    row<&TimeoutPolicy::first_fpdu_delay, kTimeOrNone>(
        "first-fpdu-delay",
        "Delay from the peer's Reply to the first FPDU, for peers that are not ready at once, such as Linux siw"),
    row<&TimeoutPolicy::no_receive, kTime>("no-receive-timeout",
                                           "How long a stream may stall without a posted receive before it ends"),
    row<&TimeoutPolicy::finish, kTime>("finish-timeout",
                                       "Limit after a disconnect for posted work to be sent and answered"),
    row<&TimeoutPolicy::disconnect, kTime>("disconnect-timeout",
                                           "Limit after a disconnect without an octet in either direction, at least "
                                           "four round trips; then posted work is flushed"),
    row<&TimeoutPolicy::close, kTime>(
        "close-timeout",
        "Limit for the peer's FIN after this end's FIN, and for closing a connection whose queue pair was destroyed"),
    row<&TimeoutPolicy::timewait, kTimeOrNone>(),
    row<&TimeoutPolicy::user, kTimeOrNone>(
        "user-timeout", "Limit for octets that the peer's TCP does not acknowledge; 0: system default"),
    row<&TimeoutPolicy::keepalive, kSwitch>("keepalive", "Send TCP keep-alive probes on idle connections"),
    row<&StartupPolicy::type_of_service, kOctet>("type-of-service",
                                                 "IP type of service or traffic class; 0: system default"),
    row<&StartupPolicy::congestion_control, kAlgorithm>("congestion-control",
                                                        "TCP congestion control algorithm of this end"),
    row<&TlsPolicy::mode, kTls>(
        "tls",
        "TLS 1.3 under MPA; accept: a listener serves peers with and without TLS, an initiator connects without"),
    row<&TlsPolicy::certificate, kPemFile>("tls-certificate",
                                           "Certificate chain of this end, its own certificate first"),
    row<&TlsPolicy::key, kPemFile>("tls-key",
                                   "Private key of that certificate; none if it is in the certificate's file"),
    row<&TlsPolicy::ca, kPemFile>(
        "tls-ca",
        "Certificates of the CAs that sign for peers; with it, a listener requires a certificate from its peers"),
    row<&TlsPolicy::crl, kPemFile>("tls-crl", "Certificates that the CA has revoked"),
    row<&TlsPolicy::staple, kDerFile>("tls-staple", "OCSP response that a listener presents with its certificate"),
    row<&TlsPolicy::require_staple, kSwitch>("tls-require-staple", "Refuse a listener that presents no OCSP response"),
    row<&TlsPolicy::resumption, kSwitch>("tls-resumption",
                                         "Reconnect within an hour with a ticket instead of certificates"),
    row<&TlsPolicy::ciphers, kOpensslNames>("tls-ciphers", "TLS 1.3 cipher suites in order of preference"),
    row<&TlsPolicy::groups, kOpensslNames>("tls-groups", "Key exchange groups in order of preference"),
    row<&TlsPolicy::expect, kPeerNames>(
        "tls-expect", "A peer's certificate must contain one of these names or match one of these fingerprints"),
    row<&TlsPolicy::pcap_shows, kPcapShows>(
        "pcap-shows", "What a capture of a TLS connection contains: MPA in plaintext, or TLS records")};

constexpr auto kKeys = [] {
  constexpr auto kHasName = [](const PolicyRow& one) { return !one.key.name.empty(); };
  std::array<PolicyKey, std::ranges::count_if(kRows, kHasName)> keys{};
  auto end = keys.begin();
  for (const PolicyRow& one : kRows)
    if (kHasName(one)) *end++ = one.key;
  return keys;
}();

}  // namespace

std::span<const PolicyRow> policy_rows() noexcept { return kRows; }

}  // namespace weft::verbs::detail

namespace weft::verbs {

std::span<const PolicyKey> policy_keys() noexcept { return detail::kKeys; }

}  // namespace weft::verbs
