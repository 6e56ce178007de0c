// SPDX-License-Identifier: Apache-2.0
// What goes wrong, and how each end hears of it: completions, asynchronous events, typed errors of calls.
#include <sys/mman.h>

#include <array>

#include "loopback.hpp"

namespace weft::verbs::test {
namespace {

SendRequest access(SendOpcode opcode, const Sge& local, std::uint64_t offset, std::uint32_t rkey) {
  return {.wr_id = 1,
          .opcode = opcode,
          .flags = SendFlags::kSignaled,
          .segments = {&local, 1},
          .remote_address = offset,
          .rkey = rkey};
}

// One access that the peer must refuse: the asker gets REM_ACCESS_ERR, the peer an event; memory stays as it was.
struct Refused {
  const char* name;
  SendOpcode opcode;
  std::uint8_t layer, type, code;  // of the Terminate
  std::function<void(Buffer& target, std::uint64_t& offset, std::uint32_t& rkey)> spoil;
};

void PrintTo(const Refused& refused, std::ostream* out) { *out << refused.name; }

class RemoteAccess : public ::testing::TestWithParam<std::tuple<bool, Refused>> {};

// DDP-8.3-05, DDP-8.3-06, DDP-8.3.1-04, RDMAP-3.2-06, RDMAP-3.2-09, RDMAP-3.2-11, RDMAP-5.1-03
TEST_P(RemoteAccess, EndsTheStreamAndNothingElse) {
  const auto& [from_server, refused] = GetParam();
  Pair pair, other;
  End& asker = from_server ? pair.server : pair.client;
  End& owner = from_server ? pair.client : pair.server;
  Buffer local(asker, 64), target(owner, 64);
  if (from_server) {  // the initiator speaks first (MPA-7.1.2-17)
    must(pair.server.qp->post_receive({.wr_id = 9}), "post_receive");
    must(pair.client.qp->post_send({.wr_id = 9, .opcode = SendOpcode::kSend, .flags = SendFlags::kSignaled}),
         "post_send");
    EXPECT_EQ(pair.client.next().wr_id, 9U);
    EXPECT_EQ(pair.server.next().wr_id, 9U);
  }
  local.fill(1);
  std::uint64_t offset = target.remote();
  std::uint32_t rkey = target.region.rkey();
  refused.spoil(target, offset, rkey);
  const auto before = target.octets;
  const auto sge = refused.opcode == SendOpcode::kFetchAndAdd ? local.sge(0, 8) : local.sge();
  must(asker.qp->post_receive({.wr_id = 2}), "post_receive");
  must(owner.qp->post_receive({.wr_id = 3}), "post_receive");
  must(asker.qp->post_send(access(refused.opcode, sge, offset, rkey)), "post_send");

  auto done = asker.next();
  if (refused.opcode == SendOpcode::kRdmaWrite) {
    // A Write may have completed before the Terminate came; then the receive is what fails.
    const bool late = done.wr_id != 1 || done.status == WcStatus::kSuccess;
    EXPECT_TRUE(late || done.status == WcStatus::kRemoteAccessError) << to_string(done.status);
  } else {
    EXPECT_EQ(done.wr_id, 1U);
    EXPECT_EQ(done.status, WcStatus::kRemoteAccessError);
    EXPECT_EQ(done.vendor_error, static_cast<std::uint32_t>(refused.layer << 16 | refused.type << 8 | refused.code));
  }
  if (done.wr_id == 1) done = asker.next();
  EXPECT_EQ(done.wr_id, 2U);
  EXPECT_EQ(done.status, WcStatus::kFlushed);
  const auto flushed = owner.next();
  EXPECT_EQ(flushed.wr_id, 3U);
  EXPECT_EQ(flushed.status, WcStatus::kFlushed);

  const auto at_owner = owner.next_async();
  EXPECT_EQ(at_owner.type, AsyncEventType::kQueuePairAccessError);
  EXPECT_EQ(at_owner.number, owner.qp->number());
  const auto at_asker = asker.next_async();
  EXPECT_EQ(at_asker.type, AsyncEventType::kQueuePairFatal);
  ASSERT_TRUE(at_asker.error && at_owner.error);
  for (const auto& error : {*at_asker.error, *at_owner.error}) {
    EXPECT_EQ(error.layer, refused.layer);
    EXPECT_EQ(error.type, refused.type);
    EXPECT_EQ(error.code, refused.code);
  }
  EXPECT_TRUE(at_asker.error->remote);
  EXPECT_FALSE(at_owner.error->clause.empty());
  pair.event(ConnectionEventType::kDisconnected);
  pair.event(ConnectionEventType::kDisconnected);
  EXPECT_EQ(asker.qp->state(), QpState::kError);
  EXPECT_EQ(owner.qp->state(), QpState::kError);
  EXPECT_EQ(target.octets, before);
  // Other connections do not notice (SEC-6.4.3.1-04).
  must(other.server.qp->post_receive({.wr_id = 4}), "post_receive");
  must(other.client.qp->post_send({.wr_id = 5, .opcode = SendOpcode::kSend, .flags = SendFlags::kSignaled}),
       "post_send");
  EXPECT_EQ(other.client.next().status, WcStatus::kSuccess);
  EXPECT_EQ(other.server.next().status, WcStatus::kSuccess);
}

const Refused kRefused[] = {
    // RDMAP-8.1.1-03, SEC-6.2.1-01, SEC-6.3.1-01: base and bounds
    {"ReadBeyondTheEnd", SendOpcode::kRdmaRead, 0, 1, 0x01, [](Buffer&, auto& offset, auto&) { offset += 1; }},
    {"ReadBelowTheBase", SendOpcode::kRdmaRead, 0, 1, 0x01, [](Buffer&, auto& offset, auto&) { offset -= 1; }},
    {"WriteBeyondTheEnd", SendOpcode::kRdmaWrite, 1, 1, 0x01, [](Buffer&, auto& offset, auto&) { offset += 1; }},
    // SEC-5.1.1-01: no such STag
    {"ReadOfAnUnknownStag", SendOpcode::kRdmaRead, 0, 1, 0x00, [](Buffer&, auto&, auto& rkey) { rkey ^= 1; }},
    {"WriteToAnUnknownStag", SendOpcode::kRdmaWrite, 1, 1, 0x00, [](Buffer&, auto&, auto& rkey) { rkey ^= 1; }},
    {"AtomicOnAnUnknownStag", SendOpcode::kFetchAndAdd, 0, 1, 0x00, [](Buffer&, auto&, auto& rkey) { rkey ^= 1; }},
    // RDMAP-8.1.1-06: deregistered
    {"ReadOfDeregisteredMemory", SendOpcode::kRdmaRead, 0, 1, 0x00,
     [](Buffer& target, auto&, auto&) { must(target.region.deregister(), "deregister"); }},
    {"WriteThatWraps", SendOpcode::kRdmaWrite, 1, 1, 0x03, [](Buffer&, auto& offset, auto&) { offset = ~0ULL - 3; }},
    {"ReadThatWraps", SendOpcode::kRdmaRead, 0, 1, 0x04, [](Buffer&, auto& offset, auto&) { offset = ~0ULL - 3; }},
};

INSTANTIATE_TEST_SUITE_P(Errors, RemoteAccess, ::testing::Combine(::testing::Bool(), ::testing::ValuesIn(kRefused)),
                         [](const auto& parameter) {
                           return std::string(std::get<0>(parameter.param) ? "Server" : "Client") +
                                  std::get<1>(parameter.param).name;
                         });

TEST(RemoteRights, AReadOfWriteOnlyMemoryIsRefused) {  // SEC-6.3.5-02
  Pair pair;
  Buffer target(pair.server, 8, Access::kLocalWrite | Access::kRemoteWrite), local(pair.client, 8);
  const auto sge = local.sge();
  must(pair.client.qp->post_send(access(SendOpcode::kRdmaRead, sge, target.remote(), target.region.rkey())),
       "post_send");
  EXPECT_EQ(pair.client.next().status, WcStatus::kRemoteAccessError);
  EXPECT_EQ(pair.client.next_async().error->code, 0x02);
}

// RDMAP-8.1.1-01, SEC-6.1.1-01, SEC-6.1.1-03
TEST(RemoteRights, MemoryOfAnotherDomainIsRefused) {
  Pair pair;
  auto stranger = must(pair.server.device.allocate_protection_domain(), "domain");
  std::vector<std::byte> octets(8);
  const auto region = must(stranger.register_memory(octets.data(), 8, kAllAccess), "register");
  Buffer local(pair.client, 8);
  const auto sge = local.sge();
  must(pair.client.qp->post_send(access(SendOpcode::kRdmaRead, sge, region.iova(), region.rkey())), "post_send");
  EXPECT_EQ(pair.client.next().status, WcStatus::kRemoteAccessError);
  EXPECT_EQ(pair.client.next_async().error->code, 0x03);
}

// RDMAP-5.3-15: a region that several queue pairs share is not invalidated by a peer (RDMAP-8.1.1-07).
TEST(RemoteRights, ASharedRegionIsNotInvalidated) {
  Pair pair;
  Buffer shared(pair.server, 8);
  must(pair.server.qp->post_receive({.wr_id = 1}), "post_receive");
  must(pair.client.qp->post_send({.opcode = SendOpcode::kSendWithInvalidate, .invalidate_rkey = shared.region.rkey()}),
       "post_send");
  EXPECT_EQ(pair.server.next().status, WcStatus::kFlushed);
  const auto event = pair.client.next_async();
  EXPECT_EQ(event.error->layer, 0);
  EXPECT_EQ(event.error->code, 0x09);
}

// RDMAP-5.3-04
TEST(Receives, ASendThatIsTooLong) {
  Pair pair;
  Buffer from(pair.client, 100), to(pair.server, 99);
  const auto source = from.sge(), sink = to.sge();
  must(pair.server.qp->post_receive({.wr_id = 1, .segments = {&sink, 1}}), "post_receive");
  must(pair.server.qp->post_receive({.wr_id = 2, .segments = {&sink, 1}}), "post_receive");
  must(pair.client.qp->post_send({.opcode = SendOpcode::kSend, .segments = {&source, 1}}), "post_send");
  const auto first = pair.server.next();
  EXPECT_EQ(first.wr_id, 1U);
  EXPECT_EQ(first.status, WcStatus::kLocalLengthError);
  EXPECT_EQ(pair.server.next().status, WcStatus::kFlushed);
  EXPECT_EQ(pair.server.next_async().type, AsyncEventType::kQueuePairRequestError);
  EXPECT_EQ(pair.client.next_async().error->code, 0x05);
}

TEST(Receives, ASendWaitsForAReceive) {
  Pair pair;
  Buffer from(pair.client, 100), to(pair.server, 100);
  from.fill(1);
  const auto source = from.sge(), sink = to.sge();
  for (int i = 0; i < 3; ++i) {
    must(pair.client.qp->post_send(
             {.opcode = SendOpcode::kSend, .flags = SendFlags::kSignaled, .segments = {&source, 1}}),
         "post_send");
  }
  EXPECT_FALSE(pair.server.next_within(pair.server.cq, 30ms));
  for (std::uint64_t i = 0; i < 3; ++i) {
    must(pair.server.qp->post_receive({.wr_id = i, .segments = {&sink, 1}}), "post_receive");
    EXPECT_EQ(pair.server.next().wr_id, i);
  }
  EXPECT_EQ(to.octets, from.octets);
  pair.disconnect();
}

TEST(Receives, WithoutOneTheStreamEndsAfterAWhileOrAtOnce) {  // DDP-7.1-04, DDP-7.1-06
  for (const NoReceive policy : {NoReceive::kStall, NoReceive::kTerminate}) {
    Pair pair({.server_policy = {.startup = {.no_receive = policy}, .timeouts = {.no_receive = 50ms}}});
    must(pair.client.qp->post_send({.opcode = SendOpcode::kSend}), "post_send");
    const auto event = pair.client.next_async();
    EXPECT_EQ(event.error->layer, 1);
    EXPECT_EQ(event.error->type, 2);
    EXPECT_EQ(event.error->code, 0x02);
  }
}

TEST(LocalErrors, AWrongLkeyFailsTheWorkAndTheStream) {
  Pair pair;
  Buffer from(pair.client, 8);
  Sge source = from.sge();
  source.lkey ^= 1;
  must(pair.client.qp->post_send({.wr_id = 1, .opcode = SendOpcode::kSend, .segments = {&source, 1}}), "post_send");
  const auto done = pair.client.next();  // failures are reported although it was not signalled
  EXPECT_EQ(done.wr_id, 1U);
  EXPECT_EQ(done.status, WcStatus::kLocalProtectionError);
  pair.event(ConnectionEventType::kDisconnected);
}

TEST(LocalErrors, ABindThatIsRefused) {
  Pair pair;
  Buffer base(pair.client, 8, Access::kLocalWrite);  // without kWindowBind
  auto window = must(pair.client.domain.allocate_window(), "window");
  must(pair.client.qp->post_send({.opcode = SendOpcode::kBindWindow,
                                  .bind = {.window = &window,
                                           .region = &base.region,
                                           .rkey = window.next_rkey(),
                                           .address = base.remote(),
                                           .length = 8,
                                           .access = Access::kRemoteRead}}),
       "post_send");
  EXPECT_EQ(pair.client.next().status, WcStatus::kWindowBindError);
}

// RDMAP-8.1.1-11, SEC-6.4.6-01
TEST(CompletionQueues, OverflowEndsOnlyTheQueuePairsThatUseThem) {
  Pair pair({.server = {.cq_capacity = 2}}), other;
  for (int i = 0; i < 3; ++i) must(pair.server.qp->post_receive({.wr_id = 1}), "post_receive");
  for (int i = 0; i < 3; ++i) must(pair.client.qp->post_send({.opcode = SendOpcode::kSend}), "post_send");
  EXPECT_EQ(pair.server.next_async().type, AsyncEventType::kCompletionQueueError);
  const auto fatal = pair.server.next_async();
  EXPECT_EQ(fatal.type, AsyncEventType::kQueuePairFatal);
  EXPECT_EQ(fatal.number, pair.server.qp->number());
  EXPECT_EQ(pair.server.next().status, WcStatus::kSuccess);  // what it holds can be taken
  EXPECT_EQ(pair.server.next().status, WcStatus::kSuccess);
  WorkCompletion none;
  EXPECT_EQ(pair.server.cq.poll({&none, 1}).error().code, Errc::kOverflow);
  EXPECT_EQ(pair.server.qp->state(), QpState::kError);
  must(other.server.qp->post_receive({.wr_id = 4}), "post_receive");
  must(other.client.qp->post_send({.wr_id = 5, .opcode = SendOpcode::kSend}), "post_send");
  EXPECT_EQ(other.server.next().status, WcStatus::kSuccess);
}

TEST(CompletionQueues, Resize) {
  Pair pair;
  for (int i = 0; i < 3; ++i) must(pair.server.qp->post_receive({.wr_id = 1}), "post_receive");
  must(pair.server.qp->modify(QpState::kError), "ERROR");
  EXPECT_EQ(pair.server.cq.resize(2).error().code, Errc::kLimitExceeded);
  must(pair.server.cq.resize(3), "resize");
  EXPECT_EQ(pair.server.cq.capacity(), 3U);
  for (int i = 0; i < 3; ++i) EXPECT_EQ(pair.server.next().status, WcStatus::kFlushed);
}

// SEC-6.4.3.1-02
TEST(SharedReceiveQueues, LimitAndLastWqe) {
  Pair pair({.server = {.srq = SharedReceiveQueueAttributes{.max_wr = 8, .limit = 2, .context = 77}}});
  EXPECT_EQ(pair.server.qp->post_receive(ReceiveRequest{}).error().code, Errc::kInvalidArgument);
  for (std::uint64_t i = 0; i < 3; ++i) must(pair.server.srq->post_receive({.wr_id = i}), "post_receive");
  for (std::uint64_t i = 0; i < 2; ++i) {
    must(pair.client.qp->post_send({.opcode = SendOpcode::kSend}), "post_send");
    EXPECT_EQ(pair.server.next().wr_id, i);
  }
  const auto limit = pair.server.next_async();
  EXPECT_EQ(limit.type, AsyncEventType::kSharedReceiveQueueLimit);
  EXPECT_EQ(limit.number, pair.server.srq->number());
  EXPECT_EQ(limit.context, 77U);
  EXPECT_EQ(pair.server.srq->query().limit, 0U);  // once
  must(pair.server.qp->modify(QpState::kError), "ERROR");
  EXPECT_EQ(pair.server.next_async().type, AsyncEventType::kLastWqeReached);
  EXPECT_FALSE(pair.server.next_within(pair.server.cq, 10ms));  // what is in a shared queue is not flushed
}

TEST(SharedReceiveQueues, ServeSeveralQueuePairsAndWakeTheirStreams) {
  End shared({.srq = SharedReceiveQueueAttributes{.max_wr = 8}});
  Pair pair({.server = {.srq = SharedReceiveQueueAttributes{.max_wr = 8}}});
  must(pair.client.qp->post_send({.opcode = SendOpcode::kSend}), "post_send");
  EXPECT_FALSE(pair.server.next_within(pair.server.cq, 20ms));
  must(pair.server.srq->post_receive({.wr_id = 3}), "post_receive");
  EXPECT_EQ(pair.server.next().wr_id, 3U);
}

// --- The state machine

TEST(States, BeforeAConnection) {
  End end;
  EXPECT_EQ(end.qp->state(), QpState::kInit);
  EXPECT_EQ(end.qp->post_send(SendRequest{}).error().code, Errc::kInvalidState);
  for (const QpState to : {QpState::kRtr, QpState::kRts, QpState::kSqd})
    EXPECT_EQ(end.qp->modify(to).error().code, Errc::kInvalidState);
  must(end.qp->modify(QpState::kReset), "RESET");
  EXPECT_EQ(end.qp->post_receive(ReceiveRequest{}).error().code, Errc::kInvalidState);
  must(end.qp->modify(QpState::kInit), "INIT");
  must(end.qp->post_receive({.wr_id = 1}), "post_receive");
  must(end.qp->modify(QpState::kError), "ERROR");
  EXPECT_EQ(end.next().status, WcStatus::kFlushed);
  must(end.qp->post_receive({.wr_id = 2}), "post_receive");
  EXPECT_EQ(end.next().wr_id, 2U);
  must(end.qp->post_send({.wr_id = 3, .opcode = SendOpcode::kRdmaRead}), "post_send");
  const auto flushed = end.next();
  EXPECT_EQ(flushed.wr_id, 3U);
  EXPECT_EQ(flushed.status, WcStatus::kFlushed);
  EXPECT_EQ(flushed.opcode, WcOpcode::kRdmaRead);
}

TEST(States, ErrorFlushesBothQueuesAndDisconnects) {
  Pair pair;
  for (std::uint64_t i = 0; i < 3; ++i) must(pair.client.qp->post_receive({.wr_id = i}), "post_receive");
  must(pair.client.qp->modify(QpState::kError), "ERROR");
  for (std::uint64_t i = 0; i < 3; ++i) {
    const auto done = pair.client.next();
    EXPECT_EQ(done.wr_id, i);
    EXPECT_EQ(done.status, WcStatus::kFlushed);
  }
  pair.event(ConnectionEventType::kDisconnected);
  pair.event(ConnectionEventType::kDisconnected);
  EXPECT_EQ(pair.server.qp->state(), QpState::kError);
}

TEST(States, DrainHoldsWorkBackAndTellsWhenItIsDone) {
  Pair pair;
  Buffer from(pair.client, 8), to(pair.server, 8);
  const auto sge = from.sge();
  must(pair.client.qp->modify(QpState::kSqd), "SQD");
  EXPECT_EQ(pair.client.next_async().type, AsyncEventType::kSendQueueDrained);
  EXPECT_EQ(pair.client.qp->query().state, QpState::kSqd);
  must(pair.client.qp->post_send(access(SendOpcode::kRdmaWrite, sge, to.remote(), to.region.rkey())), "post_send");
  EXPECT_FALSE(pair.client.next_within(pair.client.cq, 30ms));
  must(pair.client.qp->modify(QpState::kRts), "RTS");
  EXPECT_EQ(pair.client.next().status, WcStatus::kSuccess);
}

TEST(States, AGracefulCloseFlushesReceives) {
  Pair pair;
  must(pair.client.qp->post_receive({.wr_id = 1}), "post_receive");
  must(pair.server.qp->post_receive({.wr_id = 2}), "post_receive");
  pair.disconnect();
  // When the disconnection is told, the flushes are in the queue.
  WorkCompletion done;
  EXPECT_EQ(must(pair.client.cq.poll({&done, 1}), "poll"), 1U);
  EXPECT_EQ(done.wr_id, 1U);
  EXPECT_EQ(done.status, WcStatus::kFlushed);
  EXPECT_EQ(must(pair.server.cq.poll({&done, 1}), "poll"), 1U);
  EXPECT_EQ(done.wr_id, 2U);
  must(pair.client.id->disconnect(), "again");
}

TEST(States, AQueuePairIsUsedAgainAfterReset) {
  Pair pair;
  pair.disconnect();
  must(pair.client.qp->modify(QpState::kReset), "RESET");
  must(pair.client.qp->modify(QpState::kInit), "INIT");
  auto id = must(ConnectionId::create(pair.events), "id");
  resolve(id, pair.events, pair.listener.local_address());
  must(id.connect(*pair.client.qp), "connect");
  auto request = pair.event(ConnectionEventType::kConnectRequest);
  End server;
  must(request.request->accept(*server.qp), "accept");
  pair.event(ConnectionEventType::kEstablished);
  pair.event(ConnectionEventType::kEstablished);
  must(server.qp->post_receive({.wr_id = 1}), "post_receive");
  must(pair.client.qp->post_send({.opcode = SendOpcode::kSend}), "post_send");
  EXPECT_EQ(server.next().status, WcStatus::kSuccess);
}

// --- Misuse: a typed error that names the argument

TEST(Misuse, Posting) {
  Pair pair(
      {.client = {
           .queue_pair = {
               .max_send_wr = 2, .max_receive_wr = 1, .max_send_sge = 1, .max_receive_sge = 1, .max_inline = 4}}});
  Buffer buffer(pair.client, 16);
  const std::array<Sge, 2> two{buffer.sge(0, 8), buffer.sge(8, 8)};
  auto& qp = *pair.client.qp;
  EXPECT_EQ(qp.post_send({.opcode = SendOpcode::kSend, .segments = two}).error().code, Errc::kTooManySegments);
  EXPECT_EQ(qp.post_receive({.segments = two}).error().code, Errc::kTooManySegments);
  EXPECT_EQ(qp.post_send({.opcode = SendOpcode::kSend, .flags = SendFlags::kInline, .segments = {two.data(), 1}})
                .error()
                .code,
            Errc::kInlineTooLong);
  EXPECT_EQ(qp.post_send({.opcode = SendOpcode::kRdmaRead, .flags = SendFlags::kInline}).error().code,
            Errc::kInvalidArgument);
  EXPECT_EQ(qp.post_send({.opcode = SendOpcode::kBindWindow}).error().argument, "bind");
  const auto four = buffer.sge(0, 4);
  EXPECT_EQ(qp.post_send({.opcode = SendOpcode::kFetchAndAdd, .segments = {&four, 1}}).error().code,
            Errc::kInvalidArgument);
  must(qp.post_receive(ReceiveRequest{}), "post_receive");
  EXPECT_EQ(qp.post_receive(ReceiveRequest{}).error().code, Errc::kQueueFull);
  std::vector<SendRequest> three(3, SendRequest{.opcode = SendOpcode::kSend});
  must(qp.modify(QpState::kSqd), "SQD");
  EXPECT_EQ(qp.send_room(), 2U);
  const auto result = qp.post_send(three);
  ASSERT_FALSE(result);
  EXPECT_EQ(result.error().posted, 2U);
  EXPECT_EQ(qp.send_room(), 0U);
  EXPECT_EQ(result.error().error.code, Errc::kQueueFull);
}

TEST(Misuse, Creating) {
  End end;
  EXPECT_EQ(end.device.create_completion_queue({.capacity = 0}).error().argument, "capacity");
  EXPECT_EQ(end.domain.create_queue_pair({}).error().argument, "send_cq");
  QueuePairAttributes attributes{.send_cq = &end.cq, .receive_cq = &end.cq, .max_send_wr = 1U << 30};
  EXPECT_EQ(end.domain.create_queue_pair(attributes).error().argument, "max_send_wr");
  attributes = {.send_cq = &end.cq, .receive_cq = &end.cq, .max_send_sge = Device::limits().max_sge + 1};
  EXPECT_EQ(end.domain.create_queue_pair(attributes).error().argument, "max_send_sge");
  EXPECT_EQ(end.domain.create_shared_receive_queue({.max_wr = 4, .limit = 5}).error().argument, "limit");
  EXPECT_EQ(Device::open("no_such_interface").error().code, Errc::kNoDevice);
  EXPECT_EQ(Device::open(Address::parse("203.0.113.77").value()).error().code, Errc::kNoDevice);
}

// DDP-8.3.2-05, RDMAP-8.1.2-04, SEC-7.3-01,
// SEC-2.2.2-01
TEST(Misuse, RegisteringMemoryThatIsNotOnesOwn) {
  End end;
  const std::size_t page = 4096;
  auto* read_only = mmap(nullptr, 3 * page, PROT_READ, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
  ASSERT_NE(read_only, MAP_FAILED);
  ASSERT_EQ(munmap(static_cast<char*>(read_only) + page, page), 0);  // a hole
  EXPECT_EQ(end.domain.register_memory(read_only, page, Access::kLocalWrite).error().code, Errc::kBadAddress);
  EXPECT_EQ(end.domain.register_memory(read_only, 3 * page, Access::kRemoteRead).error().code, Errc::kBadAddress);
  EXPECT_TRUE(end.domain.register_memory(read_only, page, Access::kRemoteRead));
  EXPECT_TRUE(end.domain.register_memory(static_cast<const void*>(read_only), page));
  munmap(read_only, page);
  std::vector<std::byte> octets(8);
  EXPECT_EQ(end.domain.register_memory(octets.data(), 8, Access::kRemoteWrite).error().argument, "access");
  EXPECT_EQ(end.domain.register_memory(octets.data(), 8, kAllAccess, {.iova = ~0ULL}).error().argument, "iova");
}

TEST(Misuse, ErrorsSpeak) {
  const Error error{Errc::kLimitExceeded, "max_send_wr", "larger than the device's limit"};
  EXPECT_EQ(error.message(), "max_send_wr: larger than the device's limit (limit exceeded)");
  EXPECT_EQ((Error{Errc::kRefused, "destination", "there is no listener", ECONNREFUSED}.message()),
            "destination: there is no listener (connection refused)");
  EXPECT_EQ((Error{Errc::kRefused, "peer", "it left", ECONNRESET}.message()),
            "peer: it left (connection refused; Connection reset by peer)");
  EXPECT_EQ((Error{Errc::kSystem, "device", "is broken", EIO}.message()),
            "device: is broken (system error; Input/output error)");
  EXPECT_EQ(make_error_code(Errc::kBusy), std::errc::device_or_resource_busy);
  EXPECT_EQ(make_error_code(Errc::kQueueFull), std::errc::not_enough_memory);
  EXPECT_EQ(Error{.code = Errc::kWouldBlock}.to_errno(), EAGAIN);
}

}  // namespace
}  // namespace weft::verbs::test
