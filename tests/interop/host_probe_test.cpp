// SPDX-License-Identifier: Apache-2.0
// `weft probe` against the kernel's siw behind rdma-core's rping, in both roles. siw_probe.csv says what each case finds, and which
// rules siw's octets break in all of them: a departure that is new, and one that is gone, fail. docs/siw.md argues each. A
// program of its own: the prober's octets are wrong on purpose, and behind interop_test tshark looks for such.
#include <gmock/gmock.h>

#include <unistd.h>

#include <cstdio>
#include <fstream>
#include <nlohmann/json.hpp>
#include <set>
#include <sstream>
#include <string>
#include <vector>

#include "tests/interop/program.hpp"
#include "tests/interop/vm.hpp"

namespace weft::interop {
namespace {

struct Row {
  std::string role{};           // siw's: responder, initiator
  std::string name{};           // of a case; or "rule" and a clause
  std::set<std::string> may{};  // verdicts, one of which is found
  [[nodiscard]] bool is_rule() const { return name.starts_with("rule "); }
};

std::vector<Row> rows(const std::string& role) {
  std::ifstream file(WEFT_INTEROP_DIR "/siw_probe.csv");
  std::vector<Row> out;
  for (std::string line; std::getline(file, line);) {
    std::istringstream cells(line);
    Row row;
    std::string verdicts;
    std::getline(cells, row.role, ',');
    std::getline(cells, row.name, ',');
    std::getline(cells, verdicts, ',');
    std::istringstream several(verdicts);
    for (std::string one; std::getline(several, one, '/');) row.may.insert(one);
    if (row.role == role) out.push_back(row);
  }
  return out;
}

// What the cases of one role have found.
class Findings {
 public:
  // Runs the prober for one case. `peer` brings siw up to it once the prober has begun, and takes it away.
  template <typename Peer>
  void probe(const Row& row, const std::string& arguments, Peer peer) {
    const std::string file = WEFT_INTEROP_OUTPUT "/probe-" + std::to_string(getpid()) + ".json";
    Program prober("probe --quiet --profile rping --json " + file + " --only " + row.name + " " + arguments);
    peer(prober);
    const auto report = nlohmann::json::parse(std::ifstream(file), nullptr, false);
    std::remove(file.c_str());
    ASSERT_TRUE(report.is_object() && report.at("cases").size() == 1) << row.name << ": " << prober.output();
    const auto& one = report.at("cases").front();
    const std::string verdict = one.at("verdict");
    const std::string reason = one.at("reason");
    std::printf("%s %s %s\n", row.name.c_str(), verdict.c_str(), reason.c_str());
    EXPECT_THAT(row.may, testing::Contains(verdict)) << row.name << ": " << reason;
    for (const auto& rule : report.at("rules")) {
      if (rule.at("verdict") == "fail") broken_.insert("rule " + rule.at("clause").get<std::string>());
    }
  }
  void expect_broken_rules(const std::vector<Row>& listed) const {
    std::set<std::string> always, sometimes;
    for (const Row& row : listed) {
      if (row.is_rule()) (row.may.contains("pass") ? sometimes : always).insert(row.name);
    }
    for (const std::string& rule : always) EXPECT_THAT(broken_, testing::Contains(rule)) << "it is no longer broken";
    for (const std::string& rule : broken_)
      EXPECT_TRUE(always.contains(rule) || sometimes.contains(rule))
          << rule << " is broken, and siw_probe.csv lacks it";
  }

 private:
  std::set<std::string> broken_{};
};

// A server of its own for each case: one that a case has upset is ended.
TEST(Prober, SiwResponds) {
  const auto listed = rows("responder");
  ASSERT_GT(listed.size(), 20U) << "siw_probe.csv";
  Findings found;
  for (const Row& row : listed) {
    if (row.is_rule()) continue;
    Session guest = Vm::instance().start("serve_rping 7174 && echo ready");
    ASSERT_TRUE(guest.wait_for("ready")) << row.name << '\n' << guest.transcript();
    found.probe(row, "--first-fpdu-delay 200 --patience 1500 127.0.0.1:" + std::to_string(Vm::instance().rping_port()),
                [](Program& prober) { prober.finish(); });
  }
  found.expect_broken_rules(listed);
}

// The guest tries again until it is told to stop: each case, and the look behind it, take connections of their own.
TEST(Prober, SiwConnects) {
  const auto listed = rows("initiator");
  ASSERT_GT(listed.size(), 5U) << "siw_probe.csv";
  Findings found;
  for (const Row& row : listed) {
    if (row.is_rule()) continue;
    const std::string port = std::to_string(free_tcp_port());
    found.probe(row, "--patience 3000 --listen 127.0.0.1:" + port, [&port](Program& prober) {
      prober.wait_listen(port);
      Session guest = Vm::instance().start(
          "rm -f /run/enough; for i in $(seq 40); do [ -e /run/enough ] && break; limit 8 rping -c -a 10.0.2.2 -p " +
          port + " -C 2 >/dev/null 2>&1; usleep 50000; done; echo over");
      prober.finish();
      static_cast<void>(Vm::instance().start("touch /run/enough; killall -9 -q rping; true").finish());
      static_cast<void>(guest.wait_for("over"));
    });
  }
  found.expect_broken_rules(listed);
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
