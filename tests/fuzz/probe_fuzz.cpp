// SPDX-License-Identifier: Apache-2.0
// The prober against any peer at all: whatever octets come, each line of a case ends in time, by a verdict.
#include <memory>

#include "probe/verdict.hpp"
#include "tests/probe/connected.hpp"

namespace {

using namespace weft;
using namespace weft::probe;

constexpr rdmap::ErrorCode kSome{rdmap::Layer::kLlp, 0, 2};

void converse(Conversation& by, std::uint8_t choice) {
  if ((choice & 1) != 0)
    by.start_fpdus({}, by.expect_frame((choice & 2) != 0 ? mpa::FrameKind::kRequest : mpa::FrameKind::kReply).frame);
  else
    by.start_fpdus(mpa::Framing{}, mpa::Framing{.crc = (choice & 2) == 0, .markers = (choice & 4) != 0});
  switch (choice >> 3U & 3U) {
    case 0: by.expect_terminate({kSome}, Messages().write({1}, {2}, pattern(3))); break;
    case 1: by.expect_read_response({1}, {0}, 40); break;
    case 2: by.expect_message(rdmap::Opcode::kSend); break;
    case 3: by.expect_end_sometime("it is over", Duration(0)); break;
  }
  by.octets(100, Duration(0));
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  if (size < 1) return 0;
  probe::test::Connected pair(Duration(0));
  pair.say(std::as_bytes(std::span(data, size)).subspan(1));
  pair.peer->shutdown_write();
  try {
    converse(*pair.conversation, data[0]);
  } catch (const Judgement&) {
  }
  return 0;
}
