// SPDX-License-Identifier: Apache-2.0
#include "tools/rping/session.hpp"

#include <algorithm>
#include <string>
#include <utility>

namespace weft::tools::rping {

Outcome<std::unique_ptr<Session>> Session::create(Link link) {
  std::unique_ptr<Session> session(new Session(std::move(link)));
  auto region = session->link_.register_memory(session->incoming_, verbs::Access::kLocalWrite);
  if (!region) return std::unexpected(region.error());
  session->incoming_region_.emplace(std::move(*region));
  if (auto posted = session->post_receive(); !posted) return std::unexpected(posted.error());
  return session;
}

Outcome<void> Session::post_receive() { return link_.post_receive(incoming_region_->sge()); }

Outcome<void> Session::accept(const verbs::ConnectionParameters& parameters) {
  if (auto accepted = link_.accept(parameters); !accepted) return accepted;
  const auto negotiated = link_.queue_pair().query().negotiated;
  rtr_expected_ = negotiated && negotiated->rtr == verbs::Rtr::kSend;
  return {};
}

// Inline: the octets are copied at once, so no buffer has to wait for the completion.
Outcome<void> Session::send(const Advertisement& advertisement) {
  const auto octets = advertisement.serialize();
  const verbs::Sge segment{.address = reinterpret_cast<std::uint64_t>(octets.data()), .length = kAdvertisementSize};
  return link_.post_send({.opcode = verbs::SendOpcode::kSend,
                          .flags = verbs::SendFlags::kSignaled | verbs::SendFlags::kInline,
                          .segments = {&segment, 1}});
}

Outcome<std::optional<Advertisement>> Session::receive(std::chrono::milliseconds grace) {
  while (!message_) {
    const auto progress = wait_for(verbs::WcOpcode::kReceive, grace);
    if (!progress) return std::unexpected(progress.error());
    if (*progress == Progress::kPeerLeft) return std::nullopt;
  }
  return std::exchange(message_, std::nullopt);
}

Outcome<Progress> Session::rdma_read(const Advertisement& from, const verbs::Sge& sink) {
  return carry_out(verbs::SendOpcode::kRdmaRead, verbs::WcOpcode::kRdmaRead, from, sink);
}

Outcome<Progress> Session::rdma_write(const Advertisement& to, const verbs::Sge& source) {
  return carry_out(verbs::SendOpcode::kRdmaWrite, verbs::WcOpcode::kRdmaWrite, to, source);
}

Outcome<Progress> Session::carry_out(verbs::SendOpcode opcode, verbs::WcOpcode completes_as,
                                     const Advertisement& remote, const verbs::Sge& local) {
  const auto posted = link_.post_send({.opcode = opcode,
                                       .flags = verbs::SendFlags::kSignaled,
                                       .segments = {&local, 1},
                                       .remote_address = remote.address,
                                       .rkey = remote.rkey});
  if (!posted) return std::unexpected(posted.error());
  return wait_for(completes_as);
}

// Completions of other kinds come in between: messages are kept, the end of a Send needs no action.
Outcome<Progress> Session::wait_for(verbs::WcOpcode opcode, std::chrono::milliseconds grace) {
  for (;;) {
    const auto completion = link_.completions().next(grace);
    if (!completion) return std::unexpected(completion.error());
    if (completion->status == verbs::WcStatus::kFlushed) return Progress::kPeerLeft;
    if (completion->status != verbs::WcStatus::kSuccess) return failure(describe(*completion) + ".");
    if (completion->opcode == verbs::WcOpcode::kReceive) {
      if (auto taken = take_message(*completion); !taken) return std::unexpected(taken.error());
    }
    if (completion->opcode == opcode) return Progress::kDone;
  }
}

Outcome<void> Session::take_message(const verbs::WorkCompletion& completion) {
  if (std::exchange(rtr_expected_, false) && completion.byte_len == 0) return post_receive();
  const auto message =
      Advertisement::parse(Bytes(incoming_).first(std::min<std::size_t>(completion.byte_len, incoming_.size())));
  if (!message) {
    return failure("received bogus data: a message of " + std::to_string(completion.byte_len) +
                   " octets where rping's have " + std::to_string(kAdvertisementSize) + ".");
  }
  if (message_) return failure("the peer sent a message before it was its turn.");
  message_ = message;
  return post_receive();
}

}  // namespace weft::tools::rping
