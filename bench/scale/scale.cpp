// SPDX-License-Identifier: Apache-2.0
// What connections cost in number: scale [--quick] [--only WHAT] [JSON]
//
//   memory      octets per idle connection, at both ends, with 1,000 and 10,000 of them
//   idle        processor time of two devices with 1,000 idle connections each
//   setup       connections made and taken down per second, MPA revision 2 included, beside TCP's
//   bandwidth   octets per second with 1, 16 and 256 of 10,000 connections active, beside TCP
//
// Client and server are processes of their own. weft and TCP take turns. The JSON has every figure; the table has
// medians.
#include <algorithm>
#include <functional>
#include <set>

#include "bench/scale/raw_ends.hpp"
#include "bench/scale/weft_ends.hpp"
#include "common/json.hpp"
#include "tools/bench/statistics.hpp"

namespace {

using weft::tools::bench::median;
using namespace weft::scale;

constexpr std::size_t kWarm = 16;  // connections before the first look at memory: buffers and tables that all share
constexpr double kStartupDeadlines = 11;  // seconds after which no timeout of a startup is pending any more

// Octets per connection between two looks.
Memory per_connection(const Memory& before, const Memory& after, std::size_t connections) {
  const auto each = static_cast<double>(connections);
  return {(after.heap - before.heap) / each, (after.anonymous - before.anonymous) / each};
}

// `look` is called at both ends when nothing moves: before and after the connections, and after they were used.
Figures measure_memory(std::size_t count, double idle_seconds) {
  const auto wait_idle = [idle_seconds](const Line& line, Work& idle) {
    if (idle_seconds == 0) return;
    line.meet();
    usleep(static_cast<useconds_t>(kStartupDeadlines * 1e6));
    const Work before = work_now();
    usleep(static_cast<useconds_t>(idle_seconds * 1e6));
    const Work after = work_now();
    idle = {after.cpu - before.cpu, after.switches - before.switches - 1};  // less our own sleep
  };
  return run(
      [&](const Line& line, Figures& figures) {
        WeftServer server(figures);
        line.meet();
        server.serve(kWarm, line);
        line.meet();
        const Memory before = memory_now();
        const double slab = kibibytes("/proc/meminfo", "Slab:");
        line.meet();
        server.serve(kWarm + count, line);
        line.meet();
        figures.per_connection[1] = per_connection(before, memory_now(), count);
        figures.slab = (kibibytes("/proc/meminfo", "Slab:") - slab) * 1024 / static_cast<double>(count);
        line.meet();
        server.answer_all();
        line.meet();
        figures.after_use[1] = per_connection(before, memory_now(), count);
        wait_idle(line, figures.idle[1]);
        line.meet();
        leave();
      },
      [&](const Line& line, Figures& figures) {
        line.meet();
        WeftClient client(figures);
        client.connect(kWarm, 1, true);
        line.meet();
        const Memory before = memory_now();
        line.meet();
        client.connect(count, 16, true);
        line.meet();
        figures.per_connection[0] = per_connection(before, memory_now(), count);
        line.meet();
        client.exchange_all();
        line.meet();
        figures.after_use[0] = per_connection(before, memory_now(), count);
        wait_idle(line, figures.idle[0]);
        line.meet();
        leave();
      });
}

// Switches and processor time: the client's of the `count` connections, the server's of its whole life.
template <typename Server, typename Client>
Figures measure_setup(std::size_t count, std::size_t in_flight) {
  return run(
      [](const Line& line, Figures& figures) {
        Server server(figures);
        line.meet();
        if constexpr (requires { server.serve(line); }) server.serve(line);
        if constexpr (requires { server.serve(0, line); }) server.serve(0, line);
        figures.setup[1] = work_now();
      },
      [=](const Line& line, Figures& figures) {
        line.meet();
        Client client(figures);
        client.connect(kWarm, 1, false);
        const double begun = now();
        const Work before = work_now();
        client.connect(count, in_flight, false);
        figures.rate = static_cast<double>(count) / (now() - begun);
        const Work after = work_now();
        figures.setup[0] = {after.cpu - before.cpu, after.switches - before.switches};
        line.tell();
      });
}

template <typename Server, typename Client>
double measure_bandwidth(std::size_t connections, std::size_t active, double seconds) {
  return run(
             [](const Line& line, Figures& figures) {
               Server server(figures);
               line.meet();
               if constexpr (requires { server.serve(line); }) server.serve(line);
               if constexpr (requires { server.serve(0, line); }) server.serve(0, line);
               leave();
             },
             [=](const Line& line, Figures& figures) {
               line.meet();
               Client client(figures);
               client.connect(connections, 16, true);
               figures.rate = client.write_for(active, seconds);
               line.tell();
               leave();
             })
      .rate;
}

// --- Results

struct Row {
  std::string name{};
  std::string unit{};
  double value{};
  std::string target{};  // empty: none
  bool met = true;
};

class Report {
 public:
  void add(Row row) {
    std::printf("%-58s %12.4g %-12s %s\n", row.name.c_str(), row.value, row.unit.c_str(),
                row.target.empty() ? "" : (row.target + (row.met ? ": met" : ": NOT MET")).c_str());
    std::fflush(stdout);
    rows_.push_back(std::move(row));
  }
  void write(const char* path) const {
    std::FILE* out = std::fopen(path, "w");
    need(out != nullptr, path);
    weft::JsonWriter json;
    json.put("program", "bench/scale").put("queue_depth", kDepth).begin_array("rows");
    for (const Row& row : rows_) {
      json.begin_object().put("name", row.name).put("value", row.value).put("unit", row.unit);
      if (!row.target.empty()) json.put("target", row.target).put("met", row.met);
      json.end();
    }
    std::fputs(json.finish().c_str(), out);
    std::fclose(out);
  }

 private:
  std::vector<Row> rows_;
};

void report_memory(Report& report, std::size_t count) {
  constexpr double kMost = 8192;
  const auto n = std::to_string(count);
  const Figures seen = measure_memory(count, 0);
  const auto add = [&](const std::array<Memory, 2>& ends, const std::string& when) {
    const double heap = ends[0].heap + ends[1].heap;
    const double resident = ends[0].anonymous + ends[1].anonymous;
    report.add({"memory: heap of both ends, " + n + ", " + when, "octets", heap, "<= 8192", heap <= kMost});
    report.add({"memory: of these the client's", "octets", ends[0].heap});
    report.add({"memory: resident, both ends, " + n + ", " + when, "octets", resident, "<= 8192", resident <= kMost});
  };
  add(seen.per_connection, "established");
  add(seen.after_use, "after a message each way");
  report.add({"memory: slabs of the kernel, " + n, "octets", seen.slab});
}

void report_idle(Report& report) {
  const Figures seen = measure_memory(1000, 5);
  for (std::size_t end = 0; end < 2; ++end) {
    const std::string who = end == 0 ? "client" : "server";
    const Work& idle = seen.idle[end];
    report.add({"idle: processor time in 5 s, 1000 connections, " + who, "ms", idle.cpu * 1e3, "0", idle.cpu < 0.5e-3});
    report.add({"idle: wake-ups in 5 s, " + who, "", idle.switches, "0", idle.switches == 0});
  }
}

// weft and TCP in turns; the ratio is the median of the turns' ratios.
void report_turns(Report& report, const std::string& name, const std::string& unit, double scale, int turns,
                  double least, const std::function<double()>& weft, const std::function<double()>& tcp) {
  std::vector<double> ours, theirs, ratios;
  for (int turn = 0; turn < turns; ++turn) {
    ours.push_back(weft() * scale);
    theirs.push_back(tcp() * scale);
    ratios.push_back(ours.back() / theirs.back());
  }
  const double ratio = median(ratios);
  char target[32];
  std::snprintf(target, sizeof target, ">= %.1f", least);
  report.add({name + ", weft", unit, median(ours)});
  report.add({name + ", TCP", unit, median(theirs)});
  report.add({name + ", ratio", "x", ratio, target, ratio >= least});
}

// Beside connect, accept and close, of which a client waits for none but its own half; and beside the same with an
// octet each way and a close that is waited for, which has as many hand-offs as weft's.
void report_setup(Report& report, std::size_t count, std::size_t in_flight, int turns) {
  const std::string name = "setup: connections, " + std::to_string(in_flight) + " in flight";
  std::vector<double> ours, bare, talking, ratios, fair;
  Figures weft, tcp;
  for (int turn = 0; turn < turns; ++turn) {
    weft = measure_setup<WeftServer, WeftClient>(count, in_flight);
    ours.push_back(weft.rate);
    bare.push_back(measure_setup<RawServer, RawClient>(count, in_flight).rate);
    tcp = measure_setup<TalkingServer, TalkingClient>(count, in_flight);
    talking.push_back(tcp.rate);
    ratios.push_back(ours.back() / bare.back());
    fair.push_back(ours.back() / talking.back());
  }
  report.add({name + ", weft", "/s", median(ours)});
  report.add({name + ", TCP connect and close", "/s", median(bare)});
  report.add({name + ", TCP with an octet each way", "/s", median(talking)});
  report.add({name + ", ratio", "x", median(ratios), ">= 0.5", median(ratios) >= 0.5});
  report.add({name + ", ratio to TCP with an octet each way", "x", median(fair)});
  const auto each = [&](const std::string& who, const Figures& seen, std::size_t end, std::size_t connections) {
    const auto n = static_cast<double>(connections);
    report.add({name + ", times asleep, " + who, "each", seen.setup[end].switches / n});
    report.add({name + ", processor time, " + who, "us each", seen.setup[end].cpu / n * 1e6});
  };
  each("weft's client", weft, 0, count), each("weft's server", weft, 1, count + kWarm);
  each("that TCP's client", tcp, 0, count), each("that TCP's server", tcp, 1, count + kWarm);
}

}  // namespace

int main(int argc, char** argv) {
  bool quick = false;
  std::set<std::string_view> only;
  const char* json = nullptr;
  for (int i = 1; i < argc; ++i) {
    const std::string_view argument = argv[i];
    if (argument == "--quick")
      quick = true;
    else if (argument == "--only" && i + 1 < argc)
      only.insert(argv[++i]);
    else
      json = argv[i];
  }
  rlimit descriptors{};
  getrlimit(RLIMIT_NOFILE, &descriptors);
  descriptors.rlim_cur = descriptors.rlim_max;
  setrlimit(RLIMIT_NOFILE, &descriptors);
  const std::size_t most = std::min<std::size_t>(quick ? 1000 : 10000, descriptors.rlim_max - 100);
  const int turns = quick ? 1 : 5;
  const auto wanted = [&](std::string_view what) { return only.empty() || only.contains(what); };

  Report report;
  if (wanted("memory")) {
    report_memory(report, 1000);
    if (most > 1000) report_memory(report, most);
  }
  if (wanted("idle")) report_idle(report);
  for (const std::size_t in_flight : {1UL, 16UL, 64UL}) {
    if (!wanted("setup")) break;
    const std::size_t count = quick ? 500 : 2000;
    report_setup(report, count, in_flight, turns);
  }
  for (const std::size_t active : {1UL, 16UL, 256UL}) {
    if (!wanted("bandwidth")) break;
    const double seconds = quick ? 0.5 : 2;
    report_turns(
        report, "bandwidth: " + std::to_string(active) + " of " + std::to_string(most) + " active", "GB/s", 1e-9,
        quick ? 1 : 3, 0.8, [=] { return measure_bandwidth<WeftServer, WeftClient>(most, active, seconds); },
        [=] { return measure_bandwidth<RawServer, RawClient>(most, active, seconds); });
  }
  if (json != nullptr) report.write(json);
  return 0;
}
