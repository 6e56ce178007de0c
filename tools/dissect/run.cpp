// SPDX-License-Identifier: Apache-2.0
// A file is read twice, for the ladders and then for the fields: a ladder tells of what comes later, and nothing has to
// be kept for it. What can be read only once has each line of the ladder as a heading of the fields.
#include "tools/dissect/run.hpp"

#include <fmt/format.h>
#include <unistd.h>

#include <cstdio>
#include <filesystem>
#include <string>

#include "common/json.hpp"
#include "conformance/capture_reader.hpp"
#include "tools/audit/exit_codes.hpp"
#include "tools/audit/progress.hpp"
#include "tools/audit/tls_words.hpp"
#include "tools/cli/interruption.hpp"
#include "tools/cli/key_log_file.hpp"
#include "tools/cli/whole_file.hpp"
#include "tools/cli/wrap.hpp"
#include "tools/dissect/datagrams.hpp"
#include "tools/dissect/fields_view.hpp"
#include "tools/dissect/overview.hpp"

namespace weft::tools::dissect {
namespace {

// What one reading of the capture is for.
struct Purpose {
  bool ladders{};
  bool fields{};
  bool live{};  // there is no other reading
};

class Pass {
 public:
  Pass(const Options& options, const Palette& palette, const Purpose& purpose, conformance::KeyLog* keys,
       std::FILE* out)
      : options_(options),
        keys_(keys),
        out_(out),
        purpose_(purpose),
        progress_(purpose.ladders || ::isatty(STDOUT_FILENO) == 0),
        overview_({{palette, text_width(STDOUT_FILENO)}, options.all, purpose.live},
                  [this](const std::string& text) { print(text); }),
        fields_({palette, !options.json.empty(), options.explain}, wanted_,
                [this](const std::string& text) { print(text); }),
        datagrams_({palette, purpose.ladders, options.all, purpose.live, purpose.fields, !options.json.empty(),
                    options.explain},
                   wanted_, [this](const std::string& text) { print(text); }) {}

  // Returns what is wrong with the capture, or that there is nothing to show.
  Outcome<void> read(const conformance::StopSwitch& stop) {
    auto reader = conformance::CaptureReader::open(options_.file, &stop);
    if (!reader) return std::unexpected(Failure{reader.error().sentence + '.', kUnreadable});
    const auto damage =
        conformance::read_packets(*reader, [&](const conformance::Packet& packet) { take(packet, *reader); }, keys_);
    reading_.finish();
    datagrams_.finish();
    progress_.clear();
    if (damage) return std::unexpected(Failure{damage->sentence + '.', kUnreadable});
    if (auto hidden = why_hidden(); !hidden) return hidden;
    if (auto why = wanted_.nothing_found()) return failure(std::move(*why));
    return {};
  }

 private:
  // What was not decrypted though its secrets are known was not read.
  [[nodiscard]] Outcome<void> why_hidden() const {
    const auto& tls = reading_.tls();
    const std::string which =
        tls ? "connection " + std::to_string(tls->info.number) + " is " + audit::in_words(tls->facts, reading_.iwarp())
            : "";
    if (tls && tls->facts.keyed && !tls->facts.hidden.empty())
      return std::unexpected(Failure{options_.file + ": " + which + ".", kUnreadable});
    if (reading_.iwarp() || datagrams_.count() != 0) return {};
    const std::string more = tls ? " (" + which + ")" : "";
    return std::unexpected(Failure{"no iWARP connection in " + options_.file + more + ".", kNoIwarp});
  }

  void take(const conformance::Packet& packet, const conformance::CaptureReader& reader) {
    wanted_.note(packet);
    overview_.note(packet);
    reading_.take(packet);
    datagrams_.take(packet);
    progress_.tell(reader);
    if (purpose_.live) std::fflush(out_);  // the next packet may be long in coming
  }

  void print(const std::string& text) {
    progress_.clear();
    std::fputs(text.c_str(), out_);
  }

  void show(const Watched& watched, const conformance::Seen& seen) {
    if (!wanted_.connection(watched.connection)) return;
    if (purpose_.ladders) overview_.take(watched, seen);
    if (purpose_.fields) fields_.take(watched, seen);
  }

  const Options& options_;
  conformance::KeyLog* keys_;
  std::FILE* out_;
  Purpose purpose_;
  audit::Progress progress_;
  Wanted wanted_{options_.asked};
  Overview overview_;
  FieldsView fields_;
  Datagrams datagrams_;
  Reading reading_{{.segment = [this](const Watched& watched, const auto& segment) { wanted_.note(watched, segment); },
                    .seen = [this](const Watched& watched, const conformance::Seen& seen) { show(watched, seen); },
                    .over =
                        [this](const Watched& watched) {
                          wanted_.note_over(watched);
                          if (purpose_.ladders) overview_.over(watched);
                        }},
                   keys_};
};

void say_where_packets_come_from(const Options& options) {
  if (options.file == "-" && ::isatty(STDERR_FILENO) == 1)
    std::fputs("weft dissect: reading packets from the standard input until it ends or ^C.\n", stderr);
}

Outcome<void> show(const Options& options, const Palette& palette, std::FILE* out) {
  const conformance::StopSwitch& stop = interruption_switch();
  std::error_code ignored;
  const bool once = options.file == "-" || !std::filesystem::is_regular_file(options.file, ignored);
  const bool both = options.wants_ladders() && options.wants_fields();
  say_where_packets_come_from(options);
  const auto keys = open_key_log(options.keylog, !once);
  if (!keys) return std::unexpected(keys.error());
  if (!both || once) {
    Pass only(options, palette, {options.wants_ladders(), options.wants_fields(), once}, keys->get(), out);
    return only.read(stop);
  }
  const auto ladders = Pass(options, palette, {true, false, false}, keys->get(), out).read(stop);
  // What can be read of a damaged capture is shown.
  const bool worth_it = ladders || ladders.error().code == kUnreadable;
  if (!worth_it || stop.stopped()) return ladders;
  return Pass(options, palette, {false, true, false}, keys->get(), out).read(stop);
}

}  // namespace

Outcome<void> run(const Options& options, const Palette& palette) {
  if (auto caught = catch_interruptions(); !caught) return caught;
  if (options.json.empty() || options.json == "-") return show(options, palette, stdout);
  Outcome<void> shown;
  const auto written = fill_file(options.json, Readers::kOwner, [&](std::FILE* out) {
    shown = show(options, palette, out);
    if (!shown && std::ftell(out) == 0)
      fmt::print(out, "{}\n", JsonWriter(JsonForm::kCompact).put("error", shown.error().sentence).finish());
  });
  return written ? shown : written;
}

}  // namespace weft::tools::dissect
