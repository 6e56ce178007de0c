// SPDX-License-Identifier: Apache-2.0
// How fast captures are read and their TCP streams put back together: bench/run.sh weft_capture_bench FILE...
// (bench/large_capture.py makes large ones). Prints octets of the file per second; run it beside `capinfos FILE` and
// `tshark -q -z io,stat,0 -r FILE`.
#include <sys/resource.h>

#include <chrono>
#include <cstdio>
#include <filesystem>
#include <variant>

#include "conformance/capture_reader.hpp"
#include "conformance/tcp_connections.hpp"

using namespace weft::conformance;

namespace {

struct Sum {
  std::uint64_t octets = 0;
  std::uint64_t gaps = 0;

  void operator()(const TcpEvent& event) { std::visit(*this, event); }
  void operator()(const TcpOctets& seen) { octets += seen.octets.size(); }
  void operator()(const TcpGap& gap) { gaps += gap.size; }
  void operator()(const auto&) {}
};

double seconds_since(std::chrono::steady_clock::time_point start) {
  return std::chrono::duration<double>(std::chrono::steady_clock::now() - start).count();
}

rusage usage() {
  rusage usage{};
  getrusage(RUSAGE_SELF, &usage);
  return usage;
}

// Returns the processor time: what a clock would show on a machine that does nothing else.
double seconds(const rusage& usage) {
  const auto of = [](const timeval& time) {
    return static_cast<double>(time.tv_sec) + static_cast<double>(time.tv_usec) * 1e-6;
  };
  return of(usage.ru_utime) + of(usage.ru_stime);
}

bool measure(const char* path, bool reassemble) {
  const auto start = std::chrono::steady_clock::now();
  const double worked = seconds(usage());
  auto reader = CaptureReader::open(path);
  if (!reader) {
    std::fprintf(stderr, "%s\n", reader.error().sentence.c_str());
    return false;
  }
  TcpConnections tcp;
  Sum sum;
  std::uint64_t packets = 0;
  for (;;) {
    const auto next = reader->next();
    const auto* packet = std::get_if<Packet>(&next);
    if (packet == nullptr) break;
    ++packets;
    if (!reassemble) continue;
    tcp.take(*packet);
    while (const auto event = tcp.next()) std::visit(sum, event->event);
  }
  tcp.finish();
  while (const auto event = tcp.next()) std::visit(sum, event->event);
  const double cpu = seconds(usage()) - worked;
  const double elapsed = seconds_since(start);
  const auto megabytes = static_cast<double>(std::filesystem::file_size(path)) / 1e6;
  std::printf(
      "%-10s %s: %.0f MB/s (%.2f s), %.0f MB/s of processor time (%.2f s); %llu packets, %llu octets, %llu in gaps\n",
      reassemble ? "reassemble" : "read", path, megabytes / elapsed, elapsed, megabytes / cpu, cpu,
      static_cast<unsigned long long>(packets), static_cast<unsigned long long>(sum.octets),
      static_cast<unsigned long long>(sum.gaps));
  return true;
}

}  // namespace

int main(int argc, char** argv) {
  for (int i = 1; i < argc; ++i) {
    if (!measure(argv[i], false) || !measure(argv[i], true)) return 2;
  }
  std::printf("most memory: %ld MiB\n", usage().ru_maxrss / 1024);
  return 0;
}
