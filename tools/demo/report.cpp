// SPDX-License-Identifier: Apache-2.0
#include "tools/demo/report.hpp"

#include <string_view>

namespace weft::tools::demo {
namespace {

std::string count(std::uint64_t number, std::string_view noun) {
  return std::to_string(number) + ' ' + std::string(noun) + (number == 1 ? "" : "s");
}

std::string startup(const StartupSummary& frame) {
  std::string text = "revision " + std::to_string(frame.revision) + ", CRC " + (frame.crc ? "on" : "off") +
                     ", Markers " + (frame.markers ? "wanted" : "not wanted");
  if (frame.ird != mpa::kNoNegotiation) text += ", IRD " + std::to_string(frame.ird);
  if (frame.ord != mpa::kNoNegotiation) text += ", ORD " + std::to_string(frame.ord);
  return text + ", " + count(frame.private_data, "octet") + " of private data";
}

std::string fpdus(const WireSummary& summary) {
  std::string text =
      count(summary.initiator.fpdus, "FPDU") + " out, " + std::to_string(summary.responder.fpdus) + " back, ";
  text += summary.crc ? "every CRC32C right" : "no CRC";
  const std::uint64_t markers = summary.initiator.markers + summary.responder.markers;
  return text + (markers == 0 ? ", no Markers" : ", " + count(markers, "Marker"));
}

std::string segments(const FlowSummary& flow) {
  return std::to_string(flow.tagged) + " tagged and " + std::to_string(flow.untagged) + " untagged segments";
}

std::string messages(const FlowSummary& flow) {
  std::string text;
  for (const rdmap::OpcodeRow& row : rdmap::kOpcodeTable) {
    const std::uint64_t number = flow.messages[std::to_underlying(row.opcode)];
    if (number != 0) text += (text.empty() ? "" : ", ") + std::to_string(number) + ' ' + std::string(row.name);
  }
  return text;
}

std::string line(std::string_view layer, const std::string& text) {
  std::string out = "  ";
  out += layer;
  out.resize(9, ' ');
  return out + text + '\n';
}

}  // namespace

std::string describe_layers(const WireSummary& summary) {
  const FlowSummary& out = summary.initiator;
  const FlowSummary& back = summary.responder;
  return line("TCP", count(out.octets, "octet") + " out in " + count(out.packets, "packet") + ", " +
                         std::to_string(back.octets) + " back in " + std::to_string(back.packets)) +
         line("MPA", "Request: " + startup(out.startup)) + line("", "Reply:   " + startup(back.startup)) +
         line("", fpdus(summary)) + line("DDP", segments(out) + " out") + line("", segments(back) + " back") +
         line("RDMAP", messages(out) + " out") + line("", messages(back) + " back");
}

}  // namespace weft::tools::demo
