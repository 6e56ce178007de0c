// SPDX-License-Identifier: Apache-2.0
// Who makes progress, and what it costs: idle targets, idle devices, pollers, events, many threads, revocation under
// traffic, and what is left when all is gone.
#include <dirent.h>
#include <fcntl.h>
#include <malloc.h>
#include <poll.h>
#include <sys/resource.h>
#include <sys/socket.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <atomic>
#include <filesystem>
#include <fstream>
#include <string_view>
#include <thread>
#include <utility>

#include "loopback.hpp"

namespace weft::verbs::test {
namespace {

bool has_event(const CompletionChannel& channel, std::chrono::milliseconds time) {
  pollfd waiting{.fd = channel.descriptor(), .events = POLLIN, .revents = 0};
  return poll(&waiting, 1, static_cast<int>(time.count())) == 1;
}

// The target's application does nothing at all: Writes, Reads and atomics are served (RDMAP-5.2.1-03, RDMAP-5.1-02).
TEST(Progress, OneSidedWorkNeedsNoTarget) {
  Pair pair;
  Buffer near(pair.client, 100000), far(pair.server, 100000);
  const auto all = near.sge(), word = near.sge(0, 8);
  for (unsigned round = 0; round < 5; ++round) {
    near.fill(round);
    std::ranges::fill(far.octets, std::byte{0});
    const std::array<SendRequest, 3> work{SendRequest{.opcode = SendOpcode::kRdmaWrite,
                                                      .segments = {&all, 1},
                                                      .remote_address = far.remote(),
                                                      .rkey = far.region.rkey()},
                                          SendRequest{.opcode = SendOpcode::kRdmaRead,
                                                      .segments = {&all, 1},
                                                      .remote_address = far.remote(),
                                                      .rkey = far.region.rkey()},
                                          SendRequest{.opcode = SendOpcode::kFetchAndAdd,
                                                      .flags = SendFlags::kSignaled,
                                                      .segments = {&word, 1},
                                                      .remote_address = far.remote(),
                                                      .rkey = far.region.rkey(),
                                                      .swap_or_add = 1}};
    ASSERT_TRUE(pair.client.qp->post_send(work));
    EXPECT_EQ(pair.client.next().status, WcStatus::kSuccess);
  }
}

// The initiator's application does nothing either: it sleeps until its completion channel wakes it.
TEST(Progress, SleepersAreServedByTheProgressThread) {
  Pair pair;
  Buffer near(pair.client, 1 << 20), far(pair.server, 1 << 20);
  far.fill(1);
  const auto sge = near.sge();
  must(pair.client.cq.arm(Arm::kAll), "arm");
  must(pair.client.qp->post_send({.opcode = SendOpcode::kRdmaRead,
                                  .flags = SendFlags::kSignaled,
                                  .segments = {&sge, 1},
                                  .remote_address = far.remote(),
                                  .rkey = far.region.rkey()}),
       "read");
  ASSERT_TRUE(has_event(pair.client.channel, 10000ms));
  const auto event = must(pair.client.channel.get_event(), "get_event");
  EXPECT_EQ(event.cq_number, pair.client.cq.number());
  EXPECT_EQ(pair.client.cq.unacknowledged_events(), 1U);
  pair.client.cq.acknowledge_events(1);
  EXPECT_EQ(drain(pair.client.cq), 1U);
  EXPECT_EQ(near.octets, far.octets);
  EXPECT_FALSE(has_event(pair.client.channel, 0ms));  // one event per arm()
}

// RDMAP-5.3-06
TEST(Events, SolicitedOnly) {
  Pair pair;
  for (int i = 0; i < 4; ++i) must(pair.server.qp->post_receive({.wr_id = 1}), "post_receive");
  must(pair.server.cq.arm(Arm::kSolicited), "arm");
  must(pair.client.qp->post_send({.opcode = SendOpcode::kSend}), "send");
  EXPECT_FALSE(has_event(pair.server.channel, 50ms));
  must(pair.client.qp->post_send({.opcode = SendOpcode::kSend, .flags = SendFlags::kSolicited}), "send");
  EXPECT_TRUE(has_event(pair.server.channel, 10000ms));
  must(pair.server.channel.get_event(), "get_event");
  wait_until([&, got = std::size_t{0}]() mutable { return (got += drain(pair.server.cq)) == 2; }, "two receives");
  must(pair.server.cq.arm(Arm::kSolicited), "arm");
  must(pair.server.qp->modify(QpState::kError), "ERROR");  // failures count as solicited
  EXPECT_TRUE(has_event(pair.server.channel, 10000ms));
}

TEST(Events, CompletionsAlreadyQueuedRaiseNone) {
  Pair pair;
  must(pair.server.qp->post_receive({.wr_id = 1}), "post_receive");
  must(pair.server.qp->modify(QpState::kError), "ERROR");
  must(pair.server.cq.arm(Arm::kAll), "arm");
  EXPECT_FALSE(has_event(pair.server.channel, 20ms));
  ASSERT_EQ(fcntl(pair.server.channel.descriptor(), F_SETFL, O_NONBLOCK), 0);
  EXPECT_EQ(pair.server.channel.get_event().error().code, Errc::kWouldBlock);
}

// An event that nobody took goes with its queue.
TEST(Events, OfAQueueThatIsGoneDoNotWait) {
  End end;
  {
    auto cq = must(end.device.create_completion_queue({.channel = &end.channel}), "completion queue");
    auto qp = must(end.domain.create_queue_pair({.send_cq = &cq, .receive_cq = &cq}), "queue pair");
    must(qp.modify(QpState::kInit), "INIT");
    must(cq.arm(Arm::kAll), "arm");
    must(qp.post_receive({.wr_id = 1}), "post_receive");
    must(qp.modify(QpState::kError), "ERROR");
    EXPECT_TRUE(has_event(end.channel, 10000ms));
  }
  EXPECT_FALSE(has_event(end.channel, 0ms));
}

double cpu_seconds() {
  rusage usage{};
  getrusage(RUSAGE_SELF, &usage);
  const auto seconds = [](const timeval& time) {
    return static_cast<double>(time.tv_sec) + static_cast<double>(time.tv_usec) / 1e6;
  };
  return seconds(usage.ru_utime) + seconds(usage.ru_stime);
}

long context_switches() {
  rusage usage{};
  getrusage(RUSAGE_SELF, &usage);
  return usage.ru_nvcsw + usage.ru_nivcsw;
}

// Also after a time of polling, and with receives posted.
TEST(Idle, AConnectedDeviceUsesNoProcessor) {
  Pair pair;
  must(pair.server.qp->post_receive({.wr_id = 1}), "post_receive");
  EXPECT_FALSE(pair.client.next_within(pair.client.cq, 20ms));
  EXPECT_FALSE(pair.server.next_within(pair.server.cq, 20ms));
  std::this_thread::sleep_for(50ms);  // the sockets are handed back
  const double before = cpu_seconds();
  const long switches = context_switches();
  std::this_thread::sleep_for(500ms);
  EXPECT_LT(cpu_seconds() - before, 0.005);
  EXPECT_LT(context_switches() - switches, 10);
  // And it is awake when something happens.
  must(pair.client.qp->post_send({.opcode = SendOpcode::kSend}), "send");
  must(pair.server.cq.arm(Arm::kAll), "arm");
  EXPECT_TRUE(drain(pair.server.cq) == 1 || has_event(pair.server.channel, 10000ms));
}

std::size_t entries(const char* path) {
  std::size_t count = 0;
  DIR* directory = opendir(path);
  while (readdir(directory) != nullptr) ++count;
  closedir(directory);
  return count;
}

// A thread that has been joined may stay listed for a moment, so the least that is seen counts.
std::size_t threads() {
  std::size_t least = entries("/proc/self/task");
  for (int i = 0; i < 50; ++i) {
    std::this_thread::sleep_for(1ms);
    least = std::min(least, entries("/proc/self/task"));
  }
  return least;
}

TEST(Idle, NothingIsLeftWhenAllIsGone) {
  {
    Pair warm_up;
  }
  const auto descriptors = entries("/proc/self/fd"), before = threads();
  for (int i = 0; i < 3; ++i) {
    Pair pair;
    if (i == 1) pair.disconnect();
    if (i == 2) must(pair.client.qp->post_send({.opcode = SendOpcode::kSend}), "send");  // never received
  }
  EXPECT_EQ(entries("/proc/self/fd"), descriptors);
  EXPECT_EQ(threads(), before);
}

TEST(Idle, NoThreadBeforeTheFirstConnection) {
  const auto before = threads();
  End end;
  auto events = must(EventChannel::create(), "EventChannel");
  Buffer buffer(end, 100);
  EXPECT_EQ(threads(), before);
}

// What a quiet connection holds, both ends with identifiers and queue pairs; no buffers stay with it.
TEST(Idle, AConnectionIsSmall) {
  constexpr std::size_t kCount = 50;
  mallopt(M_MMAP_THRESHOLD, 128 * 1024);  // the pool's large buffers, which no connection keeps, are not counted
  End shared;
  auto events = must(EventChannel::create(), "EventChannel");
  auto listener = must(ConnectionId::create(events), "id");
  must(listener.bind_address(loopback("127.0.0.1")), "bind");
  must(listener.listen(), "listen");
  std::vector<ConnectionId> ids;
  std::vector<QueuePair> pairs;
  std::vector<std::ptrdiff_t> growth;  // of the heap, by one connection
  auto before = static_cast<std::ptrdiff_t>(mallinfo2().uordblks);
  for (std::size_t i = 0; i < kCount; ++i) {
    auto id = must(ConnectionId::create(events), "id");
    must(id.resolve_address(listener.local_address()), "resolve");
    expect_event(events, ConnectionEventType::kAddressResolved);
    must(id.resolve_route(), "route");
    expect_event(events, ConnectionEventType::kRouteResolved);
    for (int end = 0; end < 2; ++end)
      pairs.push_back(must(shared.domain.create_queue_pair({.send_cq = &shared.cq, .receive_cq = &shared.cq}), "qp"));
    must(id.connect(pairs[pairs.size() - 2]), "connect");
    auto request = expect_event(events, ConnectionEventType::kConnectRequest);
    must(request.request->accept(pairs.back()), "accept");
    expect_event(events, ConnectionEventType::kEstablished);
    expect_event(events, ConnectionEventType::kEstablished);
    ids.push_back(std::move(id));
    ids.push_back(std::move(*request.request));
    const auto now = static_cast<std::ptrdiff_t>(mallinfo2().uordblks);
    growth.push_back(now - std::exchange(before, now));
  }
  // The median: some connections also made a table or the pool of buffers grow, which are there for all.
  std::ranges::nth_element(growth, growth.begin() + kCount / 2);
  EXPECT_LT(growth[kCount / 2], 10 * 1024);
  const bool measured = mallinfo2().uordblks != 0;  // a sanitizer's allocator tells nothing
  EXPECT_EQ(growth[kCount / 2] > 0, measured);
}

// Everything from many threads at once, as libibverbs allows: posting, polling, querying, registering.
TEST(Traffic, ManyThreadsOnOneQueuePair) {
  constexpr int kThreads = 3, kTimes = 300;
  Pair pair({.client = {.queue_pair = {.max_send_wr = kThreads * kTimes}, .cq_capacity = kThreads * kTimes},
             .server = {.queue_pair = {.max_receive_wr = kThreads * kTimes}, .cq_capacity = kThreads * kTimes}});
  std::atomic<int> sent{0}, received{0};
  std::vector<std::thread> threads;
  for (int t = 0; t < kThreads; ++t) {
    threads.emplace_back([&] {
      Buffer buffer(pair.client, 64);
      const auto sge = buffer.sge();
      for (int i = 0; i < kTimes; ++i) {
        must(pair.server.qp->post_receive({.wr_id = 1}), "post_receive");
        must(pair.client.qp->post_send({.opcode = SendOpcode::kSend,
                                        .flags = SendFlags::kSignaled | SendFlags::kInline,
                                        .segments = {i % 2 == 0 ? &sge : nullptr, 0}}),
             "send");
        sent += static_cast<int>(drain(pair.client.cq));
        received += static_cast<int>(drain(pair.server.cq));
        const auto state = pair.client.qp->query().state;
        EXPECT_EQ(state, QpState::kRts);
      }
    });
  }
  for (auto& thread : threads) thread.join();
  wait_until([&] { return (sent += static_cast<int>(drain(pair.client.cq))) == kThreads * kTimes; }, "sends");
  wait_until([&] { return (received += static_cast<int>(drain(pair.server.cq))) == kThreads * kTimes; }, "receives");
}

// DDP-8.3-02, DDP-8.3.1-07,
// RDMAP-8.1.1-06, SEC-6.2.2-02: after deregistering nothing writes there any more.
TEST(Traffic, DeregisteringUnderWrites) {
  for (int round = 0; round < 5; ++round) {
    Pair pair;
    Buffer near(pair.client, 1 << 18);
    near.fill(3);
    Buffer far(pair.server, 1 << 18);
    const auto sge = near.sge();
    std::vector<SendRequest> work(64, SendRequest{.opcode = SendOpcode::kRdmaWrite,
                                                  .segments = {&sge, 1},
                                                  .remote_address = far.remote(),
                                                  .rkey = far.region.rkey()});
    ASSERT_TRUE(pair.client.qp->post_send(work));
    wait_until([&] { return std::atomic_ref(far.octets.back()).load() == near.octets.back(); }, "the first write");
    must(far.region.deregister(), "deregister");
    std::ranges::fill(far.octets, std::byte{0x55});
    std::this_thread::sleep_for(20ms);
    EXPECT_EQ(std::ranges::count(far.octets, std::byte{0x55}), 1 << 18);
    static_cast<void>(pair.client.qp->post_send(work[0]));  // should all of them have been in time
    pair.event(ConnectionEventType::kDisconnected);
    pair.event(ConnectionEventType::kDisconnected);
  }
}

// The same for the source of our own work: the owner may unmap it.
TEST(Traffic, DeregisteringASource) {
  for (const bool crc : {true, false}) {
    Pair pair({.client_policy = {.crc = crc}, .server_policy = {.crc = crc}});
    Buffer far(pair.server, 1 << 20);
    auto near = std::make_unique<Buffer>(pair.client, 1 << 20);
    const auto sge = near->sge();
    std::vector<SendRequest> work(64, SendRequest{.opcode = SendOpcode::kRdmaWrite,
                                                  .segments = {&sge, 1},
                                                  .remote_address = far.remote(),
                                                  .rkey = far.region.rkey()});
    ASSERT_TRUE(pair.client.qp->post_send(work));
    near.reset();  // deregisters and frees: a later touch is seen by the sanitizers
    const auto done = pair.client.next();
    EXPECT_EQ(done.status, WcStatus::kLocalProtectionError);
  }
}

// What is sent with --pcap is a file of its own kind; its contents are judged by tests/captures and tshark.
TEST(Capture, RecordsAConnection) {
  const std::string path = ::testing::TempDir() + "verbs_capture.pcap";
  must(set_capture_file(path), "set_capture_file");
  {
    Pair pair;
    must(pair.server.qp->post_receive({.wr_id = 1}), "post_receive");
    must(pair.client.qp->post_send({.opcode = SendOpcode::kSend}), "send");
    EXPECT_EQ(pair.server.next().status, WcStatus::kSuccess);
    pair.disconnect();
  }
  must(set_capture_file(""), "stop");
  std::ifstream file(path, std::ios::binary | std::ios::ate);
  EXPECT_GT(file.tellg(), 24 + 8 * 60);
  const Error nowhere = set_capture_file("/no/such/folder/x.pcap").error();
  EXPECT_EQ(nowhere.argument, "path");
  EXPECT_EQ(nowhere.message(), "path: cannot write a capture file there (system error; No such file or directory)");
}

// What came is in the capture, also where the engine has no use for it: a Request that is refused (of revision 9), and
// the front of a Request that ends by FIN.
TEST(Capture, RecordsWhatIsNoWholeFrame) {
  using namespace std::string_view_literals;
  const std::string path = ::testing::TempDir() + "verbs_capture_rest.pcap";
  for (const auto octets : {"MPA ID Req Frame\x40\x09\x00\x00"sv, "MPA ID Req Frame\x40"sv}) {
    must(set_capture_file(path), "set_capture_file");
    auto events = must(EventChannel::create(), "EventChannel");
    auto listener = must(ConnectionId::create(events), "ConnectionId");
    must(listener.bind_address(loopback("127.0.0.1")), "bind_address");
    must(listener.listen(), "listen");
    const int peer = ::socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);
    sockaddr_storage storage{};
    const auto size = listener.local_address().to_sockaddr(storage);
    ASSERT_EQ(::connect(peer, reinterpret_cast<sockaddr*>(&storage), size), 0);
    ASSERT_EQ(::send(peer, octets.data(), octets.size(), MSG_NOSIGNAL), static_cast<ssize_t>(octets.size()));
    ASSERT_EQ(::shutdown(peer, SHUT_WR), 0);
    char none{};
    EXPECT_EQ(::recv(peer, &none, 1, 0), 0);  // the server has closed, and written before that
    ::close(peer);
    must(set_capture_file(""), "stop");
    std::ifstream file(path, std::ios::binary);
    const std::string capture{std::istreambuf_iterator<char>(file), {}};
    EXPECT_NE(capture.find(octets), std::string::npos) << octets.size();
    std::filesystem::remove(path);
  }
}

// From now on every write to this open file finds its disk full.
void fill_disk_under(const std::string& path) {
  const int full = ::open("/dev/full", O_WRONLY | O_CLOEXEC);
  ASSERT_GE(full, 0);
  for (const auto& entry : std::filesystem::directory_iterator("/proc/self/fd")) {
    std::error_code gone;
    if (std::filesystem::read_symlink(entry, gone) == path) ::dup2(full, std::stoi(entry.path().filename()));
  }
  ::close(full);
}

// The connection goes on without its capture.
TEST(Capture, ThatFailsMidwayIsToldOnce) {
  const std::string path = std::filesystem::canonical(::testing::TempDir()) / "verbs_capture_full.pcap";
  must(set_capture_file(path), "set_capture_file");
  testing::internal::CaptureStderr();
  {
    Pair pair;
    fill_disk_under(path);
    for (int i = 0; i < 3; ++i) {
      must(pair.server.qp->post_receive({.wr_id = 1}), "post_receive");
      must(pair.client.qp->post_send({.opcode = SendOpcode::kSend}), "send");
      EXPECT_EQ(pair.server.next().status, WcStatus::kSuccess);
    }
    pair.disconnect();
  }
  const std::string log = testing::internal::GetCapturedStderr();
  must(set_capture_file(""), "stop");
  std::filesystem::remove(path);
  const std::string told = "cannot write " + path + ": No space left on device";
  const auto first = log.find("warning: capture: " + told);
  EXPECT_NE(first, std::string::npos) << log;
  EXPECT_EQ(log.find(told, first + told.size()), std::string::npos) << log;
}

}  // namespace
}  // namespace weft::verbs::test
