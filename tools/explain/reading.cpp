// SPDX-License-Identifier: Apache-2.0
#include "tools/explain/reading.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>
#include <unistd.h>

#include <algorithm>
#include <cstdio>
#include <filesystem>

#include "conformance/capture_reader.hpp"
#include "explain/model/model_maker.hpp"
#include "explain/tour/tour.hpp"
#include "tools/audit/exit_codes.hpp"
#include "tools/cli/interruption.hpp"
#include "tools/cli/key_log_file.hpp"

namespace weft::tools::explaining {
namespace {

// Returns why there is nothing to explain, of a capture that could be read.
std::string why_nothing(const explain::ModelMaker& maker, const Options& options) {
  if (maker.packets() == 0) return options.file + " has no packets.";
  if (maker.tcp_connections() == 0)
    return fmt::format("no TCP connection in {}: none of its {} packets could be read as TCP.", options.file,
                       maker.packets());
  const std::string sentence =
      fmt::format("no iWARP connection in {}: of its {} TCP connection{} none has an MPA startup frame or FPDUs.",
                  options.file, maker.tcp_connections(), maker.tcp_connections() == 1 ? "" : "s");
  return maker.notes().empty() ? sentence : sentence + ' ' + maker.notes().front();  // of TLS
}

std::optional<Failure> missing_connection(const explain::ModelMaker& maker, const Options& options) {
  const auto& there = maker.iwarp_connections();
  if (!options.connection || std::ranges::find(there, *options.connection) != there.end()) return std::nullopt;
  const std::string those = there.size() == 1 ? "that of the capture is" : "those of the capture are";
  return Failure{
      fmt::format("there is no iWARP connection {}: {} {}.", *options.connection, those, fmt::join(there, ", "))};
}

// The sentence stands in the page, too.
Failure tell(explain::ModelMaker& maker, std::string sentence, ExitCode code) {
  maker.note(sentence);
  return {std::move(sentence), code};
}

std::optional<Failure> wrong_with(explain::ModelMaker& maker, const Options& options,
                                  const std::optional<conformance::CaptureError>& damage) {
  if (damage) return tell(maker, damage->sentence + '.', kUnreadable);
  if (maker.iwarp_connections().empty()) return tell(maker, why_nothing(maker, options), kNoIwarp);
  return missing_connection(maker, options);
}

ReadModel read_tour(const Options& options) {
  explain::ModelMaker maker(std::string(explain::kTourName), {.connection = options.connection});
  explain::play_tour([&](const conformance::Packet& packet) { maker.take(packet); });
  maker.close();
  auto missing = missing_connection(maker, options);
  return {maker.finish(), std::move(missing)};
}

std::string name_of(const Options& options) {
  return options.file == "-" ? "standard input" : std::filesystem::path(options.file).filename().string();
}

void say_where_packets_come_from(const Options& options) {
  if (options.file == "-" && ::isatty(STDERR_FILENO) == 1)
    std::fputs("weft explain: reading packets from the standard input until it ends or ^C.\n", stderr);
}

}  // namespace

Outcome<ReadModel> read_model(const Options& options) {
  if (options.demo) return read_tour(options);
  if (auto caught = catch_interruptions(); !caught) return std::unexpected(caught.error());
  say_where_packets_come_from(options);
  const auto keys = open_key_log(options.keylog, true);
  if (!keys) return std::unexpected(keys.error());
  auto reader = conformance::CaptureReader::open(options.file, &interruption_switch());
  if (!reader) return std::unexpected(Failure{reader.error().sentence + '.', kUnreadable});
  explain::ModelMaker maker(name_of(options), {.connection = options.connection, .keys = keys->get()});
  const auto damage =
      conformance::read_packets(*reader, [&](const conformance::Packet& packet) { maker.take(packet); }, keys->get());
  maker.close();
  auto wrong = wrong_with(maker, options, damage);
  return ReadModel{maker.finish(), std::move(wrong)};
}

}  // namespace weft::tools::explaining
