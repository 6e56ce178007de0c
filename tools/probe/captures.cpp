// SPDX-License-Identifier: Apache-2.0
#include "tools/probe/captures.hpp"

#include <filesystem>
#include <system_error>

#include "tools/cli/whole_file.hpp"
#include "transport/pcap_tap.hpp"

namespace weft::tools::probing {
namespace {

using transport::PcapError;
using transport::PcapTap;

std::unexpected<Failure> unwritten(std::string sentence) {
  return std::unexpected(Failure{std::move(sentence), ExitCode::kUnwritten});
}

void put_part(transport::PcapStream& stream, const Part& part) {
  switch (part.kind) {
    case Part::kOctets: return part.from_peer ? stream.received(part.octets) : stream.sent(part.octets);
    case Part::kFin: return part.from_peer ? stream.fin_received() : stream.fin_sent();
    case Part::kReset: return part.from_peer ? stream.rst_received() : stream.rst_sent();
  }
}

Outcome<void> write_capture(const CaseResult& one, const std::string& path) {
  std::string failed;
  auto tap = PcapTap::create(path, [&](const PcapError& error) { failed = error.sentence; });
  if (!tap) return unwritten(tap.error().sentence);
  for (const Exchange& exchange : one.exchanges) {
    auto stream = tap->open(exchange.prober, exchange.peer,
                            exchange.peer_opened ? PcapTap::Opener::kRemote : PcapTap::Opener::kLocal);
    for (const Part& part : exchange.parts) put_part(stream, part);
  }
  if (!failed.empty()) return unwritten(failed);
  return {};
}

Outcome<void> make_folder(const std::string& folder) {
  std::error_code error;
  std::filesystem::create_directory(folder, error);
  if (!error && std::filesystem::is_directory(folder, error)) return {};
  const std::string cause = error ? error.message() : "it is no folder";
  return unwritten("the folder '" + folder + "' for captures cannot be made: " + cause + ".");
}

}  // namespace

std::string capture_name(std::string_view name) {
  std::string safe;
  for (const char c : name) {
    const bool plain =
        (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') || c == '-' || c == '_';
    safe += plain || (c == '.' && !safe.empty()) ? c : '_';
  }
  return safe.substr(0, 200) + ".pcap";
}

Outcome<void> write_captures(const Report& report, const std::string& folder) {
  if (auto made = make_folder(folder); !made) return made;
  for (const CaseResult& one : report.cases) {
    if (one.exchanges.empty()) continue;
    const auto path = std::filesystem::path(folder) / capture_name(one.what->name);
    auto written = replace_file(path.string(), [&](const std::string& name) { return write_capture(one, name); });
    if (!written) return written;
  }
  return {};
}

}  // namespace weft::tools::probing
