// SPDX-License-Identifier: Apache-2.0
// The log lines of verbs/. There is one function per kind of line, so that lines look alike everywhere. Any thread may
// call them with any lock held: they neither block nor throw, and the rate of each kind is limited (log_output.hpp).
#pragma once

#include <chrono>
#include <concepts>
#include <cstdint>
#include <string_view>
#include <system_error>

#include "engine/event.hpp"
#include "verbs/async_event.hpp"
#include "verbs/endpoint.hpp"
#include "verbs/options.hpp"

namespace weft::verbs::detail {

// Whose stream a line is about.
struct Subject {
  std::uint32_t qp{};  // 0: none yet, or none any more
  const Endpoint& peer;
};

// One error of a stream: names clause, layer, type, code and octet offset.
void log_stream_error(const Subject& subject, const StreamError& error);
// The peer departs from the RFCs in a way that we tolerate. Said once per connection.
void log_remark(const Subject& subject, const engine::Remark& remark);
// A Send of the peer waits for a receive. If none is posted in time, log_stream_error() reports that.
void log_stall(const Subject& subject, const engine::ReceiveStalled& stall, std::chrono::milliseconds patience);
// Failures of what a peer began are logged rarely, because anyone can cause them. Failures of what this end began are
// errors.
enum class FailedStartup : std::uint8_t { kPeers, kOurs, kTriedWithRevision1, kTriedByTcp };
// `because`: what is known beside the report, or nothing.
void log_startup_failure(const Endpoint& peer, const engine::ErrorReport& report, FailedStartup which,
                         std::string_view because = {});
// An established connection has ended for a reason that no protocol above TCP reported to the peer.
void log_lost(const Subject& subject, const std::error_code& error);
void log_warning(std::string_view what, std::string_view why);
// What happens on a connection; `number` is its identifier's.
void log_connection(LogLevel level, std::uint64_t number, std::string_view what);
// As above, for a line that is composed only if it is shown.
template <std::invocable What>
void log_connection(LogLevel level, std::uint64_t number, const What& what) {
  if (log_shows(level)) log_connection(level, number, std::string_view(what()));
}

}  // namespace weft::verbs::detail
