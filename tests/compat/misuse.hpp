// SPDX-License-Identifier: Apache-2.0
// A row of a table of misuse: the call, what it answers, and what its line in the log says.
#pragma once

#include <cerrno>
#include <cstring>
#include <sstream>
#include <string>

#include "things.hpp"

namespace weft::compat::test {

// --- Answers of the three conventions, as one errno; 0: it worked.
inline int answer(const void* made) { return made == nullptr ? errno : 0; }
inline int minus_one(int result) { return result == -1 ? errno : result == 0 ? 0 : -result; }

template <typename Subject>
struct Misuse {
  std::string call;
  int expected;
  std::string reason;  // a part of the line
  int (*commit)(Subject&);
};

template <typename Subject>
void expect_refused(const Misuse<Subject>& misuse, Subject& things) {
  errno = 0;
  testing::internal::CaptureStderr();
  const int answered = misuse.commit(things);
  const std::string said = testing::internal::GetCapturedStderr();
  EXPECT_EQ(answered, misuse.expected) << misuse.call << ", " << misuse.reason << ": " << std::strerror(answered);
  const std::string ending = std::string("[") + strerrorname_np(misuse.expected) + "]";
  std::istringstream lines(said);
  int refusals = 0;
  for (std::string line; std::getline(lines, line);) refusals += line.ends_with(ending) ? 1 : 0;
  EXPECT_EQ(refusals, 1) << misuse.call << ", " << misuse.reason << " said:\n" << said;
  EXPECT_NE(said.find(" " + misuse.call + ": "), std::string::npos) << misuse.call << " said:\n" << said;
  EXPECT_NE(said.find(misuse.reason), std::string::npos) << misuse.call << ", " << misuse.reason << " said:\n" << said;
}

}  // namespace weft::compat::test
