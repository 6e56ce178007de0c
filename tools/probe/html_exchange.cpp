// SPDX-License-Identifier: Apache-2.0
#include "tools/probe/html_exchange.hpp"

#include <fmt/format.h>

#include <iterator>

#include "tools/cli/markup.hpp"
#include "tools/probe/exchange_view.hpp"
#include "tools/probe/html_octets.hpp"

namespace weft::tools::probing {
namespace {

using FoldOut = std::back_insert_iterator<std::string>;

constexpr std::size_t kLooseShown = 64;  // octets that make no frame and are not folded

struct Bounds {
  std::size_t exchanges{};
  ViewLimits view{};
};
constexpr Bounds kOfTrouble{12, {.items = 48, .octets_of_item = 512, .octets = 8192}};
constexpr Bounds kInShort{1, {.items = 16, .octets_of_item = 96, .octets = 1024}};

void put_breach(FoldOut out, const Breach& breach) {
  fmt::format_to(out, "<p class=\"breach\">{} breaks {}{}: {}</p>\n", breach.by_peer ? "The target" : "The prober",
                 escape(breach.clause), breach.by_peer ? "" : ", as the case wants it", escape(breach.message));
}

std::string octets_of(const ViewItem& item) {
  if (item.size == 0) return {};
  if (!item.fields.empty()) return fields_of(item);
  const std::string rows = rows_of(item, {0, item.size});
  if (item.size <= kLooseShown) return rows;
  return fmt::format("<details><summary>{} octets</summary>{}</details>\n", item.size, rows);
}

void put_item(FoldOut out, const ViewItem& item) {
  const auto micros = std::chrono::duration_cast<std::chrono::microseconds>(item.at).count();
  fmt::format_to(out, "<div class=\"item {}\"><p><b>{}</b> {}", item.from_peer ? "came" : "sent",
                 item.from_peer ? "came" : "sent", escape(item.what));
  if (item.size != 0) fmt::format_to(out, ", {} octets from offset {} of the stream", item.size, item.offset);
  fmt::format_to(out, " <span class=\"dim\">after {:.3f} ms</span></p>\n", static_cast<double>(micros) / 1000);
  for (const Breach& breach : item.breaches) put_breach(out, breach);
  fmt::format_to(out, "{}</div>\n", octets_of(item));
}

void put_exchange(FoldOut out, const Exchange& exchange, std::size_t number, const Bounds& bounds, bool open) {
  const ExchangeView view = view_of(exchange, bounds.view);
  fmt::format_to(out, "<details{}><summary>Connection {}: {} to {}, opened by the {}</summary>\n",
                 open ? " open=\"open\"" : "", number, escape(exchange.prober.to_string()),
                 escape(exchange.peer.to_string()), exchange.peer_opened ? "target" : "prober");
  for (const Breach& breach : view.breaches) put_breach(out, breach);
  for (const ViewItem& item : view.items) put_item(out, item);
  if (view.left_out != 0)
    fmt::format_to(out, "<p class=\"dim\">and {} more, which the capture has</p>\n", view.left_out);
  if (exchange.cut) fmt::format_to(out, "<p class=\"dim\">What came later was not kept.</p>\n");
  fmt::format_to(out, "</details>\n");
}

}  // namespace

std::string exchange_in_short(const Exchange& exchange, std::size_t number) {
  std::string text;
  put_exchange(FoldOut(text), exchange, number, kInShort, false);
  return text;
}

std::string exchanges_of(const CaseResult& one) {
  const Bounds& bounds = kOfTrouble;
  std::string text;
  FoldOut out(text);
  std::size_t number = 0;
  for (const Exchange& exchange : one.exchanges) {
    if (number++ == bounds.exchanges) break;
    put_exchange(out, exchange, number, bounds, true);
  }
  if (one.exchanges.size() > bounds.exchanges)
    fmt::format_to(out, "<p class=\"dim\">and {} more connections, which the capture has</p>\n",
                   one.exchanges.size() - bounds.exchanges);
  return text;
}

}  // namespace weft::tools::probing
