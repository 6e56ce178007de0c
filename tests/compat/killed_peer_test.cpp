// SPDX-License-Identifier: Apache-2.0
// kill -9 of the peer: what libibverbs and librdmacm promise the survivor is DISCONNECTED, each work request back
// exactly once, and a queue pair in ERR that can be taken down. Through the facades, as a program sees it.
#include <arpa/inet.h>
#include <gmock/gmock.h>
#include <sys/wait.h>

#include <algorithm>
#include <csignal>
#include <memory>
#include <numeric>
#include <optional>
#include <stdexcept>
#include <string>
#include <vector>

#include "ends.hpp"
#include "tests/tools/command.hpp"

namespace weft::compat::test {
namespace {

using testing::AllOf;
using testing::Each;
using testing::ElementsAre;
using testing::Field;
using testing::IsEmpty;
using testing::Not;

constexpr std::uint64_t kReceives = 8;
constexpr std::uint64_t kWrites = 12;
constexpr std::uint64_t kRead = 100;
constexpr std::uint64_t kFirstWrite = 200;
constexpr EndOptions kMegabyte{.octets = 1U << 20};  // twelve are more than sockets hold

enum class Role { kServer, kClient };

// The survivor, connected with a process that can be killed.
struct Survivor {
  explicit Survivor(Role role, const EndOptions& options = kMegabyte) {
    if (role == Role::kServer) {
      accept(options);
    } else {
      connect(options);
    }
    if (!peer->wait_for_output("connected", kPatience)) throw std::runtime_error("the peer says: " + peer->err());
  }
  ~Survivor() {
    end.reset();
    if (listener != nullptr) rdma_destroy_id(listener);
  }
  Survivor(const Survivor&) = delete;
  Survivor& operator=(const Survivor&) = delete;

  void accept(const EndOptions& options) {
    listener = listening(events);
    start_peer({std::to_string(ntohs(rdma_get_src_port(listener)))});
    const Happened request = events.next(RDMA_CM_EVENT_CONNECT_REQUEST);
    there = request.place;
    end.emplace(request.id, options);
    end->accept();
    static_cast<void>(events.next(RDMA_CM_EVENT_ESTABLISHED));
  }
  void connect(const EndOptions& options) {
    start_peer({});
    if (!peer->wait_for_output(".\n", kPatience)) throw std::runtime_error("the peer says: " + peer->err());
    const std::string said = peer->out();
    const int port = std::stoi(said.substr(said.find(' ') + 1));
    end.emplace(resolved(events, static_cast<std::uint16_t>(port)), options);
    end->connect();
    there = events.next(RDMA_CM_EVENT_ESTABLISHED).place;
  }
  void start_peer(const std::vector<std::string>& arguments) {
    peer = std::make_unique<weft::test::Command>(arguments, WEFT_KILLED_PEER);
  }
  void post_receives() const {
    for (std::uint64_t i = 0; i < kReceives; ++i) end->post_receive(i);
  }
  void stop_peer() const {
    int status = 0;
    peer->signal(SIGSTOP);
    ASSERT_EQ(::waitpid(peer->pid(), &status, WUNTRACED), peer->pid());
    ASSERT_TRUE(WIFSTOPPED(status)) << status;
  }
  // The peer stands still, so its kernel takes what its socket holds, and the rest stays here.
  void post_what_cannot_be_done() const {
    stop_peer();
    end->post_send(kRead, IBV_WR_RDMA_READ, there);
    for (std::uint64_t i = 0; i < kWrites; ++i) end->post_send(kFirstWrite + i, IBV_WR_RDMA_WRITE, there);
  }
  void kill() const {
    peer->signal(SIGKILL);
    EXPECT_EQ(events.next(RDMA_CM_EVENT_DISCONNECTED).id, end->id);
  }
  // The next asynchronous event, acknowledged.
  [[nodiscard]] ibv_event_type next_async() const {
    EXPECT_TRUE(readable(end->id->verbs->async_fd)) << "no asynchronous event";
    ibv_async_event event{};
    must(ibv_get_async_event(end->id->verbs, &event), "ibv_get_async_event");
    EXPECT_EQ(event.element.qp, end->id->qp);
    ibv_ack_async_event(&event);
    return event.event_type;
  }

  Events events{};
  rdma_cm_id* listener = nullptr;
  std::unique_ptr<weft::test::Command> peer{};
  std::optional<End> end{};
  Place there{};
};

std::vector<std::uint64_t> ids(const std::vector<ibv_wc>& completions) {
  std::vector<std::uint64_t> all;
  for (const auto& one : completions) all.push_back(one.wr_id);
  return all;
}

std::vector<std::uint64_t> count_from(std::uint64_t first, std::uint64_t count) {
  std::vector<std::uint64_t> all(count);
  std::iota(all.begin(), all.end(), first);
  return all;
}

// Those of the receives, or of the sends, in their order.
std::vector<ibv_wc> take(std::vector<ibv_wc> from, bool receives) {
  std::erase_if(from, [&](const ibv_wc& one) { return (one.wr_id < kReceives) != receives; });
  return from;
}

const auto kFlushed = Field(&ibv_wc::status, IBV_WC_WR_FLUSH_ERR);

// ERR, nothing more to come, and what is posted now comes back flushed at once.
void expect_dead(const End& end) {
  EXPECT_EQ(end.state(), IBV_QPS_ERR);
  EXPECT_EQ(end.id->qp->state, IBV_QPS_ERR);
  EXPECT_THAT(end.completions(0), IsEmpty());
  end.post_receive(0);
  EXPECT_THAT(end.completions(1), ElementsAre(AllOf(kFlushed, Field(&ibv_wc::wr_id, 0U))));
  EXPECT_EQ(rdma_disconnect(end.id), 0);
}

class KilledPeer : public testing::TestWithParam<Role> {};
INSTANTIATE_TEST_SUITE_P(OfThe, KilledPeer, testing::Values(Role::kServer, Role::kClient),
                         [](const auto& role) { return role.param == Role::kServer ? "Server" : "Client"; });

TEST_P(KilledPeer, WhileReceivesWait) {
  const Survivor survivor(GetParam());
  survivor.post_receives();
  survivor.kill();
  const auto completions = survivor.end->completions(kReceives);
  EXPECT_THAT(completions, Each(kFlushed));
  EXPECT_EQ(ids(completions), count_from(0, kReceives));
  expect_dead(*survivor.end);
}

TEST_P(KilledPeer, InTheMiddleOfReadsAndWrites) {
  const Survivor survivor(GetParam());
  survivor.post_receives();
  survivor.post_what_cannot_be_done();
  survivor.kill();
  const auto completions = survivor.end->completions(kReceives + 1 + kWrites);
  const auto receives = take(completions, true);
  EXPECT_EQ(ids(receives), count_from(0, kReceives));
  EXPECT_THAT(receives, Each(kFlushed));
  // In order: the Read, which cannot have been answered; then the Writes that the kernel took, and those that it did
  // not.
  const auto sends = take(completions, false);
  ASSERT_EQ(sends.size(), 1 + kWrites);
  EXPECT_EQ(sends.front().wr_id, kRead);
  EXPECT_EQ(sends.front().status, IBV_WC_WR_FLUSH_ERR);
  const std::vector<ibv_wc> writes(sends.begin() + 1, sends.end());
  EXPECT_EQ(ids(writes), count_from(kFirstWrite, kWrites));
  const auto lost = std::ranges::find(writes, IBV_WC_WR_FLUSH_ERR, &ibv_wc::status);
  EXPECT_THAT(std::vector(writes.begin(), lost), Each(Field(&ibv_wc::status, IBV_WC_SUCCESS)));
  EXPECT_THAT(std::vector(lost, writes.end()), AllOf(Not(IsEmpty()), Each(kFlushed)));
  expect_dead(*survivor.end);
}

// IBV_EVENT_QP_LAST_WQE_REACHED is what tells a program that shares receives that none more is taken by this queue
// pair.
TEST_P(KilledPeer, WhileSharedReceivesWait) {
  const Survivor survivor(GetParam(), {.shared_receives = true});
  survivor.post_receives();
  survivor.kill();
  EXPECT_EQ(survivor.next_async(), IBV_EVENT_QP_LAST_WQE_REACHED);
  EXPECT_EQ(survivor.end->state(), IBV_QPS_ERR);
  EXPECT_THAT(survivor.end->completions(0), IsEmpty());  // they stay, for the queue's other pairs
}

}  // namespace
}  // namespace weft::compat::test
