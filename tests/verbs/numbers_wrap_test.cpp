// SPDX-License-Identifier: Apache-2.0
// A peer that connects again and again uses up the 24 bits of queue pair numbers. The one that comes when they start
// anew gets nothing that belongs to another.
#include "loopback.hpp"
#include "verbs/base/queue_pair_numbers.hpp"

namespace weft::verbs::test {
namespace {

// The numbers are where they were just before this queue pair was made.
void wrap_to(const QueuePair& victim) {
  detail::QueuePairNumbers::of_process().continue_behind(
      victim.number() == 1 ? QueuePairAttributes::kHighestAssignedNumber : victim.number() - 1);
}

QueuePair make(End& end) {
  auto qp = must(end.domain.create_queue_pair({.send_cq = &end.cq, .receive_cq = &end.cq}), "create_queue_pair");
  must(qp.modify(QpState::kInit), "INIT");
  return qp;
}

// SEC-6.1.1-04, RDMAP-8.1.1-02, DDP-8.3.1-03
TEST(NumbersThatWrap, GiveNobodyWhatIsForAnother) {
  Pair pair;
  Buffer inbox(pair.server, 8, kAllAccess, {.only_for = &*pair.server.qp}), outbox(pair.client, 8);
  wrap_to(*pair.server.qp);
  auto twin = make(pair.server);
  EXPECT_NE(twin.number(), pair.server.qp->number());
  auto attacker = make(pair.client);
  auto id = must(ConnectionId::create(pair.events), "ConnectionId");
  resolve(id, pair.events, pair.listener.local_address());
  const auto at_server = establish(id, pair.events, attacker, twin);
  write_octet(attacker, outbox, inbox, std::byte{0x41});
  const auto refused = pair.server.next_async();
  EXPECT_EQ(refused.number, twin.number());
  ASSERT_TRUE(refused.error);
  EXPECT_EQ(refused.error->layer, 1);
  EXPECT_EQ(refused.error->type, 1);
  EXPECT_EQ(refused.error->code, 2);  // the STag is not associated with the stream
  EXPECT_EQ(inbox.octets.front(), std::byte{});
}

// What goes with the newcomer leaves the other as it was: its rights, and its completions.
TEST(NumbersThatWrap, TakeNothingFromAnother) {
  Pair pair;
  Buffer inbox(pair.server, 8, kAllAccess, {.only_for = &*pair.server.qp}), outbox(pair.client, 8);
  must(pair.server.qp->post_receive({.wr_id = 7}), "post_receive");
  must(pair.client.qp->post_send({.opcode = SendOpcode::kSend}), "post_send");
  wrap_to(*pair.server.qp);
  {
    const auto twin = make(pair.server);
    EXPECT_NE(twin.number(), pair.server.qp->number());
  }
  write_octet(*pair.client.qp, outbox, inbox, std::byte{0x42});
  EXPECT_EQ(pair.server.next().wr_id, 7U);
  wait_until([&] { return look_at(&inbox.octets.front()) == std::byte{0x42}; }, "the Write");
}

}  // namespace
}  // namespace weft::verbs::test
