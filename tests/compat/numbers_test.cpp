// SPDX-License-Identifier: Apache-2.0
// Numbers that are no enumerators, and names of later versions: refused, and nothing more. UndefinedBehaviorSanitizer
// looks on.
#include "numbers.h"

#include <fcntl.h>
#include <gtest/gtest.h>
#include <rdma/rsocket.h>
#include <sys/epoll.h>
#include <unistd.h>

#include <array>
#include <cerrno>
#include <climits>
#include <cstring>

#include "things.hpp"

namespace weft::compat::test {
namespace {

constexpr std::array kNumbers{-1, 9, 63, 64, 255, 256, 257, 4096, INT_MAX, INT_MIN};

class Numbers : public testing::TestWithParam<int> {};
INSTANTIATE_TEST_SUITE_P(Compat, Numbers, testing::ValuesIn(kNumbers));

TEST_P(Numbers, AreNoEnumeratorsOfLibibverbs) {
  const int number = GetParam();
  const Things things;
  EXPECT_EQ(modify_to(things.qp, number), EINVAL);
  EXPECT_EQ(errno, EINVAL);
  if (number != IBV_QPT_RAW_PACKET && number != IBV_QPT_DRIVER) {
    EXPECT_EQ(create_pair_of(things.pd, things.cq, number), nullptr);
    EXPECT_EQ(errno, EOPNOTSUPP);
  }
  EXPECT_EQ(create_shared_of(things.context, things.pd, number), nullptr);
  EXPECT_EQ(window_of(things.pd, number), nullptr);
  EXPECT_NE(post_opcode(things.qp, number), 0);
  EXPECT_EQ(advise(things.pd, number), EOPNOTSUPP);
  EXPECT_EQ(in_order_of(things.qp, number), 0);
  acknowledge(number == 9 ? number : number | 0x40000000);
}

TEST_P(Numbers, HaveNoText) {
  const int number = GetParam();
  if (number > 40 || number < 0) {
    EXPECT_STREQ(status_text(number), "unknown");
    EXPECT_STREQ(event_text(number), "unknown");
    EXPECT_STREQ(cm_event_text(number), "UNKNOWN EVENT");
    EXPECT_EQ(multiple_of(number), -1);
    EXPECT_EQ(megabits_of(number), -1);
  }
  EXPECT_STREQ(port_text(number), "unknown");
  EXPECT_STREQ(node_text(number), "unknown");
}

TEST_P(Numbers, AreNoEnumeratorsOfLibrdmacm) {
  const int number = GetParam();
  rdma_event_channel* const channel = have(rdma_create_event_channel(), "rdma_create_event_channel");
  rdma_cm_id* id = nullptr;
  EXPECT_EQ(create_id_in(channel, &id, number), -1);
  EXPECT_EQ(errno, EINVAL);
  ASSERT_EQ(create_id_in(channel, &id, RDMA_PS_TCP), 0);
  sockaddr_in address = loopback(0);
  ASSERT_EQ(rdma_bind_addr(id, plain(address)), 0);
  EXPECT_EQ(notify_with(id, number), 0);
  EXPECT_EQ(init_attributes_for(id, number), 0);
  EXPECT_EQ(create_pair_on(id, number), -1);
  rdma_addrinfo at{};
  at.ai_src_addr = plain(address);
  at.ai_src_len = sizeof address;
  at.ai_flags = RAI_PASSIVE;
  rdma_cm_id* made = nullptr;
  EXPECT_EQ(create_ep_of(&made, &at, number, IBV_QPT_RC), -1);
  EXPECT_EQ(create_ep_of(&made, &at, RDMA_PS_TCP, number | 0x40000000), -1);
  at.ai_src_addr = nullptr;
  EXPECT_EQ(rdma_destroy_id(id), 0);
  rdma_destroy_event_channel(channel);
}

TEST(NewerNames, AnswerThatTheyAreNotThere) {
  const Things things;
  errno = 0;
  EXPECT_EQ(newer_cm_event(), -1);
  EXPECT_EQ(errno, ENOSYS);
  EXPECT_EQ(newer_port_speed(things.context), ENOSYS);
  errno = 0;
  EXPECT_EQ(newer_counter(things.context), nullptr);
  EXPECT_EQ(errno, ENOSYS);
  EXPECT_STREQ(cm_event_text(RDMA_CM_EVENT_TIMEWAIT_EXIT + 1), "RDMA_CM_EVENT_ADDRINFO_RESOLVED");
}

TEST(NewerNames, EpollTakesRsocketsAndOthers) {
  errno = 0;
  EXPECT_EQ(repoll_create(0), -1);
  EXPECT_EQ(errno, EINVAL);
  const int set = repoll_create(1);
  ASSERT_GE(set, 0);
  const int listener = rsocket(AF_INET, SOCK_STREAM, 0);
  sockaddr_in address = loopback(0);
  socklen_t length = sizeof address;
  ASSERT_EQ(rbind(listener, plain(address), length), 0);
  ASSERT_EQ(rlisten(listener, 1), 0);
  ASSERT_EQ(rgetsockname(listener, plain(address), &length), 0);
  std::array<int, 2> pipe{};
  ASSERT_EQ(::pipe(pipe.data()), 0);

  epoll_event wanted{.events = EPOLLIN, .data = {.u32 = 1}};
  EXPECT_EQ(repoll_ctl(pipe[0], EPOLL_CTL_ADD, listener, &wanted), -1) << "no set";
  EXPECT_EQ(errno, EINVAL);
  EXPECT_EQ(repoll_ctl(-1, EPOLL_CTL_ADD, listener, &wanted), -1);
  EXPECT_EQ(errno, EBADF);
  ASSERT_EQ(repoll_ctl(set, EPOLL_CTL_ADD, listener, &wanted), 0);
  EXPECT_EQ(repoll_ctl(set, EPOLL_CTL_ADD, listener, &wanted), -1);
  EXPECT_EQ(errno, EEXIST);
  wanted.data.u32 = 2;
  ASSERT_EQ(repoll_ctl(set, EPOLL_CTL_ADD, pipe[0], &wanted), 0);

  constexpr int kPatience = 20'000;
  std::array<epoll_event, 4> events{};
  EXPECT_EQ(repoll_wait(set, events.data(), 4, 0), 0);
  ASSERT_EQ(::write(pipe[1], "x", 1), 1);
  ASSERT_EQ(repoll_wait(set, events.data(), 4, kPatience), 1);
  EXPECT_EQ(events[0].data.u32, 2U);
  ASSERT_EQ(repoll_ctl(set, EPOLL_CTL_DEL, pipe[0], nullptr), 0);

  const int client = rsocket(AF_INET, SOCK_STREAM, 0);
  ASSERT_EQ(rfcntl(client, F_SETFL, O_NONBLOCK), 0);
  ASSERT_EQ(rconnect(client, plain(address), length), -1);
  ASSERT_EQ(errno, EINPROGRESS);
  ASSERT_EQ(repoll_wait(set, events.data(), 4, kPatience), 1);
  EXPECT_EQ(events[0].data.u32, 1U);
  EXPECT_EQ(repoll_ctl(set, EPOLL_CTL_DEL, listener, nullptr), 0);
  for (const int one : {client, listener}) EXPECT_EQ(rclose(one), 0);
  for (const int one : {set, pipe[0], pipe[1]}) EXPECT_EQ(::close(one), 0);
}

TEST(NewerNames, RegisterMemory) {
  const Things things;
  std::array<char, 64> memory{};
  ibv_mr* const region = newer_region(things.pd, memory.data(), memory.size(), IBV_ACCESS_LOCAL_WRITE);
  ASSERT_NE(region, nullptr);
  EXPECT_EQ(region->addr, memory.data());
  EXPECT_EQ(ibv_dereg_mr(region), 0);
}

}  // namespace
}  // namespace weft::compat::test
