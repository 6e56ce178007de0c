// SPDX-License-Identifier: Apache-2.0
// What verbs/ writes to the log. One function per thing that can be said, so that lines look alike everywhere.
#pragma once

#include <chrono>
#include <cstdint>
#include <string_view>

#include "engine/event.hpp"
#include "verbs/async_event.hpp"
#include "verbs/options.hpp"

namespace weft::verbs::detail {

// One error of the stream of queue pair `qp`: names clause, layer, type, code and octet offset.
void log_stream_error(std::uint32_t qp, const StreamError& error);
// The peer departs from the RFCs in a way that we tolerate. Said once per connection.
void log_remark(std::uint32_t qp, const engine::Remark& remark);
// A Send of the peer waits for a receive (SEC-6.4.4-01). When none comes in time, log_stream_error tells that.
void log_stall(std::uint32_t qp, const engine::ReceiveStalled& stall, std::chrono::milliseconds patience);
void log_startup_failure(const engine::ErrorReport& report, bool retrying);
void log_warning(std::string_view what, std::string_view why);
// What happens on a connection; `number` is its identifier's.
void log_connection(LogLevel level, std::uint64_t number, std::string_view what);
[[nodiscard]] bool log_shows(LogLevel level);

}  // namespace weft::verbs::detail
