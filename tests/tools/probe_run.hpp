// SPDX-License-Identifier: Apache-2.0
// `weft probe` as a user runs it, and its report read.
#pragma once

#include <gtest/gtest.h>

#include <algorithm>
#include <fstream>
#include <map>
#include <nlohmann/json.hpp>
#include <string>
#include <vector>

#include "command.hpp"
#include "probe/case.hpp"

namespace weft::test {

using Arguments = std::vector<std::string>;

inline Arguments joined(Arguments first, const Arguments& second) {
  first.insert(first.end(), second.begin(), second.end());
  return first;
}

// Of the cases written by hand: those that wait for a time-out of the peer, or the others.
inline std::string names_of_cases(bool slow) {
  std::string names;
  for (const probe::Case& one : probe::all_cases()) {
    if (one.slow == slow) names += (names.empty() ? "" : ",") + std::string(one.name);
  }
  return names;
}

// Leaves out the cases that wait for a time-out of the peer, and most combinations of the plan.
inline Arguments quick() { return {"--depth", "quick", "--skip", names_of_cases(true)}; }
// Of these, only the cases written by hand: whether a combination runs depends on the time that is left.
inline Arguments by_hand() { return {"--depth", "quick", "--only", names_of_cases(false)}; }

inline Ended probe_by(const Arguments& arguments) {
  return Command(joined({"probe"}, arguments)).wait(std::chrono::seconds(300));
}

// The verdict of each case, by name.
using Verdicts = std::map<std::string, std::string>;

struct Probed {
  Ended ended{};
  Verdicts verdicts{};
  std::size_t passed{};  // cases
};

// Where the arguments name no depth, it is quick.
inline Probed probed(const Arguments& arguments) {
  const TemporaryDirectory folder;
  Arguments all = joined(arguments, {"--json", folder.file("report.json")});
  if (std::ranges::find(arguments, "--depth") == arguments.end()) all = joined(all, {"--depth", "quick"});
  Probed out{.ended = probe_by(all)};
  std::ifstream file(folder.file("report.json"));
  const auto report = nlohmann::json::parse(file, nullptr, false);
  if (!report.is_object()) return out;
  for (const auto& one : report.at("cases")) {
    out.verdicts[one.at("name")] = one.at("verdict");
    out.passed += one.at("verdict") == "pass" ? 1 : 0;
  }
  return out;
}

// No case fails, and at least `passes` pass.
inline void expect_clean(const Probed& run, std::size_t passes) {
  EXPECT_EQ(run.ended.exit_code, 0) << run.ended.out << run.ended.err;
  EXPECT_GE(run.passed, passes) << run.ended.out;
}

}  // namespace weft::test
