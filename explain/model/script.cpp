// SPDX-License-Identifier: Apache-2.0
#include "explain/model/script.hpp"

#include "explain/model/model.hpp"
#include "mpa/negotiation.hpp"
#include "rdmap/opcodes.hpp"
#include "rdmap/terminate.hpp"

namespace weft::explain {
namespace {

void take_frame(LaboratoryScript& script, const StartupView& startup) {
  const mpa::StartupFrame& frame = startup.frame;
  script.crc = frame.crc;
  script.markers = frame.markers;
  script.rejects = frame.kind == mpa::FrameKind::kReply && frame.reject;
  script.revision = frame.revision;
  script.private_data = startup.private_data;
  if (!frame.enhanced) return;
  script.enhanced = true;
  script.peer_to_peer = frame.enhanced->peer_to_peer;
  script.rtr_types = frame.enhanced->rtr;
  script.ird = frame.enhanced->ird;
  script.ord = frame.enhanced->ord;
}

std::optional<mpa::Rtr> rtr_of(const MessageView& message) {
  switch (static_cast<rdmap::Opcode>(message.opcode)) {
    case rdmap::Opcode::kWrite: return mpa::Rtr::kWrite;
    case rdmap::Opcode::kReadRequest: return mpa::Rtr::kRead;
    default: return mpa::Rtr::kSend;
  }
}

// Not of the ready-to-receive indication, which the engine sends by itself.
std::optional<ScriptPost> post_of(const MessageView& message) {
  const bool read = message.opcode == std::to_underlying(rdmap::Opcode::kReadRequest);
  const bool atomic = message.opcode == std::to_underlying(rdmap::Opcode::kAtomicRequest);
  ScriptPost post{.before_row = message.rows.front()};
  if (read) {
    const auto request = rdmap::parse_read_request(message.front);
    if (!request) return std::nullopt;
    post.read = *request;
    return post;
  }
  const auto request = rdmap::parse_atomic_request(message.front);
  if (!atomic || !request) return std::nullopt;
  post.atomic = *request;
  return post;
}

// It does not wait for a receive to be posted (RFC 5041 section 7.1 leaves both open).
bool says_no_buffer(const MessageView& message) {
  if (message.opcode != std::to_underlying(rdmap::Opcode::kTerminate)) return false;
  const auto report = rdmap::parse_terminate(message.front);
  return report && report->meant().error == rdmap::error_code(ddp::UntaggedError::kNoBuffer);
}

// The engine chooses among the kinds that both frames name. Where it would send another than was sent, that one is
// left.
void keep_choice(LaboratoryScript& script, const mpa::StartupFrame& reply) {
  if (!script.initiator || !script.rtr || !reply.enhanced) return;
  const mpa::RtrTypes shared = mpa::common(script.rtr_types, reply.enhanced->rtr);
  if (!mpa::includes(shared, *script.rtr)) return;  // no engine would send it
  if (mpa::choose(shared, mpa::from_wire(reply.enhanced->ird)) == script.rtr) return;
  script.rtr_types = {.send = script.rtr == mpa::Rtr::kSend,
                      .write = script.rtr == mpa::Rtr::kWrite,
                      .read = script.rtr == mpa::Rtr::kRead};
}

LaboratoryScript script_of(const Connection& connection, Direction end) {
  LaboratoryScript script{.initiator = end == Direction::kFromInitiator};
  take_frame(script, *connection.settled.frame(end));
  for (const MessageView& message : connection.messages) {
    if (message.rtr) script.rtr = rtr_of(message);
    if (message.from != end || message.rtr) continue;
    script.refuses_sends = script.refuses_sends || says_no_buffer(message);
    if (auto post = post_of(message)) script.posts.push_back(std::move(*post));
  }
  keep_choice(script, connection.settled.frame(Direction::kFromResponder)->frame);
  return script;
}

}  // namespace

void write_scripts(Connection& connection) {
  for (const Direction end : {Direction::kFromInitiator, Direction::kFromResponder}) {
    const bool known =
        connection.roles_known && connection.settled.frame(end) && connection.settled.frame(opposite(end));
    if (known) connection.lab[index_of(end)] = script_of(connection, end);
  }
}

}  // namespace weft::explain
