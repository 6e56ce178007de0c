// SPDX-License-Identifier: Apache-2.0
// `weft probe` against the kernel's siw behind rdma-core's rping, in both roles. siw_probe.csv says what each case finds: a departure
// that is new, and one that is gone, fail. docs/siw-deviations.md argues each. A program of its own: the prober's octets are wrong on
// purpose, and behind interop_test tshark looks for such.
#include <gtest/gtest.h>

#include <chrono>
#include <fstream>
#include <sstream>
#include <string>
#include <vector>

#include "tests/interop/program.hpp"
#include "tests/interop/vm.hpp"

namespace weft::interop {
namespace {

struct Row {
  std::string role{};     // siw's: responder, initiator
  std::string name{};     // of the case
  std::string verdict{};  // pass, fail, either
};

std::vector<Row> rows(const std::string& role) {
  std::ifstream file(WEFT_INTEROP_DIR "/siw_probe.csv");
  std::vector<Row> out;
  for (std::string line; std::getline(file, line);) {
    std::istringstream cells(line);
    Row row;
    std::getline(cells, row.role, ',');
    std::getline(cells, row.name, ',');
    std::getline(cells, row.verdict, ',');
    if (row.role == role) out.push_back(row);
  }
  return out;
}

// The verdict of this one case, from the line that -v prints for it.
std::string verdict_of(const Program& prober) {
  std::istringstream lines(prober.output());
  for (std::string line; std::getline(lines, line);) {
    const std::size_t at = line.find("/1] ");
    if (at == std::string::npos) continue;
    std::istringstream words(line.substr(at + 4));
    std::string verdict;
    words >> verdict;
    return verdict;
  }
  return "no verdict";
}

void expect_as_listed(const Row& row, const Program& prober) {
  const std::string found = verdict_of(prober);
  if (row.verdict == "either" && (found == "pass" || found == "fail")) return;
  EXPECT_EQ(found, row.verdict) << row.name << " (docs/siw-deviations.md):\n" << prober.output();
}

// A server of its own for each case: one that a case has upset is ended.
TEST(Prober, SiwResponds) {
  const auto all = rows("responder");
  ASSERT_GT(all.size(), 20U) << "siw_probe.csv";
  for (const Row& row : all) {
    Session guest = Vm::instance().start(
        "killall -9 -q rping; (setsid rping -s -P -p 7174 >/dev/null 2>&1 &); wait_listen 7174 && echo ready");
    ASSERT_TRUE(guest.wait_for("ready")) << row.name << '\n' << guest.transcript();
    Program prober("probe -v --profile rping --first-fpdu-delay 200 --patience 1500 --only " + row.name +
                   " 127.0.0.1:" + std::to_string(Vm::instance().rping_port()));
    prober.finish();
    expect_as_listed(row, prober);
  }
}

// The guest tries again until it is told to stop: each case, and the look behind it, take connections of their own.
TEST(Prober, SiwConnects) {
  const auto all = rows("initiator");
  ASSERT_GT(all.size(), 5U) << "siw_probe.csv";
  for (const Row& row : all) {
    const std::string port = std::to_string(free_tcp_port());
    Program prober("probe -v --profile rping --patience 3000 --only " + row.name + " --listen 127.0.0.1:" + port);
    prober.wait_listen(port);
    Session guest = Vm::instance().start(
        "rm -f /run/enough; for i in $(seq 40); do [ -e /run/enough ] && break; limit 8 rping -c -a 10.0.2.2 -p " +
        port + " -C 2 >/dev/null 2>&1; usleep 50000; done; echo over");
    prober.finish();
    expect_as_listed(row, prober);
    static_cast<void>(Vm::instance().start("touch /run/enough; killall -9 -q rping; true").finish());
    static_cast<void>(guest.wait_for("over"));
  }
}

class ProbeEnd : public testing::Environment {
 public:
  void TearDown() override {
    if (!Vm::booted()) return;
    Vm::instance().power_off();
    Vm::instance().forget_packets();
  }
};

const testing::Environment* const probe_end = testing::AddGlobalTestEnvironment(new ProbeEnd);

}  // namespace
}  // namespace weft::interop
