// SPDX-License-Identifier: Apache-2.0
// Where the fields below iWARP are described. Those of iWARP describe themselves (mpa/, ddp/ and rdmap/text.hpp).
#include <algorithm>
#include <array>

#include "explain/model/glossary.hpp"

namespace weft::explain {
namespace {

struct NoteEntry {
  std::string_view layer{}, name{}, reference{};
};

constexpr std::string_view kEthernet = "IEEE 802.3", kIpv4 = "RFC 791 section 3.1", kIpv6 = "RFC 8200 section 3",
                           kTcp = "RFC 9293 section 3.1";

constexpr std::array kNotes{
    NoteEntry{"link", "Link-layer header", "tcpdump.org/linktypes"},
    NoteEntry{"ethernet", "Destination", kEthernet},
    NoteEntry{"ethernet", "Source", kEthernet},
    NoteEntry{"ethernet", "Type", kEthernet},
    NoteEntry{"ip", "Version and IHL", kIpv4},
    NoteEntry{"ip", "Type of Service", kIpv4},
    NoteEntry{"ip", "Total Length", kIpv4},
    NoteEntry{"ip", "Identification", kIpv4},
    NoteEntry{"ip", "Flags and Fragment Offset", kIpv4},
    NoteEntry{"ip", "Time to Live", kIpv4},
    NoteEntry{"ip", "Protocol", kIpv4},
    NoteEntry{"ip", "Header Checksum", kIpv4},
    NoteEntry{"ip", "Source Address", kIpv4},
    NoteEntry{"ip", "Destination Address", kIpv4},
    NoteEntry{"ip", "Options", kIpv4},
    NoteEntry{"ip", "Version, Class and Flow", kIpv6},
    NoteEntry{"ip", "Payload Length", kIpv6},
    NoteEntry{"ip", "Next Header", kIpv6},
    NoteEntry{"ip", "Hop Limit", kIpv6},
    NoteEntry{"ip", "IPv6 Source Address", kIpv6},
    NoteEntry{"ip", "IPv6 Destination Address", kIpv6},
    NoteEntry{"ip", "Extension headers", "RFC 8200 section 4"},
    NoteEntry{"tcp", "Source Port", kTcp},
    NoteEntry{"tcp", "Destination Port", kTcp},
    NoteEntry{"tcp", "Sequence Number", kTcp},
    NoteEntry{"tcp", "Acknowledgment Number", kTcp},
    NoteEntry{"tcp", "Data Offset", kTcp},
    NoteEntry{"tcp", "Flags", kTcp},
    NoteEntry{"tcp", "Window", kTcp},
    NoteEntry{"tcp", "Checksum", kTcp},
    NoteEntry{"tcp", "Urgent Pointer", kTcp},
    NoteEntry{"tcp", "Options", "RFC 9293 section 3.2"},
};

}  // namespace

FieldInfo note_on(std::string_view layer, std::string_view name) noexcept {
  const auto found =
      std::ranges::find_if(kNotes, [&](const NoteEntry& entry) { return entry.layer == layer && entry.name == name; });
  return {.layer = layer, .name = name, .reference = found == kNotes.end() ? "" : found->reference};
}

}  // namespace weft::explain
