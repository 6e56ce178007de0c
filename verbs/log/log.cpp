// SPDX-License-Identifier: Apache-2.0
#include "verbs/log/log.hpp"

#include <spdlog/fmt/fmt.h>

#include <string>
#include <utility>

#include "rdmap/text.hpp"
#include "verbs/log/log_output.hpp"

namespace weft::verbs {

namespace {

using detail::LogKind;

std::string name(const detail::Subject& subject) {
  const std::string peer = subject.peer.to_string();
  return subject.qp == 0 ? "connection with " + peer : fmt::format("queue pair {} with {}", subject.qp, peer);
}

// The startup itself may also fail for what did not come; then there is no place.
std::string place_of(const engine::ErrorReport& report) {
  if (report.startup_octet) return fmt::format(", at octet {} of its startup frame", *report.startup_octet);
  if (report.stream_offset > 0) return fmt::format(", at octet {} after its startup frame", report.stream_offset);
  return {};
}

}  // namespace

Result<LogLevel> parse_log_level(std::string_view name) {
  constexpr std::pair<std::string_view, LogLevel> kLevels[] = {{"debug", LogLevel::kDebug},
                                                               {"info", LogLevel::kInfo},
                                                               {"warn", LogLevel::kWarn},
                                                               {"error", LogLevel::kError},
                                                               {"off", LogLevel::kOff}};
  for (const auto& [text, level] : kLevels) {
    if (text == name) return level;
  }
  return fail(Errc::kInvalidArgument, "log level", "not one of debug, info, warn, error, off");
}

namespace detail {

void log_stream_error(const Subject& subject, const StreamError& error) {
  log_if_admitted(LogKind::kStreamError, LogLevel::kError, [&] {
    return fmt::format("{}: {}: {} [{}] {}, at octet {} after the peer's startup frame", name(subject),
                       error.remote ? "the peer terminated the stream" : "protocol error", error.sentence,
                       error.clause.empty() ? "no clause" : error.clause,
                       rdmap::text_with_layer({static_cast<rdmap::Layer>(error.layer), error.type, error.code}),
                       error.stream_offset);
  });
}

void log_remark(const Subject& subject, const engine::Remark& remark) {
  log_if_admitted(LogKind::kRemark, LogLevel::kWarn, [&] {
    return fmt::format("{}: tolerated deviation of the peer: {} (octet {} after its startup frame)", name(subject),
                       remark.sentence, remark.stream_offset);
  });
}

void log_stall(const Subject& subject, const engine::ReceiveStalled& stall, std::chrono::milliseconds patience) {
  log_if_admitted(LogKind::kStall, LogLevel::kInfo, [&] {
    return fmt::format(
        "{}: a Send found no receive: the stream waits for one, {} ms at most (octet {} after the peer's startup "
        "frame)",
        name(subject), patience.count(), stall.stream_offset);
  });
}

// Any host that can connect can make a startup fail: one in ten seconds stands for all, unless more are asked for.
void log_startup_failure(const Endpoint& peer, const engine::ErrorReport& report, FailedStartup which,
                         std::string_view because) {
  const auto line = [&] {
    return fmt::format("startup with {} failed: {}{}{} [{}] {}{}{}", peer.to_string(), because,
                       because.empty() ? "" : "; ", report.sentence, report.clause,
                       rdmap::text_with_layer(report.error()), place_of(report),
                       which == FailedStartup::kTriedWithRevision1 ? "; trying again with MPA revision 1"
                       : which == FailedStartup::kTriedByTcp       ? "; trying again without shared memory"
                                                                   : "");
  };
  switch (which) {
    case FailedStartup::kOurs: return log_if_admitted(LogKind::kOwnStartup, LogLevel::kError, line);
    case FailedStartup::kTriedWithRevision1:
    case FailedStartup::kTriedByTcp: return log_if_admitted(LogKind::kConnection, LogLevel::kInfo, line);
    case FailedStartup::kPeers: break;
  }
  const bool stands_for_all = log_takes(LogKind::kPeersStartup, LogLevel::kWarn);
  if (stands_for_all || log_takes(LogKind::kPeersStartupDetail, LogLevel::kInfo)) {
    return log_if_admitted(LogKind::kUnbounded, stands_for_all ? LogLevel::kWarn : LogLevel::kInfo, line);
  }
  log_withholds(LogKind::kPeersStartup, LogLevel::kWarn);
}

void log_lost(const Subject& subject, const std::error_code& error) {
  log_if_admitted(LogKind::kStreamError, LogLevel::kError,
                  [&] { return fmt::format("{}: the connection is lost: {}", name(subject), error.message()); });
}

void log_warning(std::string_view what, std::string_view why) {
  log_if_admitted(LogKind::kWarning, LogLevel::kWarn, [&] { return fmt::format("{}: {}", what, why); });
}

void log_connection(LogLevel level, std::uint64_t number, std::string_view what) {
  log_if_admitted(level == LogLevel::kInfo ? LogKind::kConnection : LogKind::kUnbounded, level,
                  [&] { return fmt::format("connection {}: {}", number, what); });
}

}  // namespace detail

}  // namespace weft::verbs
