// SPDX-License-Identifier: Apache-2.0
#include "probe/peer_program.hpp"

#include "probe/peer_protocol.hpp"
#include "probe/scene.hpp"

namespace weft::probe {

void expect_program_alive(Conversation& by) {
  by.send_ulpdu(by.make().send(serialize(Order{.operation = Order::kReport})));
  by.expect_message(rdmap::Opcode::kSend);
}

void ask_program_to_read(Conversation& by, ddp::TaggedOffset offset, std::uint32_t size) {
  by.send_ulpdu(by.make().send(
      serialize(Order{.operation = Order::kRead, .length = size, .stag = Scene::kOwnStag, .offset = offset})));
}

}  // namespace weft::probe
