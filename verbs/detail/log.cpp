// SPDX-License-Identifier: Apache-2.0
#include "verbs/detail/log.hpp"

#include <spdlog/sinks/stdout_sinks.h>
#include <spdlog/spdlog.h>

#include "transport/cancellation.hpp"

namespace weft::verbs {

namespace {

spdlog::logger& logger() {
  // Never destroyed: the progress thread may still have something to say while exit() runs.
  static auto* const instance = [] {
    auto* const made = new spdlog::logger("weft", std::make_shared<spdlog::sinks::stderr_sink_mt>());
    made->set_level(spdlog::level::warn);
    made->set_pattern("%H:%M:%S.%f %n %l: %v");
    made->flush_on(spdlog::level::info);
    return made;
  }();
  return *instance;
}

// For one line: a thread that holds locks is not to be cancelled while it writes it.
class Line {
 public:
  spdlog::logger* operator->() const { return &logger(); }

 private:
  transport::NoCancellation here_;
};

spdlog::level::level_enum to_spdlog(LogLevel level) {
  switch (level) {
    case LogLevel::kTrace: return spdlog::level::trace;
    case LogLevel::kDebug: return spdlog::level::debug;
    case LogLevel::kInfo: return spdlog::level::info;
    case LogLevel::kWarn: return spdlog::level::warn;
    case LogLevel::kError: return spdlog::level::err;
    case LogLevel::kOff: return spdlog::level::off;
  }
  return spdlog::level::warn;
}

std::string_view layer_name(unsigned layer) {
  constexpr std::string_view kNames[] = {"RDMAP", "DDP", "LLP"};
  return layer < std::size(kNames) ? kNames[layer] : "unknown layer";
}

std::string name(const detail::Subject& subject) {
  const std::string peer = subject.peer.to_string();
  return subject.qp == 0 ? "connection with " + peer : fmt::format("queue pair {} with {}", subject.qp, peer);
}

// The start-up itself may also fail for what did not come; then there is no place.
std::string place_of(const engine::ErrorReport& report) {
  if (report.startup_octet) return fmt::format(", at octet {} of its start-up frame", *report.startup_octet);
  if (report.stream_offset > 0) return fmt::format(", at octet {} behind its start-up frame", report.stream_offset);
  return {};
}

}  // namespace

void set_log_level(LogLevel level) { logger().set_level(to_spdlog(level)); }

Result<LogLevel> parse_log_level(std::string_view name) {
  constexpr std::pair<std::string_view, LogLevel> kLevels[] = {{"trace", LogLevel::kTrace}, {"debug", LogLevel::kDebug},
                                                               {"info", LogLevel::kInfo},   {"warn", LogLevel::kWarn},
                                                               {"error", LogLevel::kError}, {"off", LogLevel::kOff}};
  for (const auto& [text, level] : kLevels) {
    if (text == name) return level;
  }
  return fail(Errc::kInvalidArgument, "log level", "not one of trace, debug, info, warn, error, off");
}

namespace detail {

void log_stream_error(const Subject& subject, const StreamError& error) {
  Line()->error("{}: {}: {} [{}] layer {} ({}), type {}, code {:#04x}, at octet {} behind the peer's start-up frame",
                name(subject), error.remote ? "the peer terminated the stream" : "protocol error", error.sentence,
                error.clause.empty() ? "no clause" : error.clause, error.layer, layer_name(error.layer), error.type,
                error.code, error.stream_offset);
}

void log_remark(const Subject& subject, const engine::Remark& remark) {
  Line()->warn("{}: tolerated departure of the peer: {} (octet {} behind its start-up frame)", name(subject),
               remark.sentence, remark.stream_offset);
}

void log_stall(const Subject& subject, const engine::ReceiveStalled& stall, std::chrono::milliseconds patience) {
  if (!logger().should_log(spdlog::level::info)) return;  // else each stall would make a name, on the heap
  Line()->info(
      "{}: a Send found no receive: the stream waits for one, {} ms at most (octet {} behind the peer's start-up "
      "frame)",
      name(subject), patience.count(), stall.stream_offset);
}

void log_startup_failure(const Endpoint& peer, const engine::ErrorReport& report, bool retrying) {
  const auto layer = static_cast<unsigned>(report.layer);
  Line()->log(retrying ? spdlog::level::info : spdlog::level::err,
              "start-up with {} failed: {} [{}] layer {} ({}), type {}, code {:#04x}{}{}", peer.to_string(),
              report.sentence, report.clause, layer, layer_name(layer), report.type, report.code, place_of(report),
              retrying ? "; trying again with MPA revision 1" : "");
}

void log_warning(std::string_view what, std::string_view why) { Line()->warn("{}: {}", what, why); }

void log_connection(LogLevel level, std::uint64_t number, std::string_view what) {
  Line()->log(to_spdlog(level), "connection {}: {}", number, what);
}

}  // namespace detail

void log_line(LogLevel level, std::string_view line) { Line()->log(to_spdlog(level), line); }

bool log_shows(LogLevel level) { return logger().should_log(to_spdlog(level)); }

}  // namespace weft::verbs
