// SPDX-License-Identifier: Apache-2.0
// The user's side: the application at this end, which answers requests, posts work and hears events; and the count of
// what is under way.
#include <algorithm>

#include "ddp/untagged_queues.hpp"
#include "engine/send_queue.hpp"
#include "explain/laboratory/laboratory.hpp"
#include "rdmap/opcodes.hpp"

namespace weft::explain::laboratory {
namespace {

constexpr std::uint64_t kOpening = ~std::uint64_t{0};  // cookie of the Write that opens a connection

}  // namespace

// --- Work

void Laboratory::post_due() {
  while (posted_ < script_.work.size() && script_.work[posted_].row <= row_ && post(script_.work[posted_])) ++posted_;
}

// False: not now.
bool Laboratory::post(const WorkScript& work) {
  using enum engine::Operation;
  const bool ours_is_sink = engine::awaits_response(work.what);
  const rdmap::LocalSegment local = ours_is_sink ? memory_.segment(work.sink_stag, work.sink_offset, work.size)
                                                 : memory_.segment(work.source_stag, work.source_offset, work.size);
  engine::WorkRequest request{.cookie = posted_, .operation = work.what};
  if (work.what != kImmediate) request.local = rdmap::LocalSegments(&local, 1);
  request.remote_stag = {ours_is_sink ? work.source_stag : work.sink_stag};
  request.remote_offset = {ours_is_sink ? work.source_offset : work.sink_offset};
  request.sink_stag = {work.sink_stag};
  request.sink_offset = {work.sink_offset};
  request.atomic = work.atomic;
  const auto posted = engine_.post(request);
  if (posted) return true;
  using enum engine::PostError;
  if (posted.error() == kQueueFull || posted.error() == kNotConnected) return false;
  step_.events.push_back({"work refused", posted.error() == kNoReadDepth
                                              ? "ORD is 0: a Read or an atomic can never start"
                                              : "a work request of the script cannot be carried out"});
  return true;
}

// An initiator sends first (MPA-7.1.2-17). Where the script posts nothing in time, an empty Write stands for it.
void Laboratory::speak_first() {
  if (!engine_.post({.cookie = kOpening, .operation = engine::Operation::kWrite})) return;
  step_.events.push_back(
      {"opening", "the script has no first FPDU of this end: an RDMA Write of nothing stands for it"});
  transmit();
}

// --- Events

void Laboratory::poll() {
  while (const auto event = engine_.poll_event()) {
    const auto* done = std::get_if<engine::SendCompleted>(&*event);
    if (done == nullptr || done->cookie != kOpening) step_.events.push_back(told(*event));
    react(*event);
  }
}

void Laboratory::react(const engine::Event& event) {
  if (std::holds_alternative<engine::ConnectionRequested>(event)) answer_request();
  if (std::holds_alternative<engine::Established>(event)) {
    established_ = true;
    state_ = State::kRdmaMode;
  }
  const auto fail = [&](const engine::ErrorReport& report, bool remote) {
    step_.error = Refused{report, remote};
    state_ = State::kTerminating;
  };
  if (const auto* error = std::get_if<engine::ProtocolError>(&event)) fail(error->report, false);
  if (const auto* error = std::get_if<engine::StartupFailed>(&event)) fail(error->report, false);
  if (const auto* error = std::get_if<engine::TerminateReceived>(&event)) fail(error->report, true);
  if (std::holds_alternative<engine::PeerClosed>(event)) engine_.close(now_);  // an application that closes, too
  if (std::holds_alternative<engine::Closed>(event)) state_ = State::kClosed;
}

void Laboratory::answer_request() {
  const auto answered =
      script_.reject ? engine_.reject(script_.private_data) : engine_.accept(script_.private_data, {});
  if (answered) return;
  step_.refused =
      "a responder cannot answer as the script says: IRD or ORD is out of range, it takes no kind of "
      "ready-to-receive where the peer asks for one, or its private data is longer "
      "than 512 octets, or 508 with enhanced data";
  engine_.abort(now_);
}

// --- What is under way

void Laboratory::count_in(const Frame& frame) {
  if (!frame.header) return;
  const auto opcode = static_cast<rdmap::Opcode>(frame.opcode());
  if (const auto* untagged = std::get_if<ddp::UntaggedHeader>(&*frame.header)) {
    const auto queue = ddp::queue_number(untagged->queue);
    if (!queue) return;
    const auto index = std::to_underlying(*queue);
    const auto behind = untagged->offset.value + static_cast<std::uint32_t>(frame.payload);
    if (frame.last()) queues_.msn[index] = untagged->msn.value + 1;
    queues_.mo[index] = frame.last() ? 0 : behind;
  }
  if (!frame.last()) return;
  using enum rdmap::Opcode;
  if (opcode == kReadRequest || opcode == kAtomicRequest) ++queues_.ird;
  if ((opcode == kReadResponse || opcode == kAtomicResponse) && queues_.ord > 0) --queues_.ord;
}

void Laboratory::count_out(const Frame& frame) {
  if (frame.startup) {
    own_ = {frame.startup->crc, frame.startup->markers};
    return;
  }
  out_.fpdu_sent = true;
  if (!frame.header || !frame.last()) return;
  using enum rdmap::Opcode;
  const auto opcode = static_cast<rdmap::Opcode>(frame.opcode());
  if (opcode == kReadRequest || opcode == kAtomicRequest) ++queues_.ord;
  if ((opcode == kReadResponse || opcode == kAtomicResponse) && queues_.ird > 0) --queues_.ird;
  if (opcode == kTerminate) state_ = State::kTerminating;
}

}  // namespace weft::explain::laboratory
