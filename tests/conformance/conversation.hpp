// SPDX-License-Identifier: Apache-2.0
// A clean connection, of which a test changes one thing.
#pragma once

#include "tests/conformance/script.hpp"

namespace weft::conformance::test {

struct Conversation {
  Frame request{};
  Frame reply{.key = kReplyKey};
  bool crc = true;                      // as the frames say
  bool markers_from_initiator = false;  // as the FPDUs have them
  bool markers_from_responder = false;
  FpduStream initiator{crc, markers_from_initiator};
  FpduStream responder{crc, markers_from_responder};

  // Frames and nothing else.
  [[nodiscard]] Script startup(std::uint16_t mss = 1460) const {
    Script script = Script::with_handshake(mss);
    script.send(End::kFirst, build(request)).send(End::kSecond, build(reply));
    return script;
  }
  // Frames, three Sends of the Initiator, one of the Responder, and both close.
  [[nodiscard]] Script whole() {
    Script script = startup();
    script.send(End::kFirst, initiator.add(send(1, pattern(30))));
    script.send(End::kSecond, responder.add(send(1, pattern(50))));
    script.send(End::kFirst, initiator.add(send(2, pattern(700))));
    script.send(End::kFirst, initiator.add(send(3, pattern(41))));
    script.close(End::kFirst).close(End::kSecond);
    return script;
  }
};

// RFC 6581: revision 2 and S.
inline Conversation enhanced_conversation(unsigned request_ird, unsigned request_ord, unsigned reply_ird,
                                          unsigned reply_ord) {
  Conversation result;
  result.request = {.flags = 0x50, .revision = 2, .private_data = enhanced(request_ird, request_ord)};
  result.reply = {.key = kReplyKey, .flags = 0x50, .revision = 2, .private_data = enhanced(reply_ird, reply_ord)};
  return result;
}

using Clauses = std::vector<std::string>;

}  // namespace weft::conformance::test
