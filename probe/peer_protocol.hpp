// SPDX-License-Identifier: Apache-2.0
// The protocol of `weft probe` and `weft probe-peer`: the private data of the MPA startup, the commands that the prober
// sends, and the report that it reads. All fields are big-endian. docs/probe-profiles.md has tables of it.
//
// A *session* is one protection domain with its regions, receives and report. It outlives its connections: when a case
// has broken one, the prober joins the session with another connection and checks what the first one did.
#pragma once

#include <array>
#include <cstdint>
#include <optional>
#include <vector>

#include "common/wire.hpp"
#include "ddp/header.hpp"

namespace weft::probe {

inline constexpr std::array<char, 8> kPeerMagic{'w', 'e', 'f', 't', 'p', 'r', 'b', '1'};

// What the prober asks of the peer. In its Request it is for this connection; in its Reply it is for the next
// connection of the process that connects, since that one's queue pair was made before.
struct Wish {
  enum Flag : std::uint16_t {
    kSharedReceives = 1,  // the connection takes its receives from the session's shared queue
    kOtherDomain = 2,     // its queue pair belongs to the session's second protection domain
    kRejectMe = 4,        // answered by a rejecting Reply
    kEndWhenDone = 8,     // probe-peer ends when this connection ends; for tests
    kSolicitedOnly = 16,  // the peer looks at this connection's receives on Solicited Events alone (contract 1)
  };
  std::uint32_t session{};  // to join; 0: a new one
  std::uint16_t flags{};
  std::uint16_t receives = 16;        // posted at first, and again as they complete; 0: none, until an order posts some
  std::uint16_t receive_size = 1024;  // octets of each, at most 4096
  std::uint16_t ird = 0xFFFF;         // 0xFFFF: what the peer likes
  std::uint16_t ord = 0xFFFF;
  bool operator==(const Wish&) const = default;
};
// magic 8 | session 4 | flags 2 | receives 2 | receive_size 2 | ird 2 | ord 2
inline constexpr std::size_t kWishSize = 22;

// A region that the peer offers.
struct Region {
  enum Right : std::uint8_t { kRead = 1, kWrite = 2, kAtomic = 4 };  // of remote access
  enum Kind : std::uint8_t {
    kPlain = 0,
    kForeign = 1,     // of the other protection domain of the session
    kThisStream = 2,  // valid on this connection alone (SEC-2.2.5-02), and open to Send with Invalidate
    // A window of type 2, bound on this connection to the middle of a region that has all rights, before the peer
    // answers the first order.
    kWindow = 3,
    kRevoked = 4,      // it was valid and is so no more
    kOdd = 5,          // its first octet and its length are odd
    kTop = 6,          // its tagged offsets end close below 2^64
    kReceives = 7,     // the receive buffers of this connection, readable; buffer n begins at n times receive_size
    kReport = 8,       // the report, readable
    kOtherStream = 9,  // as kThisStream, of another connection that the peer keeps open
  };
  ddp::Stag stag{};
  ddp::TaggedOffset offset{};  // of its first octet
  std::uint32_t length{};      // octets
  std::uint8_t rights{};
  std::uint8_t kind{};
  bool operator==(const Region&) const = default;
};

// What the peer tells in its Reply, or in its Request when it connects.
// magic 8 | session 4 | connection 4 | receives 2 | receive_size 2 | ird 2 | ord 2 | count 1 | contract 1 | count
// times: stag 4 | offset 8 | length 4 | rights 1 | kind 1
struct Advert {
  std::uint32_t session{};     // never 0
  std::uint32_t connection{};  // of this process, from 1
  std::uint16_t receives{};
  std::uint16_t receive_size{};
  std::uint16_t ird{};  // as it was when the advert was written
  std::uint16_t ord{};
  std::uint8_t contract{};        // which version of this protocol the peer has: 0, or kContract
  std::vector<Region> regions{};  // at most kMostRegions
  bool operator==(const Advert&) const = default;
};
// Version 1 has Wish::kSolicitedOnly. A prober takes peers of each version: what they lack does not apply to them.
inline constexpr std::uint8_t kContract = 1;
inline constexpr std::size_t kAdvertSize = 26;
inline constexpr std::size_t kRegionSize = 18;
inline constexpr std::size_t kMostRegions = 26;  // of 508 octets of private data

// The prober's Send to the peer. A Send that begins otherwise is only counted.
// magic 8 | operation 1 | flags 1 | count 2 | length 4 | stag 4 | offset 8 | first 8 | second 8
struct Order {
  enum Operation : std::uint8_t {
    kReport = 0,  // answer with a Send that carries the report, all completions up to now in it
    kSend = 1,    // the peer as requester: `count` times, `length` octets each
    kSendSolicited = 2,
    kSendInvalidate = 3,  // of `stag`, which is the prober's
    kSendSolicitedInvalidate = 4,
    kWrite = 5,      // to the prober's `stag` and `offset`
    kRead = 6,       // from there
    kFetchAdd = 7,   // of `first` there, with mask `second`
    kCmpSwap = 8,    // `first` is compared, `second` swapped
    kImmediate = 9,  // the data is `first`
    kImmediateSolicited = 10,
    kPostReceives = 11,  // `count` more
    kRevoke = 12,        // deregister the peer's own region `stag`
    kDisconnect = 13,    // gracefully
    kFill = 14,          // every octet of the region `stag` becomes the low octet of `first`
  };
  enum Flag : std::uint8_t {
    kAnswer = 1,
    kFence = 2
  };  // kAnswer: a Send with the report when the work is done; else nothing
  std::uint8_t operation{};
  std::uint8_t flags{};
  std::uint16_t count = 1;
  std::uint32_t length{};
  ddp::Stag stag{};
  ddp::TaggedOffset offset{};
  std::uint64_t first{};
  std::uint64_t second{};
  bool operator==(const Order&) const = default;
};
inline constexpr std::size_t kOrderSize = 44;

// What has happened to the connections of a session. 32-bit numbers in this order.
struct PeerReport {
  std::uint32_t connections{};  // made up to now
  std::uint32_t connections_ended{};
  std::uint32_t receives_done{};    // completed with success
  std::uint32_t receives_failed{};  // flushed, or with an error
  std::uint32_t last_length{};      // of the last one with success
  std::uint32_t last_opcode{};  // RDMAP's, as far as a completion tells: 3 Send, 4 with Invalidate, 8 Immediate Data
  std::uint32_t last_invalidated{};  // STag
  std::uint32_t last_immediate_high{};
  std::uint32_t last_immediate_low{};
  std::uint32_t last_sum{};       // CRC32C of the octets of the last receive
  std::uint32_t requests_done{};  // of the orders, completed with success
  std::uint32_t requests_failed{};
  std::uint32_t last_failure{};        // verbs::WcStatus of the last one that failed, receives included
  std::uint32_t terminate_sent{};      // 0x01LLTTCC: layer, type, code of the last one; 0: none
  std::uint32_t terminate_received{};  // the same
  std::uint32_t async_events{};
  bool operator==(const PeerReport&) const = default;
};
inline constexpr std::size_t kReportFields = 16;
inline constexpr std::size_t kReportSize = 4 * kReportFields;

// The octets that a region holds at first, and after a session began anew.
[[nodiscard]] constexpr std::byte first_content(const Region& region, std::size_t at) noexcept {
  return static_cast<std::byte>((at * 7 + region.kind * 31U + region.rights * 17U + 1) & 0xFFU);
}

[[nodiscard]] std::vector<std::byte> serialize(const Wish& wish);
[[nodiscard]] std::vector<std::byte> serialize(const Advert& advert);
[[nodiscard]] std::vector<std::byte> serialize(const Order& order);
[[nodiscard]] std::vector<std::byte> serialize(const PeerReport& report);
// Each: nothing when the octets are too few or begin otherwise. Octets after are ignored.
[[nodiscard]] std::optional<Wish> parse_wish(Bytes octets);
[[nodiscard]] std::optional<Advert> parse_advert(Bytes octets);
[[nodiscard]] std::optional<Order> parse_order(Bytes octets);
[[nodiscard]] std::optional<PeerReport> parse_report(Bytes octets);

}  // namespace weft::probe
