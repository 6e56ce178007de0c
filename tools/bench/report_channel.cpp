// SPDX-License-Identifier: Apache-2.0
#include "tools/bench/report_channel.hpp"

#include "tools/cli/child_process.hpp"

namespace weft::tools::bench {
namespace {

struct Head {
  bool pinned{};
  bool tcp_sleeps{};
  std::uint64_t rivals{};
  std::uint64_t allocations{};
};

struct SeriesHead {
  std::uint64_t messages{};
  std::uint64_t figures{};
  std::uint64_t samples{};
};

Outcome<void> tell_text(int channel, const std::string& text) {
  if (auto told = tell(channel, std::uint64_t{text.size()}); !told) return told;
  return write_exactly(channel, text.data(), text.size());
}

Outcome<void> hear_text(int channel, std::string& text) {
  const auto size = hear<std::uint64_t>(channel);
  if (!size) return std::unexpected(size.error());
  text.resize(*size);
  return read_exactly(channel, text.data(), text.size());
}

Outcome<void> tell_numbers(int channel, const std::vector<double>& numbers) {
  return write_exactly(channel, numbers.data(), numbers.size() * sizeof(double));
}

Outcome<void> hear_numbers(int channel, std::vector<double>& numbers, std::size_t count) {
  numbers.resize(count);
  return read_exactly(channel, numbers.data(), count * sizeof(double));
}

Outcome<void> tell_series(int channel, const Series& series) {
  const SeriesHead head{series.messages, series.figures.size(), series.latency_us.size()};
  if (auto told = tell(channel, head); !told) return told;
  if (auto told = tell_numbers(channel, series.figures); !told) return told;
  return tell_numbers(channel, series.latency_us);
}

Outcome<void> hear_series(int channel, Series& series) {
  const auto head = hear<SeriesHead>(channel);
  if (!head) return std::unexpected(head.error());
  series.messages = head->messages;
  if (auto heard = hear_numbers(channel, series.figures, head->figures); !heard) return heard;
  return hear_numbers(channel, series.latency_us, head->samples);
}

Outcome<void> tell_rival(int channel, const RivalSeries& rival) {
  if (auto told = tell_text(channel, rival.name); !told) return told;
  if (auto told = tell_text(channel, rival.reason); !told) return told;
  return tell_series(channel, rival.series);
}

Outcome<void> hear_rival(int channel, RivalSeries& rival) {
  if (auto heard = hear_text(channel, rival.name); !heard) return heard;
  if (auto heard = hear_text(channel, rival.reason); !heard) return heard;
  return hear_series(channel, rival.series);
}

}  // namespace

Outcome<void> tell_report(int channel, const Report& report) {
  if (auto told = tell(channel, Head{report.pinned, report.tcp_sleeps, report.rivals.size(), report.allocations});
      !told)
    return told;
  if (auto told = tell_series(channel, report.weft); !told) return told;
  if (auto told = tell_series(channel, report.tcp); !told) return told;
  for (const RivalSeries& rival : report.rivals) {
    if (auto told = tell_rival(channel, rival); !told) return told;
  }
  return {};
}

Outcome<Report> hear_report(int channel, const Options& options) {
  const auto head = hear<Head>(channel);
  if (!head) return std::unexpected(head.error());
  Report report{
      .options = options, .pinned = head->pinned, .tcp_sleeps = head->tcp_sleeps, .allocations = head->allocations};
  report.rivals.resize(head->rivals);
  if (auto heard = hear_series(channel, report.weft); !heard) return std::unexpected(heard.error());
  if (auto heard = hear_series(channel, report.tcp); !heard) return std::unexpected(heard.error());
  for (RivalSeries& rival : report.rivals) {
    if (auto heard = hear_rival(channel, rival); !heard) return std::unexpected(heard.error());
  }
  return report;
}

}  // namespace weft::tools::bench
