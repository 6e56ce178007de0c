// SPDX-License-Identifier: Apache-2.0
// Sockets that take nothing for now: while an application polls, it is the one to look for room in them, however many
// they are. A progress thread would have to be given a processor first, and a program that polls gives none up.
#include <gtest/gtest.h>

#include <list>

#include "epoll_sets.hpp"
#include "loopback.hpp"

namespace weft::verbs::test {
namespace {

constexpr std::size_t kCount = 6;  // more than are read one by one
constexpr std::uint32_t kSize = 16 << 20;

// Connections from one completion queue, each to an end of its own that has posted no receive yet, and waits for one.
struct Blocked : testing::Test {
  EventChannel events = must(EventChannel::create(), "EventChannel");
  ConnectionId listener = must(ConnectionId::create(events), "id");
  End shared;
  std::list<End> targets;
  std::vector<QueuePair> sources;
  std::vector<ConnectionId> ids;
  Buffer octets{shared, kSize};
  std::list<Buffer> sinks;

  Blocked() {
    must(listener.bind_address(loopback("127.0.0.1")), "bind");
    must(listener.listen(), "listen");
    while (targets.size() < kCount) connect();
    octets.fill(1);
  }

  void connect() {
    auto& target = targets.emplace_back();
    sinks.emplace_back(target, kSize);
    auto id = must(ConnectionId::create(events), "id");
    must(id.set_policy({.startup = {.same_host = SameHost::kOff}}), "set_policy");  // a ring is awaited by nobody
    resolve(id, events, listener.local_address());
    sources.push_back(must(shared.domain.create_queue_pair({.send_cq = &shared.cq, .receive_cq = &shared.cq}), "qp"));
    target.id = establish(id, events, sources.back(), *target.qp);
    ids.push_back(std::move(id));
  }

  void poll_once() {
    WorkCompletion none;
    EXPECT_EQ(must(shared.cq.poll({&none, 1}), "poll"), 0U);
  }
};

TEST_F(Blocked, NobodyWatchesBeforeSomebodyPolls) {
  const auto before = epoll_sets().size();
  poll_once();
  EXPECT_EQ(epoll_sets().size(), before + 1) << "the queue's own";
}

TEST_F(Blocked, AreWatchedByWhoPolls) {
  const auto sge = octets.sge();
  for (auto& source : sources)
    must(source.post_send({.opcode = SendOpcode::kSend, .flags = SendFlags::kSignaled, .segments = {&sge, 1}}), "send");
  const auto before = epoll_sets();
  poll_once();
  std::string own;  // the queue's set
  for (const auto& [name, sockets] : epoll_sets()) {
    if (!before.contains(name)) own = name;
  }
  wait_until(
      [&] {
        for (int i = 0; i < 50; ++i) poll_once();
        return epoll_sets(EPOLLOUT)[own] == static_cast<int>(kCount);
      },
      "whoever polls awaits room in all of the sockets");
  auto sink = sinks.begin();
  for (auto& target : targets) {
    const auto into = sink++->sge();
    must(target.qp->post_receive({.segments = {&into, 1}}), "post_receive");
  }
  for (std::size_t i = 0; i < kCount; ++i) EXPECT_EQ(shared.next().status, WcStatus::kSuccess);
  for (auto& target : targets) EXPECT_EQ(target.next().byte_len, kSize);
  for (const auto& into : sinks) EXPECT_EQ(into.octets, octets.octets);
}

}  // namespace
}  // namespace weft::verbs::test
