// SPDX-License-Identifier: Apache-2.0
#include "tools/probe/exchange_view.hpp"

#include <fmt/format.h>

#include <algorithm>

#include "conformance/connection_audit.hpp"
#include "probe/exchange_events.hpp"
#include "tools/probe/exchange_items.hpp"

namespace weft::tools::probing {
namespace {

using conformance::Direction;
using conformance::Finding;

// The item that holds an octet of a stream.
ViewItem* item_at(std::vector<ViewItem>& items, bool from_peer, std::uint64_t offset) {
  const auto holds = [&](const ViewItem& item) {
    return item.from_peer == from_peer && item.offset <= offset && offset - item.offset < item.size;
  };
  const auto found = std::ranges::find_if(items, holds);
  return found == items.end() ? nullptr : &*found;
}

void put_breach(ExchangeView& view, const Finding& finding, bool by_peer) {
  Breach breach{by_peer, std::string(finding.rule->clause), finding.message};
  const bool marked = finding.excerpt.marked != 0;
  const std::uint64_t offset = marked ? finding.excerpt.stream_offset + finding.excerpt.mark : finding.stream_offset;
  ViewItem* const item = item_at(view.items, by_peer, offset);
  if (item == nullptr) return view.breaches.push_back(std::move(breach));
  item->breaches.push_back(std::move(breach));
  if (marked) item->marks.push_back({static_cast<std::size_t>(offset - item->offset), finding.excerpt.marked});
}

// By the rules that the peer is judged by. Where the prober's startup was wrong, roles and framing are guesses: only
// what the prober broke is told then.
void put_breaches(ExchangeView& view, const Exchange& exchange) {
  conformance::ConnectionAudit audit(0);
  for_each_event(exchange, [&](const conformance::TcpEvent& event) { audit.on(event); });
  audit.finish();
  const auto initiator = audit.initiator().value_or(conformance::End::kFirst);
  const bool peer_initiates = initiator == end_of(exchange, true);
  for (const Finding& finding : audit.findings().all()) {
    if (finding.rule->severity == conformance::Severity::kNote || !finding.direction) continue;
    const bool by_peer = (finding.direction == Direction::kFromInitiator) == peer_initiates;
    if (by_peer && (exchange.prober_breaks_startup || exchange.cut)) continue;
    put_breach(view, finding, by_peer);
  }
}

// The first items are kept, and as many octets of them as there is room for.
void keep_within(ExchangeView& view, const ViewLimits& limits) {
  std::size_t room = limits.octets;
  if (view.items.size() > limits.items) {
    view.left_out = view.items.size() - limits.items;
    view.items.resize(limits.items);
  }
  for (ViewItem& item : view.items) {
    item.octets.resize(std::min(item.octets.size(), room));
    room -= item.octets.size();
  }
}

}  // namespace

ExchangeView view_of(const Exchange& exchange, const ViewLimits& limits) {
  ExchangeView view{.items = items_of(exchange, limits.octets_of_item)};
  put_breaches(view, exchange);
  keep_within(view, limits);
  return view;
}

std::string short_text(const ExchangeView& view, std::size_t most) {
  std::string text;
  const std::size_t count = std::min(most, view.items.size());
  for (std::size_t i = 0; i < count; ++i) {
    const ViewItem& item = view.items[i];
    text += fmt::format("{}{} {}", text.empty() ? "" : ", ", item.from_peer ? '<' : '>', item.what);
    if (item.size != 0) text += fmt::format(" ({})", item.size);
  }
  const std::size_t more = view.items.size() - count + view.left_out;
  if (more != 0) text += fmt::format(", and {} more", more);
  return text.empty() ? "nothing" : text;
}

}  // namespace weft::tools::probing
