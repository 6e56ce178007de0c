// SPDX-License-Identifier: Apache-2.0
#include "tools/probe/spot.hpp"

#include <fmt/format.h>

#include "conformance/connection_audit.hpp"
#include "conformance/walk.hpp"
#include "probe/exchange_events.hpp"
#include "tools/probe/counts.hpp"

namespace weft::tools::probing {
namespace {

using conformance::Direction;
using conformance::End;

bool is_of_peer(const Exchange& exchange, std::optional<End> initiator, Direction direction) {
  const End from = direction == Direction::kFromInitiator ? initiator.value_or(End::kFirst)
                                                          : conformance::opposite(initiator.value_or(End::kFirst));
  return from == probe::end_of(exchange, true);
}

// The frame that holds the octet; where none does, the last one of that stream before it.
Spot spot_at(const Exchange& exchange, std::size_t index, bool by_peer, std::uint64_t octet) {
  Spot out{.exchange = index, .by_peer = by_peer, .octet = octet};
  conformance::Walk walk;
  const auto look = [&] {
    while (const conformance::Seen* const seen = walk.next()) {
      const auto* const fpdu = std::get_if<conformance::FpduSeen>(seen);
      if (fpdu == nullptr || is_of_peer(exchange, walk.initiator(), fpdu->piece.from) != by_peer) continue;
      if (fpdu->piece.stream_offset > octet) continue;
      out.fpdu = fpdu->number;
      out.begin = fpdu->piece.stream_offset;
    }
  };
  for_each_event(exchange, [&](const conformance::TcpEvent& event) {
    walk.feed(event);
    look();
  });
  walk.finish();
  look();
  return out;
}

std::uint64_t octet_of(const conformance::Finding& finding) {
  return finding.excerpt.marked != 0 ? finding.excerpt.stream_offset + finding.excerpt.mark : finding.stream_offset;
}

// What the prober broke there first, from that octet on.
std::optional<std::uint64_t> broken_by_prober(const Exchange& exchange, std::uint64_t from) {
  conformance::ConnectionAudit audit(0);
  for_each_event(exchange, [&](const conformance::TcpEvent& event) { audit.on(event); });
  audit.finish();
  for (const conformance::Finding& finding : audit.findings().all()) {
    if (finding.rule->severity != conformance::Severity::kViolation || !finding.direction) continue;
    if (is_of_peer(exchange, audit.initiator(), *finding.direction)) continue;
    if (const auto octet = octet_of(finding); octet >= from) return octet;
  }
  return std::nullopt;
}

std::uint64_t sent_by_prober(const Exchange& exchange) {
  std::uint64_t out = 0;
  for (const Part& part : exchange.parts) out += part.from_peer ? 0 : part.octets.size();
  return out;
}

}  // namespace

std::optional<Spot> spot_of(const CaseResult& one) {
  for (std::size_t i = one.exchanges.size(); i-- > 0;) {
    const Exchange& exchange = one.exchanges[i];
    if (!exchange.subject) continue;
    const auto [fpdu, begin] = *exchange.subject;
    const auto octet = exchange.prober_breaks_startup ? std::nullopt : broken_by_prober(exchange, begin);
    return Spot{.exchange = i, .fpdu = fpdu, .begin = begin, .octet = octet.value_or(begin)};
  }
  for (std::size_t i = one.exchanges.size(); i-- > 0;) {
    if (const auto octet = broken_by_prober(one.exchanges[i], 0)) return spot_at(one.exchanges[i], i, false, *octet);
  }
  for (std::size_t i = one.exchanges.size(); i-- > 0;) {
    const std::uint64_t sent = sent_by_prober(one.exchanges[i]);
    if (sent == 0) continue;
    Spot last = spot_at(one.exchanges[i], i, false, sent - 1);
    last.octet = last.begin;
    return last;
  }
  return std::nullopt;
}

std::optional<Spot> spot_of(const Report& report, const RuleResult& rule) {
  const Exchange* const exchange = exchange_of(report, rule);
  if (exchange == nullptr) return std::nullopt;
  return spot_at(*exchange, rule.exchange_index, true, octet_of(*rule.first));
}

std::string in_words(const Spot& spot) {
  const std::string frame = spot.fpdu == 0
                                ? fmt::format("the startup of the {}", spot.by_peer ? "peer" : "prober")
                                : fmt::format("FPDU {} of the {}", spot.fpdu, spot.by_peer ? "peer" : "prober");
  return fmt::format("connection {}, {}, octet {} of its stream{}", spot.exchange + 1, frame, spot.octet,
                     spot.fpdu == 0 ? "" : fmt::format(" ({} of the FPDU)", spot.octet - spot.begin));
}

}  // namespace weft::tools::probing
