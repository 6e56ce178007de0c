// SPDX-License-Identifier: Apache-2.0
// The table of targets that one pair of processes can measure: what is measured, with what it is compared, and the
// ratio that is wanted.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "tools/bench/busy.hpp"
#include "tools/bench/report.hpp"
#include "tools/bench/rival_run.hpp"

namespace weft::tools::bench {

enum class Reference : std::uint8_t { kTcp, kUcx, kOpenSsl, kOpenSslResumed };

struct SuiteCase {
  std::string name{};
  Options options{};
  Reference reference = Reference::kTcp;
  double target{};  // ratio: at most for latency, at least for everything else
};

struct SuiteResult {
  SuiteCase what{};
  std::optional<Report> report{};  // none: `error` says why
  std::string error{};
};

// What holds for all cases (duration, repetitions, whom to take turns with, iterations) is taken from `common`.
[[nodiscard]] std::vector<SuiteCase> suite_cases(const Options& common);

// What TLS costs: the same with it and without, held against OpenSSL on raw sockets.
[[nodiscard]] std::vector<SuiteCase> tls_cases(const Options& common);

// Weft's median divided by the reference's, the best of its tests; none when one of them has no figure.
[[nodiscard]] std::optional<double> ratio(const SuiteResult& result);
[[nodiscard]] std::optional<bool> met(const SuiteResult& result);

// One line per case, and a heading; without the newline. Each of `stacks` has a column: the median of its best test,
// "not installed", or "-" where it has no test of the pattern.
[[nodiscard]] std::string suite_heading(const std::vector<RivalStack>& stacks = {});
[[nodiscard]] std::string suite_line(const SuiteResult& result, const std::vector<RivalStack>& stacks = {});

// What holds for the whole run.
struct SuiteSetting {
  std::vector<RivalStack> stacks{};
  std::vector<std::string> missing{};  // the lines that ^C left out
  double load{};                       // of the last minute before the first line
  std::optional<Busy> busy{};          // none where the system does not say
};
// Load of the last minute; 0 where there is no /proc/loadavg.
[[nodiscard]] double load_now();
// With the machine, and all figures of each ratio.
[[nodiscard]] std::string suite_json(const std::vector<SuiteResult>& results, const SuiteSetting& setting = {});

}  // namespace weft::tools::bench
