// SPDX-License-Identifier: Apache-2.0
// What verbs/ writes to the log. One function per thing that can be said, so that lines look alike everywhere. Any
// thread may call them with any lock held: none blocks or throws, and each kind of line is bounded (log_output.hpp).
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
// A Send of the peer waits for a receive. When none comes in time, log_stream_error tells that.
void log_stall(const Subject& subject, const engine::ReceiveStalled& stall, std::chrono::milliseconds patience);
// What a peer began needs no right to fail, and is told seldom. What this end began is an error.
enum class FailedStartup : std::uint8_t { kPeers, kOurs, kTriedAgain };
// `because`: what is known beside the report, or nothing.
void log_startup_failure(const Endpoint& peer, const engine::ErrorReport& report, FailedStartup which,
                         std::string_view because = {});
// A connection that was established has ended for a reason that no protocol above TCP told the peer.
void log_lost(const Subject& subject, const std::error_code& error);
void log_warning(std::string_view what, std::string_view why);
// What happens on a connection; `number` is its identifier's.
void log_connection(LogLevel level, std::uint64_t number, std::string_view what);
// The same of a line that is made only when it is shown.
template <std::invocable What>
void log_connection(LogLevel level, std::uint64_t number, const What& what) {
  if (log_shows(level)) log_connection(level, number, std::string_view(what()));
}

}  // namespace weft::verbs::detail
