// SPDX-License-Identifier: Apache-2.0
// The second table of docs/progress.md, row by row.
#include "verbs/progress/relief.hpp"

#include <gtest/gtest.h>

#include <vector>

namespace weft::verbs::detail {
namespace {

struct ReliefRow {
  const char* what;
  ReliefFacts facts;
  Server server;
};

const std::vector<ReliefRow> kReliefRows{
    {"nobody is there", {.sockets = true}, Server::kProgressThreads},
    {"a proxy", {.sockets = true, .proxy = true}, Server::kProxy},
    {"a proxy, and no sockets yet", {.proxy = true}, Server::kProxy},
    {"messages are not for a proxy", {.sockets = true, .proxy = true, .messages = true}, Server::kProgressThreads},
    {"a proxy may be at work while others sleep",
     {.sockets = true, .proxy = true, .sleepers = true},
     Server::kProgressThreads},
    {"pollers", {.sockets = true, .pollers_have_time = true}, Server::kPollers},
    {"pollers serve messages, too", {.sockets = true, .messages = true, .pollers_have_time = true}, Server::kPollers},
    {"pollers beside those who sleep",
     {.sockets = true, .sleepers = true, .pollers_have_time = true},
     Server::kPollers},
    {"pollers look at sockets only", {.pollers_have_time = true}, Server::kProgressThreads},
    {"a proxy before pollers", {.sockets = true, .proxy = true, .pollers_have_time = true}, Server::kProxy},
    {"pollers where it is not for the proxy",
     {.sockets = true, .proxy = true, .messages = true, .pollers_have_time = true},
     Server::kPollers},
    {"several progress threads", {.threads = 2, .sockets = true, .pollers_have_time = true}, Server::kProgressThreads},
    {"several progress threads, and a proxy", {.threads = 2, .proxy = true}, Server::kProgressThreads},
};

TEST(Relief, IsThisTable) {
  for (const ReliefRow& row : kReliefRows) EXPECT_EQ(relief(row.facts), row.server) << row.what;
}

}  // namespace
}  // namespace weft::verbs::detail
