// SPDX-License-Identifier: Apache-2.0
#include "probe/peer_program.hpp"

#include "probe/peer_protocol.hpp"
#include "probe/scene.hpp"

namespace weft::probe {

namespace {

// A Send that is the peer's own affair may be as long. Its octets make no sense as these numbers.
std::optional<PeerReport> report_in(const PeerFpdu& fpdu) {
  const auto report = parse_report(fpdu.payload());
  const bool sound = report && report->connections != 0 && report->connections_ended <= report->connections;
  return sound ? report : std::nullopt;
}

}  // namespace

PeerReport expect_report(Conversation& by) {
  const auto has_report = [](const PeerFpdu& fpdu) { return report_in(fpdu).has_value(); };
  return *report_in(by.expect_message(rdmap::Opcode::kSend, nullptr, has_report));
}

void expect_program_alive(Conversation& by) {
  by.send_ulpdu(by.make().send(serialize(Order{.operation = Order::kReport})));
  static_cast<void>(expect_report(by));
}

void ask_program_to_read(Conversation& by, ddp::TaggedOffset offset, std::uint32_t size) {
  by.send_ulpdu(by.make().send(
      serialize(Order{.operation = Order::kRead, .length = size, .stag = Scene::kOwnStag, .offset = offset})));
}

}  // namespace weft::probe
