// SPDX-License-Identifier: Apache-2.0
#include "probe/peer_protocol.hpp"

#include <span>

#include "probe/field_writer.hpp"

namespace weft::probe {
namespace {

Bytes magic() noexcept { return std::as_bytes(std::span(kPeerMagic)); }

// The fields after the magic, if it is there.
std::optional<FieldReader> behind_magic(Bytes octets) noexcept {
  if (octets.size() < kPeerMagic.size() || !std::ranges::equal(octets.first(kPeerMagic.size()), magic()))
    return std::nullopt;
  return FieldReader(octets.subspan(kPeerMagic.size()));
}

}  // namespace

std::vector<std::byte> serialize(const Wish& wish) {
  FieldWriter out;
  out.put(magic())
      .put(wish.session)
      .put(wish.flags)
      .put(wish.receives)
      .put(wish.receive_size)
      .put(wish.ird)
      .put(wish.ord);
  return std::move(out).take();
}

std::optional<Wish> parse_wish(Bytes octets) {
  auto in = behind_magic(octets);
  if (!in) return std::nullopt;
  Wish wish;
  wish.session = in->get<std::uint32_t>();
  for (auto* field : {&wish.flags, &wish.receives, &wish.receive_size, &wish.ird, &wish.ord})
    *field = in->get<std::uint16_t>();
  return in->good() ? std::optional(wish) : std::nullopt;
}

std::vector<std::byte> serialize(const Advert& advert) {
  FieldWriter out;
  out.put(magic()).put(advert.session).put(advert.connection);
  out.put(advert.receives).put(advert.receive_size).put(advert.ird).put(advert.ord);
  const std::size_t count = std::min(advert.regions.size(), kMostRegions);
  out.put(static_cast<std::uint8_t>(count)).put(advert.contract);
  for (const Region& region : std::span(advert.regions).first(count))
    out.put(region.stag.value).put(region.offset.value).put(region.length).put(region.rights).put(region.kind);
  return std::move(out).take();
}

std::optional<Advert> parse_advert(Bytes octets) {
  auto in = behind_magic(octets);
  if (!in) return std::nullopt;
  Advert advert;
  advert.session = in->get<std::uint32_t>();
  advert.connection = in->get<std::uint32_t>();
  for (auto* field : {&advert.receives, &advert.receive_size, &advert.ird, &advert.ord})
    *field = in->get<std::uint16_t>();
  const auto count = in->get<std::uint8_t>();
  advert.contract = in->get<std::uint8_t>();
  for (std::size_t i = 0; in->good() && i < std::min<std::size_t>(count, kMostRegions); ++i) {
    Region region;
    region.stag = {in->get<std::uint32_t>()};
    region.offset = {in->get<std::uint64_t>()};
    region.length = in->get<std::uint32_t>();
    region.rights = in->get<std::uint8_t>();
    region.kind = in->get<std::uint8_t>();
    advert.regions.push_back(region);
  }
  return in->good() ? std::optional(std::move(advert)) : std::nullopt;
}

std::vector<std::byte> serialize(const Order& order) {
  FieldWriter out;
  out.put(magic()).put(order.operation).put(order.flags).put(order.count).put(order.length);
  out.put(order.stag.value).put(order.offset.value).put(order.first).put(order.second);
  return std::move(out).take();
}

std::optional<Order> parse_order(Bytes octets) {
  auto in = behind_magic(octets);
  if (!in) return std::nullopt;
  Order order;
  order.operation = in->get<std::uint8_t>();
  order.flags = in->get<std::uint8_t>();
  order.count = in->get<std::uint16_t>();
  order.length = in->get<std::uint32_t>();
  order.stag = {in->get<std::uint32_t>()};
  order.offset = {in->get<std::uint64_t>()};
  order.first = in->get<std::uint64_t>();
  order.second = in->get<std::uint64_t>();
  return in->good() ? std::optional(order) : std::nullopt;
}

namespace {
// The fields in the order of the wire.
template <typename Report>
auto fields_of(Report& report) noexcept {
  return std::array{
      &report.connections,        &report.connections_ended, &report.receives_done,      &report.receives_failed,
      &report.last_length,        &report.last_opcode,       &report.last_invalidated,   &report.last_immediate_high,
      &report.last_immediate_low, &report.last_sum,          &report.requests_done,      &report.requests_failed,
      &report.last_failure,       &report.terminate_sent,    &report.terminate_received, &report.async_events};
}
static_assert(std::tuple_size_v<decltype(fields_of(std::declval<PeerReport&>()))> == kReportFields);
}  // namespace

std::vector<std::byte> serialize(const PeerReport& report) {
  FieldWriter out;
  for (const auto* field : fields_of(report)) out.put(*field);
  return std::move(out).take();
}

std::optional<PeerReport> parse_report(Bytes octets) {
  FieldReader in(octets);
  PeerReport report;
  for (auto* field : fields_of(report)) *field = in.get<std::uint32_t>();
  return in.good() ? std::optional(report) : std::nullopt;
}

}  // namespace weft::probe
