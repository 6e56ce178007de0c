// SPDX-License-Identifier: Apache-2.0
// Checks octets that do not come from a capture but, for example, from a proxy, a simulator or the log of another
// stack.
//
// This program checks an MPA Request and its Reply, written by hand. The Request has a reserved bit set, so it prints
//     MPA2-6-04, message 1, octet 16 of the initiator's stream: ...
#include <cstddef>
#include <cstdint>
#include <cstdio>
#include <span>
#include <string>
#include <string_view>

#include <weft/conformance/connection_audit.hpp>

using namespace weft::conformance;
using namespace std::string_view_literals;

namespace {

struct Message {
  End from;
  std::string_view octets;
};

// Key; M, C, R, S and four reserved bits; revision; length of the private data, which begins with IRD and ORD.
constexpr Message kConversation[] = {
    {End::kFirst, "MPA ID Req Frame\x58\x02\x00\x04\x00\x02\x00\x02"sv},
    {End::kSecond, "MPA ID Rep Frame\x50\x02\x00\x04\x00\x02\x00\x02"sv},
};

}  // namespace

int main() {
  ConnectionAudit audit(0);
  std::uint64_t sent[2] = {0, 0};  // octets sent by each end
  std::uint64_t number = 0;        // message number, which findings contain; the program chooses the numbering
  for (const Message& message : kConversation) {
    std::uint64_t& offset = sent[static_cast<std::size_t>(message.from)];
    audit.on(TcpOctets{.from = message.from,
                       .octets = std::as_bytes(std::span(message.octets)),
                       .place = {.packet = ++number, .octet = 0},
                       .stream_offset = offset,
                       .acknowledged = sent[static_cast<std::size_t>(opposite(message.from))]});
    offset += message.octets.size();
  }
  audit.finish();
  for (const Finding& finding : audit.findings().all()) {
    const bool responder = finding.direction == Direction::kFromResponder;
    std::printf("%s, message %llu, octet %llu of the %s's stream: %s\n", std::string(finding.rule->clause).c_str(),
                static_cast<unsigned long long>(finding.place.packet),
                static_cast<unsigned long long>(finding.stream_offset), responder ? "responder" : "initiator",
                finding.message.c_str());
  }
  return audit.findings().all().empty() ? 0 : 1;
}
