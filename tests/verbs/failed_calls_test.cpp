// SPDX-License-Identifier: Apache-2.0
// Every call of the C++ API without memory: each of its allocations fails once. The call throws std::bad_alloc or returns
// an error; the objects can be used and destroyed afterwards, and no STag is left.
#include <algorithm>
#include <array>
#include <chrono>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "failing_allocation.hpp"
#include "lone_ends.hpp"
#include "verbs/configuration.hpp"
#include "verbs/live_streams.hpp"
#include "verbs/memory/region_state.hpp"
#include "verbs/policy_text.hpp"
#include "verbs/progress/runtime.hpp"

namespace weft::verbs::test {
namespace {

using Call = std::function<void()>;
using Prepare = std::function<Call()>;

// A scene that lives as long as the call.
template <typename Scene>
Prepare on(std::function<void(Scene&)> call) {
  return [call] {
    auto scene = std::make_shared<Scene>();
    return [scene, call] { call(*scene); };
  };
}

std::size_t stags_in_use() { return detail::Runtime::running()->stags()->size(); }

struct Row {
  const char* name;
  Prepare prepare;
};

class FailedCalls : public testing::TestWithParam<Row> {};

TEST_P(FailedCalls, LeaveAllUsable) {
  const End keeps_the_runtime;
  const std::size_t before = stags_in_use();
  const int failed = weft::test::fail_each_allocation(GetParam().prepare);
  RecordProperty("allocations", failed);
  wait_until([] { return live_streams().empty(); }, "no connection is left");
  EXPECT_EQ(stags_in_use(), before);
}

// --- Objects

struct OfEnd {
  End end;
  std::vector<std::byte> octets = std::vector<std::byte>(4096);
};

Row on_end(const char* name, std::function<void(OfEnd&)> call) { return {name, on<OfEnd>(std::move(call))}; }

std::vector<Row> of_objects() {
  return {
      on_end("DeviceList", [](OfEnd&) { static_cast<void>(Device::list()); }),
      on_end("DeviceOpen", [](OfEnd&) { must(Device::open("lo"), "open"); }),
      on_end("DeviceOpenByAddress",
             [](OfEnd&) { must(Device::open(Address::loopback(transport::Family::kIpv4)), "open"); }),
      on_end("AllocateProtectionDomain", [](OfEnd& at) { must(at.end.device.allocate_protection_domain(), "domain"); }),
      on_end("CreateCompletionQueue", [](OfEnd& at) { must(at.end.device.create_completion_queue(), "queue"); }),
      on_end("CreateCompletionChannel", [](OfEnd&) { must(CompletionChannel::create(), "channel"); }),
      on_end("CreateSharedReceiveQueue",
             [](OfEnd& at) { must(at.end.domain.create_shared_receive_queue({}), "queue"); }),
      on_end("CreateQueuePair",
             [](OfEnd& at) {
               must(at.end.domain.create_queue_pair({.send_cq = &at.end.cq, .receive_cq = &at.end.cq}), "pair");
             }),
      on_end("RegisterMemory",
             [](OfEnd& at) {
               must(at.end.domain.register_memory(at.octets.data(), at.octets.size(), kAllAccess), "region");
             }),
      on_end("RegisterMemoryForOne",
             [](OfEnd& at) {
               must(at.end.domain.register_memory(at.octets.data(), at.octets.size(), kAllAccess,
                                                  {.only_for = &*at.end.qp}),
                    "region");
             }),
      on_end("AllocateWindow", [](OfEnd& at) { must(at.end.domain.allocate_window(), "window"); }),
      on_end("ResizeCompletionQueue", [](OfEnd& at) { must(at.end.cq.resize(1000), "resize"); }),
      on_end("PollAndArm",
             [](OfEnd& at) {
               WorkCompletion one;
               must(at.end.cq.arm(Arm::kAll), "arm");
               must(at.end.cq.poll({&one, 1}), "poll");
             }),
      on_end("PostReceive", [](OfEnd& at) { must(at.end.qp->post_receive(ReceiveRequest{}), "receive"); }),
      on_end("QueryQueuePair", [](OfEnd& at) { static_cast<void>(at.end.qp->query()); }),
      on_end("QueuePairToError", [](OfEnd& at) { must(at.end.qp->modify(QpState::kError), "ERROR"); }),
      on_end("QueuePairToReset", [](OfEnd& at) { must(at.end.qp->modify(QpState::kReset), "RESET"); }),
      on_end("PostSendInError",
             [](OfEnd& at) {
               must(at.end.qp->modify(QpState::kError), "ERROR");
               must(at.end.qp->post_send({.opcode = SendOpcode::kSend}), "send");
             }),
      on_end("CreateEventChannel", [](OfEnd&) { must(EventChannel::create(), "channel"); }),
      on_end("CreateConnectionId",
             [](OfEnd&) {
               const auto events = EventChannel::create();
               if (events) must(ConnectionId::create(*events), "id");
             }),
      on_end("ParsePolicy", [](OfEnd&) { static_cast<void>(parse_policy("tls-ca=/a,allow=10.0.0.0/8")); }),
      on_end("ParseConfiguration", [](OfEnd&) { static_cast<void>(parse_configuration("crc=off\nx=y\n", "f")); }),
      on_end("LiveStreams", [](OfEnd&) { static_cast<void>(live_streams()); }),
  };
}

// --- Identifiers. What has happened is not undone by a second call, which then may return an error.

struct OfId {
  EventChannel events = must(EventChannel::create(), "channel");
  ConnectionId id = must(ConnectionId::create(events), "id");
};

struct OfBound : OfId {
  OfBound() { must(id.bind_address(loopback("127.0.0.1")), "bind"); }
};

struct OfResolved : OfId {
  OfResolved() { resolve(id, events, server.id.local_address()); }
  Server server;
  End end;
};

struct OfRequested {
  OfRequested() {
    resolve(client, client_events, server.id.local_address());
    must(client.connect(*client_end.qp), "connect");
    request = std::move(expect_event(server.events, ConnectionEventType::kConnectRequest).request);
  }
  Server server;
  EventChannel client_events = must(EventChannel::create(), "channel");
  ConnectionId client = must(ConnectionId::create(client_events), "id");
  End client_end, server_end;
  std::unique_ptr<ConnectionId> request;
};

std::vector<Row> of_identifiers() {
  return {
      {"SetPolicy",
       on<OfId>([](OfId& at) { must(at.id.set_policy({.startup = {.congestion_control = "reno"}}), "policy"); })},
      {"SetAddressOptions", on<OfId>([](OfId& at) { must(at.id.set_address_options({.reuse = true}), "options"); })},
      {"BindAddress", on<OfId>([](OfId& at) { static_cast<void>(at.id.bind_address(loopback("127.0.0.1"))); })},
      {"ResolveAddress",
       on<OfId>([](OfId& at) { static_cast<void>(at.id.resolve_address(loopback("127.0.0.1", 9))); })},
      {"ResolveRoute", on<OfId>([](OfId& at) {
         static_cast<void>(at.id.resolve_address(loopback("127.0.0.1", 9)));
         static_cast<void>(at.id.resolve_route());
       })},
      {"Listen", on<OfBound>([](OfBound& at) { static_cast<void>(at.id.listen()); })},
      {"Migrate", on<OfBound>([](OfBound& at) {
         const auto other = EventChannel::create();
         if (other) must(at.id.migrate(*other), "migrate");
       })},
      {"Connect", on<OfResolved>([](OfResolved& at) { static_cast<void>(at.id.connect(*at.end.qp)); })},
      {"Accept", on<OfRequested>([](OfRequested& at) { static_cast<void>(at.request->accept(*at.server_end.qp)); })},
      {"Reject", on<OfRequested>([](OfRequested& at) { static_cast<void>(at.request->reject()); })},
      {"GetEvent", on<OfBound>([](OfBound& at) {
         static_cast<void>(at.id.resolve_address(loopback("127.0.0.1", 9)));
         static_cast<void>(at.events.get_event(std::chrono::milliseconds(0)));
       })},
      {"DestroyRequest", on<OfRequested>([](OfRequested& at) { at.request.reset(); })},
  };
}

// --- Connections

struct OfPair {
  Pair pair;
  Buffer near{pair.client, 1 << 17}, far{pair.server, 1 << 17};
  MemoryWindow window = must(pair.client.domain.allocate_window(), "window");

  [[nodiscard]] SendRequest request(SendOpcode opcode, const Sge& sge) const {
    return {.opcode = opcode, .segments = {&sge, 1}, .remote_address = far.remote(), .rkey = far.region.rkey()};
  }
  void post(SendOpcode opcode, std::uint32_t length) {
    const Sge sge = near.sge(0, length);
    post(request(opcode, sge));
  }
  void post(SendRequest request) {
    request.wr_id = posts++;
    request.flags = SendFlags::kSignaled;
    if (pair.client.qp->post_send(request)) accepted.push_back(request.wr_id);
  }
  // What was accepted completes once, in order, and nothing else does.
  void expect_completions() {
    std::vector<std::uint64_t> completed;
    const auto end = std::chrono::steady_clock::now() + kPatience;
    while (completed.size() < accepted.size() && std::chrono::steady_clock::now() < end) {
      WorkCompletion one;
      const auto polled = pair.client.cq.poll({&one, 1});
      if (!polled) {  // the completion queue had no memory for one
        EXPECT_EQ(polled.error().code, Errc::kOverflow);
        return;
      }
      if (*polled != 0) completed.push_back(one.wr_id);
    }
    EXPECT_EQ(completed, accepted);
  }
  std::uint64_t posts = 0;
  std::vector<std::uint64_t> accepted = reserved();
  ~OfPair() { expect_completions(); }
  OfPair() = default;
  OfPair(const OfPair&) = delete;
  OfPair& operator=(const OfPair&) = delete;

 private:
  static std::vector<std::uint64_t> reserved() {
    std::vector<std::uint64_t> room;
    room.reserve(4);  // no allocation of the test's fails
    return room;
  }
};

Row posting(const char* name, SendOpcode opcode, std::uint32_t length) {
  return {name, on<OfPair>([=](OfPair& at) { at.post(opcode, length); })};
}

// The client has sent two messages, for which the server has one receive: the second waits in the server's stream.
struct OfReceiver {
  Pair pair;
  Buffer near{pair.server, 64}, far{pair.client, 64};
  std::vector<std::uint64_t> completed = std::vector<std::uint64_t>(8);
  std::size_t count = 0;
  std::uint64_t posts = 0;
  OfReceiver() {
    post();
    const Sge sge = far.sge();
    for (int i = 0; i < 2; ++i)
      must(pair.client.qp->post_send({.opcode = SendOpcode::kSend, .segments = {&sge, 1}}), "send");
  }
  OfReceiver(const OfReceiver&) = delete;
  OfReceiver& operator=(const OfReceiver&) = delete;
  void post() {
    const Sge sge = near.sge();
    if (pair.server.qp->post_receive(ReceiveRequest{.wr_id = posts, .segments = {&sge, 1}})) ++posts;
  }
  // False once the completion queue has lost one, for which it had no memory.
  bool poll() {
    WorkCompletion one;
    const auto polled = pair.server.cq.poll({&one, 1});
    if (!polled) {
      EXPECT_EQ(polled.error().code, Errc::kOverflow);
      return false;
    }
    if (*polled != 0) completed[count++] = one.wr_id;
    return true;
  }
  // Each receive completes once, in order: with a message, or flushed because the connection has ended.
  ~OfReceiver() {
    const auto end = std::chrono::steady_clock::now() + kPatience;
    while (count < std::min<std::uint64_t>(posts, 2) && std::chrono::steady_clock::now() < end) {
      if (!poll()) return;
    }
    EXPECT_GE(count, std::min<std::uint64_t>(posts, 2));
    if (!poll()) return;
    for (std::size_t i = 0; i < count; ++i) EXPECT_EQ(completed[i], i);
  }
};

std::vector<Row> of_connections() {
  return {
      {"PollAndRead", on<OfReceiver>([](OfReceiver& at) {
         for (int i = 0; i < 20; ++i) static_cast<void>(at.poll());
       })},
      {"PostReceiveOfStalled", on<OfReceiver>([](OfReceiver& at) { at.post(); })},
      posting("PostSend", SendOpcode::kSend, 64),
      posting("PostLongSend", SendOpcode::kSend, 1 << 17),
      posting("PostWrite", SendOpcode::kRdmaWrite, 1 << 17),
      posting("PostRead", SendOpcode::kRdmaRead, 1 << 17),
      posting("PostFetchAndAdd", SendOpcode::kFetchAndAdd, 8),
      {"PostBind", on<OfPair>([](OfPair& at) {
         const WindowBind bind{.window = &at.window,
                               .region = &at.near.region,
                               .rkey = at.window.next_rkey(),
                               .address = at.near.region.iova(),
                               .length = 64,
                               .access = Access::kRemoteRead};
         at.post({.opcode = SendOpcode::kBindWindow, .bind = bind});
       })},
      {"Disconnect", on<OfPair>([](OfPair& at) { static_cast<void>(at.pair.client.id->disconnect()); })},
      {"DestroyQueuePair", on<OfPair>([](OfPair& at) { at.pair.client.qp.reset(); })},
      {"ResetQueuePair", on<OfPair>([](OfPair& at) { static_cast<void>(at.pair.client.qp->modify(QpState::kReset)); })},
      {"Describe", on<OfPair>([](OfPair&) { static_cast<void>(live_streams()); })},
      {"Identity", on<OfPair>([](OfPair& at) { static_cast<void>(at.pair.client.id->peer_identity()); })},
  };
}

std::vector<Row> all_rows() {
  std::vector<Row> all;
  for (auto& some : {of_objects(), of_identifiers(), of_connections()}) all.insert(all.end(), some.begin(), some.end());
  return all;
}

INSTANTIATE_TEST_SUITE_P(Calls, FailedCalls, testing::ValuesIn(all_rows()),
                         [](const auto& row) { return std::string(row.param.name); });

// --- What is made within these

TEST(FailedRegions, LeaveNoStag) {
  const auto table = std::make_shared<detail::StagTable>();
  const auto device = detail::DeviceState::create({}).value();
  const auto domain = std::make_shared<detail::ProtectionDomainState>(device);
  std::array<std::byte, 64> octets{};
  for (const std::uint64_t stream : {0U, 7U}) {
    const detail::Grant grant{
        .start = octets.data(), .length = octets.size(), .access = kAllAccess, .only_stream = stream};
    const int failed = weft::test::fail_each_allocation(
        [&] { return [&] { static_cast<void>(detail::RegionState::create(table, domain, grant)); }; });
    EXPECT_GE(failed, stream == 0 ? 3 : 5) << "an index, the region, an entry, and a place in its stream's list";
    EXPECT_EQ(table->size(), 0U);
    EXPECT_FALSE(table->one_limited_to(stream));
  }
}

TEST(FailedRegions, APublicationThatFailsIsNone) {
  detail::StagTable table;
  std::array<std::byte, 64> octets{};
  const detail::Grant grant{.start = octets.data(), .length = octets.size(), .access = kAllAccess, .only_stream = 7};
  const std::uint32_t stag = table.reserve().value();
  for (int nth = 0;; ++nth) {
    const weft::test::FailingAllocation here(nth);
    try {
      table.publish(stag, grant);
    } catch (const std::bad_alloc&) {
    }
    if (!here.has_failed()) break;
    EXPECT_FALSE(table.lease(stag));
    EXPECT_FALSE(table.one_limited_to(7));
    EXPECT_FALSE(table.revoke(stag));
  }
  EXPECT_TRUE(table.lease(stag));
  EXPECT_TRUE(table.revoke(stag));
  EXPECT_FALSE(table.one_limited_to(7));
}

}  // namespace
}  // namespace weft::verbs::test
