// SPDX-License-Identifier: Apache-2.0
// States of queue pairs for datagrams, their places and their attributes.
#include <gtest/gtest.h>

#include <cerrno>

#include "tests/verbs/datagram_end.hpp"

namespace weft::verbs::test {
namespace {

TEST(DatagramPair, SendsNeedRts) {
  DatagramEnd a({}, "127.0.0.1", QpState::kRtr);
  const auto refused = a.send(a.name(), "x");
  ASSERT_FALSE(refused);
  EXPECT_EQ(refused.error().error.code, Errc::kInvalidState);
  EXPECT_EQ(a.own->modify(QpState::kSqd).error().code, Errc::kInvalidState);
  EXPECT_EQ(a.own->modify(QpState::kInit).error().code, Errc::kInvalidState);
  EXPECT_TRUE(a.own->modify(QpState::kRtr));
  must(a.own->modify(QpState::kRts), "RTS");
  EXPECT_EQ(a.send(a.name(), "x", {}, SendOpcode::kRdmaRead).error().error.code, Errc::kNotSupported);
  EXPECT_EQ(a.own->query().state, QpState::kRts);
}

TEST(DatagramPair, ReceivesFromRtrOnAndDropsWhatCameBefore) {
  DatagramEnd a;
  DatagramEnd b({}, "127.0.0.1", QpState::kInit);
  b.receive(5);
  ASSERT_TRUE(a.send(b.name(), "early", {}));
  b.expect_nothing();
  must(b.own->modify(QpState::kRtr), "RTR");
  b.expect_nothing();
  ASSERT_TRUE(a.send(b.name(), "in time", {}));
  EXPECT_EQ(b.next().wr_id, 5U);
}

TEST(DatagramPair, DropsWhatCameBeforeReset) {
  DatagramEnd a;
  DatagramEnd b;
  ASSERT_TRUE(a.send(b.name(), "early", {}));  // no receive is posted
  must(b.own->modify(QpState::kReset), "RESET");
  for (const QpState state : {QpState::kInit, QpState::kRtr, QpState::kRts}) must(b.own->modify(state), "modify");
  b.receive(5);
  b.expect_nothing();
}

TEST(DatagramPair, ErrorFlushesAndResetBeginsAnew) {
  DatagramEnd a;
  DatagramEnd b;
  b.receive(5);
  must(b.own->modify(QpState::kError), "ERROR");
  EXPECT_EQ(b.next().status, WcStatus::kFlushed);
  b.receive(6);
  EXPECT_EQ(b.next().status, WcStatus::kFlushed);
  ASSERT_TRUE(b.send(a.name(), "x"));
  EXPECT_EQ(b.next().status, WcStatus::kFlushed);
  b.receive(7);
  must(b.own->modify(QpState::kReset), "RESET");
  b.expect_nothing();
  for (const QpState state : {QpState::kInit, QpState::kRtr, QpState::kRts}) must(b.own->modify(state), "modify");
  b.receive(8);
  ASSERT_TRUE(a.send(b.name(), "again", {}));
  EXPECT_EQ(b.next().wr_id, 8U);
}

TEST(DatagramPair, PlacesAreFreeOncePolled) {
  DatagramEnd a({.queue_pair = {.max_send_wr = 2}});
  ASSERT_TRUE(a.send(a.name(), "1"));
  ASSERT_TRUE(a.send(a.name(), "2"));
  const auto full = a.send(a.name(), "3");
  ASSERT_FALSE(full);
  EXPECT_EQ(full.error().error.code, Errc::kQueueFull);
  EXPECT_EQ(a.next().wr_id, 9U);
  EXPECT_TRUE(a.send(a.name(), "3"));
}

TEST(DatagramPair, TheEndOfAHandleLeavesNoCompletion) {
  DatagramEnd a;
  a.receive(5);
  ASSERT_TRUE(a.send(a.name(), "x"));
  a.own.reset();
  a.expect_nothing();
}

TEST(DatagramPair, WrongAttributesAreNamed) {
  DatagramEnd a;
  QueuePairAttributes wanted{.send_cq = &a.cq, .receive_cq = &a.cq};
  const Endpoint local{.address = a.local, .port = 0};
  wanted.number = DatagramQueuePair::number_at(40000);
  EXPECT_EQ(a.domain.create_datagram_queue_pair(wanted, local).error().argument, "number");
  wanted.number = 0;
  wanted.receive_cq = nullptr;
  EXPECT_EQ(a.domain.create_datagram_queue_pair(wanted, local).error().argument, "receive_cq");
  wanted.receive_cq = &a.cq;
  const Endpoint taken{.address = a.local, .port = DatagramQueuePair::port_of(a.own->number())};
  EXPECT_EQ(a.domain.create_datagram_queue_pair(wanted, taken).error().code, Errc::kAddressInUse);
  const Endpoint elsewhere{.address = *Address::parse("192.0.2.1"), .port = 0};
  EXPECT_EQ(a.domain.create_datagram_queue_pair(wanted, elsewhere).error().os_error, EADDRNOTAVAIL);
}

}  // namespace
}  // namespace weft::verbs::test
