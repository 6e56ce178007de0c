// SPDX-License-Identifier: Apache-2.0
// Where the fields below iWARP are described. Those of iWARP describe themselves (mpa/, ddp/ and rdmap/text.hpp).
#include <algorithm>
#include <array>

#include "explain/model/glossary.hpp"

namespace weft::explain {
namespace {

struct NoteEntry {
  std::string_view layer{}, name{}, reference{}, sentence{};
};

constexpr std::string_view kEthernet = "IEEE 802.3", kIpv4 = "RFC 791 section 3.1", kIpv6 = "RFC 8200 section 3",
                           kTcp = "RFC 9293 section 3.1";

constexpr std::array kNotes{
    NoteEntry{"link", "Link-layer header", "tcpdump.org/linktypes",
              "What the capturing interface puts in front of the IP packet."},
    NoteEntry{"ethernet", "Destination", kEthernet, "The address of the network card that is to receive the frame."},
    NoteEntry{"ethernet", "Source", kEthernet, "The address of the network card that sent the frame."},
    NoteEntry{"ethernet", "Type", kEthernet,
              "The protocol of what the frame carries; a VLAN tag, if any, comes before it."},
    NoteEntry{"ip", "Version and IHL", kIpv4, "The version of IP, and the length of this header."},
    NoteEntry{"ip", "Type of Service", kIpv4,
              "How urgent the packet is, and whether a router on the way was congested."},
    NoteEntry{"ip", "Total Length", kIpv4, "The octets of the packet from this header on."},
    NoteEntry{"ip", "Identification", kIpv4, "Names the packet, so that its fragments can be put together again."},
    NoteEntry{"ip", "Flags and Fragment Offset", kIpv4,
              "Whether routers may cut the packet, and where a fragment belongs in it."},
    NoteEntry{"ip", "Time to Live", kIpv4,
              "How many routers may still pass the packet on; the one that counts to 0 drops it."},
    NoteEntry{"ip", "Protocol", kIpv4, "The protocol of what the packet carries: 6 is TCP."},
    NoteEntry{"ip", "Header Checksum", kIpv4,
              "Reveals damage to this header. A sender may leave it to the network card."},
    NoteEntry{"ip", "Source Address", kIpv4, "The address of the host that sent the packet."},
    NoteEntry{"ip", "Destination Address", kIpv4, "The address of the host that is to receive the packet."},
    NoteEntry{"ip", "Options", kIpv4, "Rarely used extras of IP."},
    NoteEntry{"ip", "Version, Class and Flow", kIpv6,
              "The version of IP, how urgent the packet is, and the flow that it belongs to."},
    NoteEntry{"ip", "Payload Length", kIpv6, "The octets of the packet after this header."},
    NoteEntry{"ip", "Next Header", kIpv6, "The protocol of what follows this header: 6 is TCP."},
    NoteEntry{"ip", "Hop Limit", kIpv6,
              "How many routers may still pass the packet on; the one that counts to 0 drops it."},
    NoteEntry{"ip", "IPv6 Source Address", kIpv6, "The address of the host that sent the packet."},
    NoteEntry{"ip", "IPv6 Destination Address", kIpv6, "The address of the host that is to receive the packet."},
    NoteEntry{"ip", "Extension headers", "RFC 8200 section 4",
              "Optional headers of IPv6 between its own header and TCP's."},
    NoteEntry{"tcp", "Source Port", kTcp, "Names the sender's end of the connection on its host."},
    NoteEntry{"tcp", "Destination Port", kTcp, "Names the receiver's end of the connection on its host."},
    NoteEntry{"tcp", "Sequence Number", kTcp,
              "The place of the packet's first octet in the sender's stream. TCP puts packets in order by it."},
    NoteEntry{"tcp", "Acknowledgment Number", kTcp,
              "The next octet that the sender expects; all before it have arrived."},
    NoteEntry{"tcp", "Data Offset", kTcp, "The length of TCP's header. The stream of octets goes on after it."},
    NoteEntry{"tcp", "Flags", kTcp,
              "What the packet does to the connection: SYN opens it, FIN ends one direction, RST ends both at once."},
    NoteEntry{"tcp", "Window", kTcp, "How many octets the sender of this packet has room for."},
    NoteEntry{"tcp", "Checksum", kTcp, "Reveals most damage to the packet. MPA's CRC finds what it misses."},
    NoteEntry{"tcp", "Urgent Pointer", kTcp, "Not used by iWARP: the end of urgent data, if the URG flag is set."},
    NoteEntry{"tcp", "Options", "RFC 9293 section 3.2",
              "What the ends agreed on beside the header, for example the largest packet and timestamps."},
};

}  // namespace

FieldInfo note_on(std::string_view layer, std::string_view name) noexcept {
  const auto found =
      std::ranges::find_if(kNotes, [&](const NoteEntry& entry) { return entry.layer == layer && entry.name == name; });
  if (found == kNotes.end()) return {.layer = layer, .name = name};
  return {.layer = layer, .name = name, .sentence = found->sentence, .reference = found->reference};
}

}  // namespace weft::explain
