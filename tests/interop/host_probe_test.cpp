// SPDX-License-Identifier: Apache-2.0
// `weft probe` against the kernel's siw behind rdma-core's rping, in both roles. siw_probe.csv says what each case finds, and which
// rules siw's octets break in all of them: a departure that is new, and one that is gone, fail. docs/siw.md argues each. A row
// may hold for some kernels only. On a kernel that the table does not name, a difference is reported as skipped: siw itself may have changed. A
// program of its own: the prober's octets are wrong on purpose, and after interop_test tshark looks for such.
#include <gtest/gtest.h>

#include <unistd.h>

#include <array>
#include <chrono>
#include <cstdio>
#include <fstream>
#include <nlohmann/json.hpp>
#include <set>
#include <sstream>
#include <stdexcept>
#include <string>
#include <vector>

#include "tests/interop/program.hpp"
#include "tests/interop/vm.hpp"

namespace weft::interop {
namespace {

using std::chrono::milliseconds;
using namespace std::chrono_literals;

milliseconds scaled(milliseconds time) { return Vm::instance().scaled(time); }

struct Row {
  std::string role{};           // siw's: responder, initiator
  std::string name{};           // of a case; or "rule" and a clause
  std::set<std::string> may{};  // verdicts, one of which is found
  [[nodiscard]] bool is_rule() const { return name.starts_with("rule "); }
};

std::array<int, 3> version_of(const std::string& text) {
  std::array<int, 3> out{};
  std::sscanf(text.c_str(), "%d.%d.%d", out.data(), &out[1], &out[2]);
  return out;
}

// "<6.1.178", ">=6.1.178", or nothing: all of them.
bool holds_for(const std::string& kernels) {
  const auto version = version_of(Vm::instance().kernel());
  if (kernels.starts_with(">=")) return version >= version_of(kernels.substr(2));
  if (kernels.starts_with('<')) return version < version_of(kernels.substr(1));
  EXPECT_EQ(kernels, "") << "siw_probe.csv";
  return true;
}

std::vector<Row> rows(const std::string& role) {
  std::ifstream file(WEFT_INTEROP_DIR "/siw_probe.csv");
  std::vector<Row> out;
  for (std::string line; std::getline(file, line);) {
    std::istringstream cells(line);
    Row row;
    std::string verdicts, kernels;
    std::getline(cells, row.role, ',');
    std::getline(cells, row.name, ',');
    std::getline(cells, verdicts, ',');
    std::getline(cells, kernels, ',');
    std::istringstream several(verdicts);
    for (std::string one; std::getline(several, one, '/');) row.may.insert(one);
    if (row.role == role && holds_for(kernels)) out.push_back(row);
  }
  return out;
}

// What the cases of one role have found.
class Findings {
 public:
  // Runs the prober for one case. `attempt(arguments, patience)` makes a prober that waits this long for siw, brings siw up to it, takes it away, and
  // gives the prober's output. Where the guest's kernel fails, the case is repeated after another boot. A finding that is not in the table is looked
  // at again with more patience: the guest may only have been slow.
  template <typename Attempt>
  void probe(const Row& row, milliseconds patience, Attempt attempt) {
    for (const milliseconds wait : {patience, scaled(6 * patience)}) {
      nlohmann::json report;
      std::string output;
      bool listed = false;
      do {
        output = output_and_report(row, wait, attempt, report);
        listed = finds(row, report);
      } while (!listed && Vm::boot_after_failure(row.name));
      ASSERT_TRUE(report.is_object() && report.at("cases").size() == 1) << row.name << ": " << output;
      const auto& one = report.at("cases").front();
      const std::string verdict = one.at("verdict");
      const std::string reason = one.at("reason");
      std::printf("%s %s %s\n", row.name.c_str(), verdict.c_str(), reason.c_str());
      if (!listed && wait == patience) continue;
      if (!listed) differs(row.name + ": " + verdict + " is not in siw_probe.csv: " + reason);
      for (const auto& rule : report.at("rules")) {
        if (rule.at("verdict") == "fail") broken_.insert("rule " + rule.at("clause").get<std::string>());
      }
      return;
    }
  }
  // Fails, or is skipped on a kernel that is not in the table, where something differs from these rows.
  void judge(const std::vector<Row>& listed) {
    std::set<std::string> always, sometimes;
    for (const Row& row : listed) {
      if (row.is_rule()) (row.may.contains("pass") ? sometimes : always).insert(row.name);
    }
    for (const std::string& rule : always) {
      if (!broken_.contains(rule)) differs(rule + " is no longer broken");
    }
    for (const std::string& rule : broken_) {
      if (!always.contains(rule) && !sometimes.contains(rule)) differs(rule + " is broken, and siw_probe.csv lacks it");
    }
    if (differences_.empty()) return;
    const std::string& kernel = Vm::instance().kernel();
    std::string known;
    for (const Row& row : rows("kernel")) known += ' ' + row.name;
    if ((known + ' ').contains(' ' + kernel + ' ')) FAIL() << differences_;
    GTEST_SKIP() << "kernel " << kernel << " is not in the table, siw_probe.csv, which knows" << known
                 << "; its siw differs: " << differences_;
  }

 private:
  template <typename Attempt>
  static std::string output_and_report(const Row& row, milliseconds wait, Attempt attempt, nlohmann::json& report) {
    const std::string file = WEFT_INTEROP_OUTPUT "/probe-" + std::to_string(getpid()) + ".json";
    std::string output;
    try {
      output = attempt("probe --quiet --profile rping --json " + file + " --only " + row.name + " --patience " +
                           std::to_string(wait.count()) + " ",
                       wait);
    } catch (const std::runtime_error& error) {
      output = error.what();
    }
    report = nlohmann::json::parse(std::ifstream(file), nullptr, false);
    std::remove(file.c_str());
    return output;
  }
  static bool finds(const Row& row, const nlohmann::json& report) {
    return report.is_object() && report.at("cases").size() == 1 &&
           row.may.contains(report.at("cases").front().at("verdict").get<std::string>());
  }
  void differs(const std::string& what) { differences_ += (differences_.empty() ? "" : "; ") + what; }

  std::set<std::string> broken_{};
  std::string differences_{};
};

TEST(Guest, IsBootedAgainAfterItsKernelHasFailed) {
  Session last = Vm::instance().start("echo c >/proc/sysrq-trigger; echo 'it goes on'");
  EXPECT_FALSE(last.wait_for("it goes on"));
  EXPECT_TRUE(Vm::boot_after_failure("a test that ends the kernel on purpose"));
  EXPECT_FALSE(Vm::boot_after_failure("a test that leaves the kernel alone"));
  Vm::instance().run("true");
}

// A server of its own for each case: one that a case has upset is ended.
TEST(Prober, SiwResponds) {
  const auto listed = rows("responder");
  ASSERT_GT(listed.size(), 20U) << "siw_probe.csv";
  Findings found;
  for (const Row& row : listed) {
    if (row.is_rule()) continue;
    found.probe(row, 1000ms, [](const std::string& arguments, milliseconds wait) {
      Session guest = Vm::instance().start("serve_rping 7174 && echo ready");
      if (!guest.wait_for("ready")) return guest.transcript();
      Program prober(arguments + "--first-fpdu-delay " + std::to_string((wait / 5).count()) +
                     " 127.0.0.1:" + std::to_string(Vm::instance().rping_port()));
      prober.finish();
      return prober.output();
    });
    if (HasFatalFailure()) return;
  }
  found.judge(listed);
}

// The guest tries again until it is told to stop: each case, and the look after it, take connections of their own.
TEST(Prober, SiwConnects) {
  const auto listed = rows("initiator");
  ASSERT_GT(listed.size(), 5U) << "siw_probe.csv";
  Findings found;
  for (const Row& row : listed) {
    if (row.is_rule()) continue;
    const std::string port = std::to_string(free_tcp_port());
    found.probe(row, 2000ms, [&port](const std::string& arguments, milliseconds) {
      Program prober(arguments + "--listen 127.0.0.1:" + port);
      prober.wait_listen(port);
      Session guest =
          Vm::instance().start("rm -f /run/enough; until [ -e /run/enough ]; do limit 8 rping -c -a 10.0.2.2 -p " +
                               port + " -C 2 >/dev/null 2>&1; usleep 50000; done; echo over");
      prober.finish();
      static_cast<void>(Vm::instance().start("touch /run/enough; killall -9 -q rping; true").finish());
      static_cast<void>(guest.wait_for("over"));
      return prober.output();
    });
    if (HasFatalFailure()) return;
  }
  found.judge(listed);
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
