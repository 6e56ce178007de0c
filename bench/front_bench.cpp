// SPDX-License-Identifier: Apache-2.0
// What the C++ interface costs over verbs: round trips of 64 octets on one connection, and posted writes, by each in
// turn, so that both meet the same machine. weft_front_bench [ROUNDS]
#include <array>
#include <chrono>
#include <cstdio>
#include <cstdlib>
#include <thread>
#include <utility>
#include <vector>

#include "tools/bench/statistics.hpp"
#include "verbs/verbs.hpp"
#include "weft/weft.hpp"

namespace {

using weft::tools::bench::median;
using namespace std::chrono_literals;
using namespace weft::verbs;

constexpr int kExchanges = 2000;

struct End {
  explicit End(weft::Connection of) : connection(std::move(of)) {}
  weft::Connection connection;
  std::array<std::byte, 64> out{}, in{};
  weft::Region source = connection.register_memory(out).value();
  weft::Region sink = connection.register_memory(in, Access::kLocalWrite | Access::kRemoteWrite).value();
  Sge from = source.all().sge().value(), into = sink.all().sge().value();

  void wait() {
    std::array<WorkCompletion, 1> done;
    if (!connection.completion_queue().wait(done, 10s) || done[0].status != WcStatus::kSuccess) std::abort();
  }
  void send(bool front) {
    if (front) return connection.send(source, 10s).value();
    connection.queue_pair()
        .post_send({.opcode = SendOpcode::kSend, .flags = SendFlags::kSignaled, .segments = {&from, 1}})
        .value();
    wait();
  }
  void receive(bool front) {
    if (front) return static_cast<void>(connection.receive(sink, 10s).value());
    connection.queue_pair().post_receive({.segments = {&into, 1}}).value();
    wait();
  }
  void write(bool front, const weft::RemoteRegion& to) {
    if (front) {
      connection.write(source, to, weft::Post{}).value();
    } else {
      connection.queue_pair()
          .post_send({.opcode = SendOpcode::kRdmaWrite,
                      .flags = SendFlags::kSignaled,
                      .segments = {&from, 1},
                      .remote_address = to.address,
                      .rkey = to.rkey})
          .value();
    }
    wait();
  }
};

template <typename Work>
double microseconds(Work work) {
  const auto start = std::chrono::steady_clock::now();
  for (int i = 0; i < kExchanges; ++i) work();
  return std::chrono::duration<double, std::micro>(std::chrono::steady_clock::now() - start).count() / kExchanges;
}

void report(const char* what, const std::array<std::vector<double>, 2>& times) {
  std::vector<double> ratios;
  for (std::size_t i = 0; i < times[0].size(); ++i) ratios.push_back(times[1][i] / times[0][i]);
  std::printf("%-12s verbs %8.3f us, C++ interface %8.3f us, paired median %+.2f %%\n", what, median(times[0]),
              median(times[1]), (median(ratios) - 1) * 100);
}

}  // namespace

int main(int argc, char** argv) {
  const int rounds = argc > 1 ? std::atoi(argv[1]) : 25;
  weft::Listener listener = weft::Listener::listen({"127.0.0.1", 0}).value();
  std::jthread connects;
  std::array<std::vector<double>, 2> latency, posted;
  weft::Connection prepared = weft::Connection::prepare(listener.local()).value();
  connects = std::jthread([&] { prepared.establish(10s).value(); });
  End server(listener.accept(10s).value());
  connects.join();
  End client(std::move(prepared));
  std::jthread echo([&] {
    for (int i = 0; i < 2 * rounds * kExchanges; ++i) {
      const bool front = i / kExchanges % 2 != 0;
      server.receive(front), server.send(front);
    }
  });
  for (int round = 0; round < 2 * rounds; ++round) {
    const bool front = round % 2 != 0;
    latency[front].push_back(microseconds([&] { client.send(front), client.receive(front); }));
  }
  echo.join();
  for (int round = 0; round < 2 * rounds; ++round) {
    const bool front = round % 2 != 0;
    posted[front].push_back(microseconds([&] { client.write(front, server.sink.remote()); }));
  }
  report("round trip", latency);
  report("posted write", posted);
}
