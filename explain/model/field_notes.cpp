// SPDX-License-Identifier: Apache-2.0
// Where each field is described, and the rules of the auditor that ask something of it.
#include <algorithm>
#include <array>

#include "explain/model/glossary.hpp"

namespace weft::explain {
namespace {

constexpr std::size_t kMostClauses = 4;

struct NoteEntry {
  std::string_view layer{}, name{}, reference{};
  std::array<std::string_view, kMostClauses> clauses{};  // empty ones at the end

  [[nodiscard]] constexpr std::size_t count() const noexcept {
    return static_cast<std::size_t>(std::ranges::find(clauses, std::string_view()) - clauses.begin());
  }
};

constexpr std::string_view kEthernet = "IEEE 802.3", kIpv4 = "RFC 791 section 3.1", kIpv6 = "RFC 8200 section 3",
                           kTcp = "RFC 9293 section 3.1", kFpdu = "RFC 5044 section 4.1",
                           kMarker = "RFC 5044 section 4.2", kCrc = "RFC 5044 section 4.4",
                           kFrame = "RFC 5044 section 7.1.1", kFrame2 = "RFC 6581 section 6",
                           kEnhanced = "RFC 6581 section 9", kDdp = "RFC 5041 section 4.1",
                           kTagged = "RFC 5041 section 4.2", kUntagged = "RFC 5041 section 4.3",
                           kRdmap = "RFC 5040 section 4.1", kRead = "RFC 5040 section 4.4",
                           kTerminate = "RFC 5040 section 4.8", kAtomic = "RFC 7306 section 5.2.1",
                           kAtomicResponse = "RFC 7306 section 5.2.2", kImmediate = "RFC 7306 section 6.3";

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
    NoteEntry{"mpa", "Key", kFrame, {"MPA-7.1.1-02", "MPA-7.1.1-04"}},
    NoteEntry{"mpa", "Flags", kFrame, {"MPA-7.1.1-17"}},
    NoteEntry{"mpa", "M", kFrame, {"MPA-7.1.1-07", "MPA-7.1.1-08"}},
    NoteEntry{"mpa", "C", kFrame, {"MPA-4.4-05", "MPA-7.1.1-11"}},
    NoteEntry{"mpa", "R", kFrame, {"MPA-7.1.1-14", "MPA-7.1.1-16"}},
    NoteEntry{"mpa", "S", kFrame2, {"MPA2-6-07", "MPA2-6-11"}},
    NoteEntry{"mpa", "Res", kFrame2, {"MPA2-6-04", "MPA-7.1.1-17"}},
    NoteEntry{"mpa", "Rev", kFrame, {"MPA-7.1.1-19"}},
    NoteEntry{"mpa", "PD_Length", kFrame, {"MPA-7.1.1-23", "MPA-7.1.1-28"}},
    NoteEntry{"mpa", "A, B, IRD", kEnhanced, {"MPA2-6-11"}},
    NoteEntry{"mpa", "A", kEnhanced, {"MPA2-9.2-06", "MPA2-9.2-17", "MPA2-9.2-18"}},
    NoteEntry{"mpa", "B", kEnhanced, {"MPA2-9.2-04", "MPA2-9.2-09", "MPA2-9.2-12"}},
    NoteEntry{"mpa", "IRD", "RFC 6581 section 9.1", {"MPA2-9.1-04", "RDMAP-6.1-08"}},
    NoteEntry{"mpa", "C, D, ORD", kEnhanced, {"MPA2-6-11"}},
    NoteEntry{"mpa", "D", kEnhanced, {"MPA2-9.2-04", "MPA2-9.2-09", "MPA2-9.2-12"}},
    NoteEntry{"mpa", "ORD", "RFC 6581 section 9.1", {"MPA2-9.1-08", "RDMAP-6.1-08"}},
    NoteEntry{"mpa", "Private Data", kFrame, {"MPA-7.1.1-23", "MPA-7.1.1-28"}},
    NoteEntry{"mpa", "octets", kFrame, {"MPA-7.1.1-23"}},
    NoteEntry{"mpa", "ULPDU_Length", kFpdu, {"MPA-4.1-02", "MPA-3-05", "MPA-3-03"}},
    NoteEntry{"mpa", "PAD", kFpdu, {"MPA-4.1-03"}},
    NoteEntry{"mpa", "CRC", kCrc, {"MPA-4.4-13", "MPA-4.4-05"}},
    NoteEntry{"mpa", "Marker", kMarker, {"MPA-4.3-05", "MPA-4.3-07", "MPA-4.3-12"}},
    NoteEntry{"mpa", "RESERVED", kMarker, {"MPA-4.2-02"}},
    NoteEntry{"mpa", "FPDUPTR", kMarker, {"MPA-4.2-05", "MPA-4.3-05", "MPA-4.3-07"}},
    NoteEntry{"ddp", "ULPDU", "RFC 5041 section 4", {"DDP-4-01"}},
    NoteEntry{"ddp", "DDP Control", kDdp},
    NoteEntry{"ddp", "T", kDdp, {"RDMAP-5.1-01", "RDMAP-5.2.2-02", "RDMAP-5.3-01", "RDMAP-5.2.1-01"}},
    NoteEntry{"ddp", "L", kDdp, {"DDP-4.1-05", "DDP-4.1-06", "DDP-4.1-08"}},
    NoteEntry{"ddp", "Rsvd", kDdp, {"DDP-4.1-11"}},
    NoteEntry{"ddp", "DV", kDdp, {"DDP-4.1-13"}},
    NoteEntry{"ddp", "STag", kTagged, {"DDP-4.2-10", "RDMAP-4.4-03"}},
    NoteEntry{"ddp", "TO", kTagged, {"DDP-5.2-10", "DDP-5.3-03", "RDMAP-4.4-04"}},
    NoteEntry{"ddp", "QN", kUntagged, {"DDP-4.3-09", "RDMAP-5.3-08", "RDMAP-5.2.1-06", "RDMAP-5.4-02"}},
    NoteEntry{"ddp", "MSN", kUntagged, {"DDP-4.3-10", "DDP-4.3-11", "DDP-4.3-13"}},
    NoteEntry{"ddp", "MO", kUntagged, {"DDP-4.3-15", "DDP-5.2-07", "DDP-5.3-02"}},
    NoteEntry{"rdmap", "RDMAP Control", kRdmap},
    NoteEntry{"rdmap", "RV", kRdmap, {"RDMAP-4.1-17"}},
    NoteEntry{"rdmap", "Rsv", kRdmap, {"RDMAP-4.1-20"}},
    NoteEntry{"rdmap", "Opcode", kRdmap, {"RDMAP-4.1-22"}},
    NoteEntry{"rdmap", "Invalidate STag", kRdmap, {"RDMAP-4.1-23", "RDMAPX-4.1-03"}},
    NoteEntry{"rdmap", "SinkSTag", kRead, {"RDMAP-4.4-03"}},
    NoteEntry{"rdmap", "SinkTO", kRead, {"RDMAP-4.4-04"}},
    NoteEntry{"rdmap", "RDMARDSZ", kRead, {"RDMAP-4.4-07"}},
    NoteEntry{"rdmap", "SrcSTag", kRead},
    NoteEntry{"rdmap", "SrcTO", kRead},
    NoteEntry{"rdmap", "AOpCode and Reserved", kAtomic, {"RDMAPX-5.2.1-02"}},
    NoteEntry{"rdmap", "AOpCode", kAtomic, {"RDMAPX-5.2.1-04"}},
    NoteEntry{"rdmap", "Request Identifier", kAtomic},
    NoteEntry{"rdmap", "Remote STag", kAtomic},
    NoteEntry{"rdmap", "Remote Tagged Offset", kAtomic},
    NoteEntry{"rdmap", "Add or Swap Data", kAtomic},
    NoteEntry{"rdmap", "Add or Swap Mask", kAtomic},
    NoteEntry{"rdmap", "Compare Data", kAtomic, {"RDMAPX-5.2.1-12"}},
    NoteEntry{"rdmap", "Compare Mask", kAtomic, {"RDMAPX-5.2.1-13"}},
    NoteEntry{"rdmap", "Original Request Identifier", kAtomicResponse, {"RDMAPX-5.2.2-02"}},
    NoteEntry{"rdmap", "Original Remote Data Value", kAtomicResponse},
    NoteEntry{"rdmap", "Immediate Data", kImmediate, {"RDMAPX-6.3-05"}},
    NoteEntry{"rdmap", "Layer and EType", kTerminate, {"RDMAP-4.8-04", "RDMAP-4.8-05"}},
    NoteEntry{"rdmap", "Layer", kTerminate, {"RDMAP-4.8-05"}},
    NoteEntry{"rdmap", "EType", kTerminate, {"RDMAP-4.8-05", "DDP-7.2-14"}},
    NoteEntry{"rdmap", "Error Code", kTerminate, {"RDMAP-4.8-05", "RDMAP-IANA-3.2-01"}},
    NoteEntry{"rdmap", "HdrCt and Reserved", kTerminate, {"RDMAP-4.8-04", "RDMAP-4.8-11"}},
    NoteEntry{"rdmap", "M", kTerminate, {"RDMAP-4.8-08"}},
    NoteEntry{"rdmap", "D", kTerminate, {"RDMAP-4.8-09"}},
    NoteEntry{"rdmap", "R", kTerminate, {"RDMAP-4.8-10", "RDMAP-4.8-18"}},
    NoteEntry{"rdmap", "DDP Segment Length", kTerminate, {"RDMAP-4.8-13"}},
    NoteEntry{"rdmap", "Terminated DDP Header", kTerminate, {"RDMAP-4.8-15"}},
    NoteEntry{"rdmap", "Terminated RDMA Header", kTerminate, {"RDMAP-4.8-18"}},
    NoteEntry{"rdmap", "Reserved", "", {"RDMAP-4.8-11", "RDMAPX-5.2.1-02"}},
    NoteEntry{"rdmap", "header", kRdmap, {"RDMAP-4.4-01", "RDMAPX-4-02", "RDMAPX-4-03"}},
    NoteEntry{"rdmap", "surplus", kRdmap, {"RDMAP-4.4-01", "RDMAP-4.8-02"}},
    NoteEntry{"ulp", "payload", "the application's own octets"},
};

}  // namespace

TermNote note_on(std::string_view layer, std::string_view name) noexcept {
  const auto found =
      std::ranges::find_if(kNotes, [&](const NoteEntry& entry) { return entry.layer == layer && entry.name == name; });
  if (found == kNotes.end()) return {.layer = layer, .name = name};
  return {.layer = layer,
          .name = name,
          .clauses = std::span(found->clauses).first(found->count()),
          .reference = found->reference};
}

}  // namespace weft::explain
