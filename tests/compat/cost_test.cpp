// SPDX-License-Identifier: Apache-2.0
// What an operation costs through libibverbs' structures, next to the same one through the C++ API: as many system
// calls, and nothing from the heap. Counts do not depend on how busy the machine is.
#include <gtest/gtest.h>

#include <array>
#include <atomic>
#include <functional>
#include <thread>

#include "compat/objects/queue_pair.hpp"
#include "tests/compat/call_count.hpp"
#include "tests/verbs/loopback.hpp"

namespace weft::compat {
namespace {

using test::Calls;
using test::calls_so_far;
using verbs::test::must;

constexpr int kWarmUp = 50;  // buffers, vectors and the kernel's share come to rest
constexpr int kOperations = 200;
constexpr std::size_t kList = 8;

struct Cost : testing::Test {
  // Of kOperations calls of `post`, each of which posts Writes that end in `round`, with the last one's completion
  // reported.
  Calls posting(const std::function<void()>& post) {
    Calls sum{};
    for (int i = -kWarmUp; i < kOperations; ++i) {
      outbox.octets.back() = std::byte{++round};
      const Calls before = calls_so_far();
      post();
      const Calls taken = calls_so_far() - before;
      if (i >= 0) sum += taken;
      await_arrival();  // so the socket is never full
      take_completion();
    }
    return sum;
  }

  void await_arrival() {
    std::atomic_ref<std::byte> last(inbox.octets.back());
    const auto limit = std::chrono::steady_clock::now() + verbs::test::kPatience;
    while (last.load() != std::byte{round}) {
      ASSERT_LT(std::chrono::steady_clock::now(), limit) << "nothing arrived";
      std::this_thread::yield();
    }
  }
  void take_completion() {
    verbs::WorkCompletion completion;
    ASSERT_EQ(must(cq.engine.poll({&completion, 1}), "poll"), 1U) << "a Write is complete when the socket has it";
  }

  [[nodiscard]] verbs::SendRequest request(verbs::SendFlags flags) {
    return {.opcode = verbs::SendOpcode::kRdmaWrite,
            .flags = flags,
            .segments = {&segment, 1},
            .remote_address = inbox.remote(),
            .rkey = inbox.region.rkey()};
  }
  [[nodiscard]] ibv_send_wr wr(unsigned flags) {
    ibv_send_wr wr{};
    wr.opcode = IBV_WR_RDMA_WRITE;
    wr.send_flags = flags;
    wr.sg_list = &sge;
    wr.num_sge = 1;
    wr.wr.rdma.remote_addr = inbox.remote();
    wr.wr.rdma.rkey = inbox.region.rkey();
    return wr;
  }
  void post(ibv_send_wr& first) {
    ibv_send_wr* bad = nullptr;
    ASSERT_EQ(post_send(plain(qp), &first, &bad), 0);
  }
  // In steady state: nothing from the heap, one send, no recv.
  static constexpr Calls kExpected{.allocations = 0, .writes = kOperations, .reads = 0};

  verbs_context opened{};
  verbs::test::Pair pair{{.client_policy = {.startup = {.same_host = verbs::SameHost::kOff}},
                          .client = {.queue_pair = {.max_send_wr = 64, .max_inline = 64}}}};
  verbs::test::Buffer inbox{pair.server, 64};
  verbs::test::Buffer outbox{pair.client, 64};
  verbs::Sge segment = outbox.sge();
  ibv_sge sge{.addr = segment.address, .length = segment.length, .lkey = segment.lkey};
  std::uint8_t round = 0;
  Pd pd{&opened.context, pair.client.domain};
  ibv_qp_init_attr_ex attributes{};
  Qp qp{pd, attributes, std::move(*pair.client.qp), 1};
  Cq cq{&opened.context, nullptr, nullptr, pair.client.cq, 1};
};

TEST_F(Cost, OneWrite) {
  for (const bool inline_data : {false, true}) {
    const verbs::SendRequest ours =
        request(inline_data ? verbs::SendFlags::kSignaled | verbs::SendFlags::kInline : verbs::SendFlags::kSignaled);
    ibv_send_wr theirs = wr(IBV_SEND_SIGNALED | (inline_data ? unsigned{IBV_SEND_INLINE} : 0));
    const Calls cpp = posting([&] { must(qp.engine.post_send(ours), "post_send"); });
    const Calls drop_in = posting([&] { post(theirs); });
    EXPECT_EQ(drop_in, cpp);
    EXPECT_EQ(drop_in, kExpected);
  }
}

TEST_F(Cost, AListIsHandedOverAsOne) {
  std::array<verbs::SendRequest, kList> ours;
  ours.fill(request(verbs::SendFlags::kNone));
  ours.back().flags = verbs::SendFlags::kSignaled;
  std::array<ibv_send_wr, kList> theirs;
  theirs.fill(wr(0));
  theirs.back().send_flags = IBV_SEND_SIGNALED;
  for (std::size_t i = 0; i + 1 < kList; ++i) theirs[i].next = &theirs[i + 1];
  const Calls cpp = posting([&] { ASSERT_TRUE(qp.engine.post_send(std::span<const verbs::SendRequest>(ours))); });
  const Calls drop_in = posting([&] { post(theirs.front()); });
  EXPECT_EQ(drop_in, cpp);
  EXPECT_EQ(drop_in, kExpected);
}

TEST_F(Cost, BuiltRequests) {
  ASSERT_EQ(furnish_builder(qp, IBV_QP_EX_WITH_RDMA_WRITE), 0);
  const Calls built = posting([&] {
    ibv_wr_start(&qp);
    for (std::size_t i = 0; i < kList; ++i) {
      qp.wr_flags = i + 1 == kList ? unsigned{IBV_SEND_SIGNALED} : 0;
      ibv_wr_rdma_write(&qp, inbox.region.rkey(), inbox.remote());
      ibv_wr_set_sge(&qp, sge.lkey, sge.addr, sge.length);
    }
    ASSERT_EQ(ibv_wr_complete(&qp), 0);
  });
  EXPECT_EQ(built, kExpected);
}

// What is there already is handed out without looking at the socket.
TEST_F(Cost, PollingWhatIsThere) {
  furnish_extended_polling(cq, IBV_WC_STANDARD_FLAGS);
  Calls plain_polls{};
  Calls extended_polls{};
  for (int i = 0; i < kOperations; ++i) {
    must(qp.engine.post_send(request(verbs::SendFlags::kSignaled)), "post_send");
    const Calls before = calls_so_far();
    ibv_wc completion{};
    if (i % 2 == 0) {
      ASSERT_EQ(poll_cq(plain(cq), 1, &completion), 1);
      plain_polls += calls_so_far() - before;
    } else {
      ASSERT_EQ(ibv_start_poll(&cq, nullptr), 0);
      ibv_end_poll(&cq);
      extended_polls += calls_so_far() - before;
    }
    outbox.octets.back() = std::byte{++round};
    must(qp.engine.post_send(request(verbs::SendFlags::kSignaled)), "post_send");
    await_arrival();
    take_completion();
  }
  EXPECT_EQ(plain_polls, Calls{});
  EXPECT_EQ(extended_polls, Calls{});
}

// And a poll in vain asks the socket once, unless the progress thread is at it.
TEST_F(Cost, PollingInVain) {
  const auto reads = [](const std::function<void()>& poll) {
    const Calls before = calls_so_far();
    for (int i = 0; i < kOperations; ++i) poll();
    return (calls_so_far() - before).reads;
  };
  ibv_wc theirs{};
  verbs::WorkCompletion ours;
  EXPECT_LE(reads([&] { EXPECT_EQ(poll_cq(plain(cq), 1, &theirs), 0); }), std::size_t{kOperations});
  EXPECT_LE(reads([&] { EXPECT_EQ(must(cq.engine.poll({&ours, 1}), "poll"), 0U); }), std::size_t{kOperations});
}

// A queue that was never used takes memory for its receives, the same for both.
TEST_F(Cost, PostingReceives) {
  constexpr int kReceives = 16;
  ibv_recv_wr wr{};
  ibv_recv_wr* bad = nullptr;
  const Calls begin = calls_so_far();
  for (int i = 0; i < kReceives; ++i) ASSERT_EQ(post_recv(plain(qp), &wr, &bad), 0);
  const Calls drop_in = calls_so_far() - begin;
  const Calls middle = calls_so_far();
  for (int i = 0; i < kReceives; ++i) must(pair.server.qp->post_receive(verbs::ReceiveRequest{}), "post_receive");
  EXPECT_EQ(drop_in, calls_so_far() - middle);
}

}  // namespace
}  // namespace weft::compat
