// SPDX-License-Identifier: Apache-2.0
// What travels with a Request and its answer, up to the limit of each.
#include <gtest/gtest.h>

#include <cstddef>
#include <utility>

#include "lone_ends.hpp"

namespace weft::verbs::test {
namespace {

TEST(PrivateData, UpToTheLimit) {
  for (const std::size_t size : {0U, 1U, 508U}) {
    const auto up = octets(size, 1), down = octets(size, 2);
    Pair pair({.request_data = up, .reply_data = down});
    EXPECT_EQ(pair.seen_request_data, up);
    EXPECT_EQ(pair.seen_reply_data, down);
  }
  const auto full = octets(512, 3);  // without IRD and ORD
  Pair pair({.client_policy = {.startup = {.mpa_revision = 1}}, .request_data = full, .reply_data = octets(508, 4)});
  EXPECT_EQ(pair.seen_request_data, full);
  Client client;
  client.resolve(pair.listener.local_address());
  EXPECT_EQ(client.id.connect(*client.end.qp, {.private_data = octets(509, 1)}).error().code,
            Errc::kPrivateDataTooLong);
  must(client.id.connect(*client.end.qp), "after a mistake the queue pair is still usable");
}

// What an answer may carry depends on the Request alone (MPA-7.1.1-28, MPA2-9-03).
TEST(PrivateData, OfAnAnswerUpToTheRequestsLimit) {
  const auto request_to = [](Server& server, Client& client, const Policy& policy) {
    must(client.id.set_policy(policy), "policy");
    client.resolve(server.id.local_address());
    must(client.id.connect(*client.end.qp), "connect");
    return std::move(*expect_event(server.events, ConnectionEventType::kConnectRequest).request);
  };
  for (const Policy& policy :
       {Policy{.startup = {.mpa_revision = 1}}, Policy{.startup = {.enhanced = false}}, Policy{}}) {
    const std::size_t limit = policy.startup.mpa_revision == 2 && policy.startup.enhanced ? 508 : 512;
    const auto longest = octets(limit, 1), longer = octets(limit + 1, 1);
    Server server;
    Client accepted, rejected;
    End end;
    auto first = request_to(server, accepted, policy);
    EXPECT_EQ(first.accept(*end.qp, {.private_data = longer}).error().code, Errc::kPrivateDataTooLong);
    must(first.accept(*end.qp, {.private_data = longest}), "accept after a mistake");
    EXPECT_EQ(expect_event(accepted.events, ConnectionEventType::kEstablished).private_data, longest);
    expect_event(server.events, ConnectionEventType::kEstablished);
    auto second = request_to(server, rejected, policy);
    EXPECT_EQ(second.reject(longer).error().code, Errc::kPrivateDataTooLong);
    must(second.reject(longest), "reject after a mistake");
    EXPECT_EQ(expect_event(rejected.events, ConnectionEventType::kRejected).private_data, longest);
  }
}

}  // namespace
}  // namespace weft::verbs::test
