// SPDX-License-Identifier: Apache-2.0
#include "explain/model/model_maker.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <numeric>
#include <utility>

#include "explain/model/answers.hpp"
#include "explain/model/findings.hpp"
#include "explain/model/states.hpp"

namespace weft::explain {
namespace {

constexpr std::size_t kMostTlsNotes = 10;

std::string address_of(const conformance::ConnectionEnd& end) {
  const bool ipv6 = end.address.find(':') != std::string::npos;
  return fmt::format("{}{}{}:{}", ipv6 ? "[" : "", end.address, ipv6 ? "]" : "", end.port);
}

std::size_t rows_in(const Model& model) {
  return std::accumulate(model.connections.begin(), model.connections.end(), std::size_t{0},
                         [](std::size_t sum, const Connection& connection) { return sum + connection.rows.size(); });
}

}  // namespace

struct ModelMaker::Live {
  Live(std::size_t number, conformance::KeyLog* keys) : id(number), tls(keys), audit(number) {}

  std::size_t id;
  conformance::ConnectionInfo info{};  // of a connection that is over only the last event has it
  conformance::TlsLayer tls;
  conformance::Walk walk{};
  conformance::ConnectionAudit audit;
  Story story{};
};

ModelMaker::ModelMaker(std::string_view source, const ModelOptions& options) : options_(options) {
  model_.source = shown_text(source);
}

ModelMaker::~ModelMaker() = default;

void ModelMaker::take(const conformance::Packet& packet) {
  ++packets_;
  heads_.note(packet);
  tcp_.take(packet);
  drain();
}

void ModelMaker::close() {
  tcp_.finish();
  drain();
  std::ranges::sort(model_.connections, {}, &Connection::id);
  std::ranges::sort(iwarp_);
}

Model ModelMaker::finish() {
  note_limits();
  return std::move(model_);
}

void ModelMaker::drain() {
  while (const auto event = tcp_.next()) take(*event);
}

void ModelMaker::take(const conformance::ConnectionEvent& event) {
  tcp_connections_ = std::max(tcp_connections_, event.connection + 1);
  auto& live = live_[event.connection];
  if (live == nullptr) live = std::make_unique<Live>(event.connection, options_.keys);
  if (const auto* const over = std::get_if<conformance::ConnectionOver>(&event.event)) {
    end(*live, over->info);
    live_.erase(event.connection);
    return;
  }
  if (const auto* const info = tcp_.info(event.connection)) live->info = *info;
  live->tls.feed(std::get<conformance::TcpEvent>(event.event));
  show(*live);
}

void ModelMaker::show(Live& live) {
  const bool asked = !options_.connection || *options_.connection == live.id;
  const Story::Around around{heads_, live.info, live.walk, model_.glossary, options_.budget};
  const auto tell = [&] {
    while (const auto* const seen = live.walk.next()) {
      if (asked) live.story.take(*seen, around);
    }
  };
  while (const auto* const clear = live.tls.next()) {
    live.audit.on(*clear);
    live.walk.feed(*clear);
    tell();
  }
  tell();
}

void ModelMaker::end(Live& live, const conformance::ConnectionInfo& info) {
  live.info = info;
  live.tls.finish();
  show(live);
  live.audit.finish();
  live.walk.finish();
  show(live);
  note_tls(live);
  if (!live.walk.iwarp()) return;
  iwarp_.push_back(live.id);
  if (!options_.connection || *options_.connection == live.id) keep(live);
}

void ModelMaker::keep(Live& live) {
  Connection connection{.id = live.id, .roles_known = live.walk.roles_known()};
  const bool first = live.walk.initiator().value_or(conformance::End::kFirst) == conformance::End::kFirst;
  connection.initiator = address_of(first ? live.info.first : live.info.second);
  connection.responder = address_of(first ? live.info.second : live.info.first);
  live.story.finish(connection, model_);
  match_answers(connection);
  infer_memory(connection);
  find_contents(connection);
  follow_states(connection);
  place_findings(connection, live.audit.findings().all());
  write_scripts(connection);
  model_.connections.push_back(std::move(connection));
}

void ModelMaker::note_tls(const Live& live) {
  const auto* const facts = live.tls.tls();
  if (facts == nullptr || (facts->hidden.empty() && live.walk.iwarp())) return;
  if (++tls_noted_ > kMostTlsNotes) return;
  note(fmt::format("Connection {} ({} and {}) is encrypted with TLS{}: {}.", live.id, address_of(live.info.first),
                   address_of(live.info.second),
                   facts->keyed ? ", and not all of it was decrypted" : ", and was not decrypted",
                   facts->hidden.empty() ? "there is no iWARP in it" : facts->hidden));
}

void ModelMaker::note_limits() {
  if (tls_noted_ > kMostTlsNotes)
    note(fmt::format("{} more connections are encrypted with TLS.", tls_noted_ - kMostTlsNotes));
  if (options_.budget.rows_cut)
    note(fmt::format("Only the first {} rows of the capture are shown. --connection shows one connection alone.",
                     rows_in(model_)));
  if (options_.budget.octets_cut)
    note(fmt::format("The capture has more octets than are kept: later frames have their first {} octets only.",
                     Story::kFront));
}

}  // namespace weft::explain
