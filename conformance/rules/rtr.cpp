// SPDX-License-Identifier: Apache-2.0
#include "conformance/rules/rtr.hpp"

#include <fmt/format.h>

#include <array>

#include "conformance/messages.hpp"
#include "conformance/rules/rule_group.hpp"
#include "ddp/header.hpp"
#include "mpa/negotiation.hpp"
#include "rdmap/control.hpp"
#include "rdmap/opcodes.hpp"
#include "rdmap/read_request.hpp"

namespace weft::conformance {
namespace {

using enum Severity;
using enum Layer;

constexpr Rule kRtrFirst{"MPA2-5-03", kViolation, kConnection, "RFC 6581 5",
                         "With A set, the Initiator's first FPDU is the ready-to-receive indication."};
constexpr Rule kRtrAgreed{"MPA2-9.2-12", kViolation, kConnection, "RFC 6581 9.2",
                          "The ready-to-receive indication is of a type that both frames name."};
constexpr std::array kRtrRules{&kRtrAgreed, &kRtrFirst};
const RuleGroup kRtrGroup{kRtrRules};

struct First {
  bool readable = false;  // a header of DDP and an opcode of RDMAP; else others judge it
  bool terminate = false;
  std::optional<mpa::Rtr> rtr{};
};

First read_first(Bytes ulpdu) noexcept {
  using enum rdmap::Opcode;
  const auto header = ddp::parse(ulpdu);
  if (!header) return {};
  const auto* row = rdmap::find_opcode(rdmap::opcode_bits(ddp::TaggedLayout::RsvdUlp::get(ulpdu)));
  if (row == nullptr || row->tagged() != std::holds_alternative<ddp::TaggedHeader>(*header)) return {};
  const Bytes payload = ulpdu.subspan(ddp::header_size(*header));
  First first{.readable = true, .terminate = row->opcode == kTerminate};
  first.rtr = ready_to_receive(std::to_underlying(row->opcode), payload.size(), payload);
  if (row->opcode == kReadRequest && !rdmap::parse_read_request(payload)) first.readable = false;
  return first;
}

bool peer_to_peer(const std::optional<StartupFacts>& frame) noexcept {
  return frame && frame->enhanced && frame->enhanced->peer_to_peer;
}

}  // namespace

void RtrRules::on(const FpduSeen& fpdu, const Facts& facts, Findings& findings) {
  if (done_ || fpdu.piece.from != Direction::kFromInitiator) return;
  done_ = true;
  if (!peer_to_peer(facts.request) || !peer_to_peer(facts.reply)) return;
  const First first = read_first(fpdu.ulpdu);
  if (!first.readable || first.terminate) return;  // MPA2-9.2-13: a Terminate is due when no type is in common
  sent_ = first.rtr;
  const Where where{&fpdu.piece, 0, fpdu.piece.octets.size()};
  if (!first.rtr) {
    return findings.add(kRtrFirst, where, "The first FPDU is no zero-length Send, RDMA Write or RDMA Read.");
  }
  const mpa::RtrTypes& offered = facts.request->enhanced->rtr;
  const mpa::RtrTypes& accepted = facts.reply->enhanced->rtr;
  if (!offered.any() || !accepted.any()) return;  // told of the frame (MPA2-9.2-04, MPA2-9.2-09)
  if (!mpa::includes(mpa::common(offered, accepted), *first.rtr)) {
    findings.add(kRtrAgreed, where,
                 fmt::format("The indication is a zero-length {}, which the Request and the Reply do not both name.",
                             mpa::name(first.rtr)));
  }
}

void RtrRules::forget(Direction from) {
  if (from == Direction::kFromInitiator) done_ = true;
}

}  // namespace weft::conformance
