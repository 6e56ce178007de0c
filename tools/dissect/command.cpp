// SPDX-License-Identifier: Apache-2.0
// `weft dissect`: every startup frame and FPDU of a capture, field by field.
#include <fmt/format.h>

#include <cstdio>
#include <map>
#include <memory>
#include <optional>
#include <string>

#include "conformance/capture_reader.hpp"
#include "conformance/dissection.hpp"
#include "conformance/tcp_connections.hpp"
#include "conformance/walk.hpp"
#include "tools/audit/exit_codes.hpp"
#include "tools/audit/report.hpp"
#include "tools/cli/command.hpp"
#include "tools/cli/json.hpp"

namespace weft::tools {
namespace {

using conformance::Field;

constexpr const char* kDissectDescription =
    "Takes a capture apart: every MPA startup frame and every FPDU with each field of MPA, DDP and RDMAP, where it "
    "lies and what it means. Judges nothing (weft audit does).";

constexpr const char* kDissectFooter =
    "Examples:\n"
    "  weft dissect trace.pcap                 all of it\n"
    "  weft dissect --packet 17 trace.pcap     what ends in that packet (Wireshark's number)\n"
    "  weft dissect --json trace.pcap          one JSON object a line, with bits on their own and Wireshark's names\n"
    "\n"
    "Exit codes: 0 shown, 2 the capture could not be read or the command line was wrong, 3 no iWARP in it.";

struct DissectOptions {
  std::string file{};
  bool json{};
  std::optional<std::size_t> connection{};
  std::optional<std::uint64_t> packet{};
};

class Printer {
 public:
  explicit Printer(const DissectOptions& options) : options_(options) {}

  void show(std::size_t connection, const conformance::Seen& seen) {
    if (options_.connection && *options_.connection != connection) return;
    if (const auto* frame = std::get_if<conformance::StartupSeen>(&seen)) {
      put(connection, frame->piece, "startup frame", conformance::dissect(*frame));
    } else if (const auto* fpdu = std::get_if<conformance::FpduSeen>(&seen)) {
      put(connection, fpdu->piece, fmt::format("FPDU {}", fpdu->number), conformance::dissect(*fpdu));
    } else if (const auto* lost = std::get_if<conformance::LostSeen>(&seen)) {
      remark(connection, lost->from, lost->place.packet,
             lost->reason == conformance::LossReason::kCaptureGap ? "octets are missing from the capture"
                                                                  : "what follows is no FPDU");
    } else if (const auto* resumed = std::get_if<conformance::ResumedSeen>(&seen)) {
      remark(connection, resumed->from, resumed->place.packet,
             fmt::format("FPDUs again, {} octets later", resumed->skipped));
    }
  }

 private:
  [[nodiscard]] bool wanted(std::uint64_t first, std::uint64_t last) const noexcept {
    return !options_.packet || (first <= *options_.packet && *options_.packet <= last);
  }

  void put(std::size_t connection, const conformance::Piece& piece, const std::string& what,
           const std::vector<Field>& fields) {
    if (!wanted(piece.first.packet, piece.last.packet)) return;
    if (options_.json) return put_json(connection, piece, what, fields);
    const std::string packets = piece.first.packet == piece.last.packet
                                    ? fmt::format("packet {}", piece.last.packet)
                                    : fmt::format("packets {} to {}", piece.first.packet, piece.last.packet);
    fmt::print("connection {}, {}: {} of the {}, {} octets from octet {}\n", connection, packets, what,
               audit::who(piece.from), piece.octets.size(), piece.first.octet);
    for (const Field& field : fields) {
      if (field.size == 0) continue;  // bits; the meaning of their octets tells them
      fmt::print("  {:6} {:>6}  {:28} {}{}{}\n", field.name.layer, fmt::format("+{}", field.at), field.name.name,
                 field.value, field.meaning.empty() ? "" : "  ", field.meaning);
    }
  }

  void put_json(std::size_t connection, const conformance::Piece& piece, const std::string& what,
                const std::vector<Field>& fields) {
    std::string line = fmt::format(
        R"({{"connection":{},"direction":"{}","what":"{}","first_packet":{},"packet":{},"offset":{},"stream_offset":{},"octets":{},"fields":[)",
        connection, audit::who(piece.from), what, piece.first.packet, piece.last.packet, piece.first.octet,
        piece.stream_offset, piece.octets.size());
    for (const Field& field : fields) {
      line += fmt::format(R"({}{{"at":{},"size":{},"layer":"{}","name":"{}","filter":"{}","value":{},"meaning":{}}})",
                          line.back() == '[' ? "" : ",", field.at, field.size, field.name.layer, field.name.name,
                          field.name.filter, json_quote(field.value), json_quote(field.meaning));
    }
    fmt::print("{}]}}\n", line);
  }

  void remark(std::size_t connection, conformance::Direction from, std::uint64_t packet, const std::string& sentence) {
    if (!wanted(packet, packet)) return;
    if (options_.json) {
      fmt::print("{{\"connection\":{},\"direction\":\"{}\",\"what\":\"remark\",\"packet\":{},\"remark\":{}}}\n",
                 connection, audit::who(from), packet, json_quote(sentence));
    } else {
      fmt::print("connection {}, packet {}: {} of the {}\n", connection, packet, sentence, audit::who(from));
    }
  }

  const DissectOptions& options_;
};

// Each TCP connection through a walk of its own. True when one of them spoke iWARP.
class Connections {
 public:
  explicit Connections(Printer& printer) : printer_(printer) {}

  void take(const conformance::Packet& packet) {
    tcp_.take(packet);
    drain();
  }
  void finish() {
    tcp_.finish();
    drain();
  }
  [[nodiscard]] bool any() const noexcept { return any_; }

 private:
  void drain() {
    while (const auto event = tcp_.next()) {
      auto& walk = walks_[event->connection];
      if (const auto* tcp = std::get_if<conformance::TcpEvent>(&event->event)) {
        walk.feed(*tcp);
        show(event->connection, walk);
      } else {
        walk.finish();
        show(event->connection, walk);
        any_ = any_ || walk.iwarp();
        walks_.erase(event->connection);
      }
    }
  }
  void show(std::size_t connection, conformance::Walk& walk) {
    while (const auto seen = walk.next()) printer_.show(connection, *seen);
  }

  Printer& printer_;
  conformance::TcpConnections tcp_{};
  std::map<std::size_t, conformance::Walk> walks_{};
  bool any_ = false;
};

Outcome<void> run_dissect(const DissectOptions& options) {
  auto reader = conformance::CaptureReader::open(options.file);
  if (!reader) return std::unexpected(Failure{reader.error().sentence, kUnreadable});
  Printer printer(options);
  Connections connections(printer);
  const auto damage =
      conformance::read_packets(*reader, [&](const conformance::Packet& packet) { connections.take(packet); });
  connections.finish();
  if (damage) return std::unexpected(Failure{damage->sentence, kUnreadable});
  if (!connections.any()) return std::unexpected(Failure{"no iWARP connection in " + options.file + ".", kNoIwarp});
  return {};
}

}  // namespace

void add_dissect_command(CLI::App& app, Selection& selection) {
  auto options = std::make_shared<DissectOptions>();
  CLI::App* dissect = app.add_subcommand("dissect", kDissectDescription);
  dissect->footer(kDissectFooter);
  dissect
      ->add_option("FILE", options->file,
                   "The capture: pcap or pcapng, also compressed by gzip, zstd or xz; - is the standard input")
      ->required();
  dissect->add_flag("--json", options->json, "One JSON object a line, for each frame and FPDU");
  dissect->add_option("--connection", options->connection, "This connection alone, as weft audit numbers them")
      ->type_name("N");
  dissect->add_option("--packet", options->packet, "What lies in this packet, as Wireshark numbers them")
      ->type_name("N");
  dissect->callback(
      [&selection, options] { selection.run = [options](const GlobalOptions&) { return run_dissect(*options); }; });
}

}  // namespace weft::tools
