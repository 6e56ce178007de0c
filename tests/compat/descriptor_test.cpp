// SPDX-License-Identifier: Apache-2.0
// The descriptors of completion channels, event channels and asynchronous events, and what programs do with them:
// non-blocking mode, poll and epoll, duplicates (libiscsi puts them over a number of its own), signals; and what they
// must not do: close them.
#include <fcntl.h>
#include <gtest/gtest.h>
#include <poll.h>
#include <sys/epoll.h>
#include <sys/eventfd.h>
#include <sys/time.h>
#include <unistd.h>

#include <cerrno>
#include <csignal>

#include "things.hpp"

namespace weft::compat::test {
namespace {

constexpr int kPatience = 30'000;  // ms

bool readable(int descriptor) {
  pollfd waiting{.fd = descriptor, .events = POLLIN, .revents = 0};
  return ::poll(&waiting, 1, 0) == 1;
}

void make_non_blocking(int descriptor) {
  ASSERT_EQ(::fcntl(descriptor, F_SETFL, ::fcntl(descriptor, F_GETFL) | O_NONBLOCK), 0);
}

struct Epoll {
  const int set = ::epoll_create1(EPOLL_CLOEXEC);
  ~Epoll() { ::close(set); }
  void add(int descriptor, std::uint32_t events) const {
    epoll_event wanted{.events = events, .data = {.fd = descriptor}};
    ASSERT_EQ(::epoll_ctl(set, EPOLL_CTL_ADD, descriptor, &wanted), 0);
  }
  // The descriptor that is ready, or -1.
  [[nodiscard]] int wait(int at_most) const {
    epoll_event ready{};
    return ::epoll_wait(set, &ready, 1, at_most) == 1 ? ready.data.fd : -1;
  }
};

// The three kinds, alike: get() takes an event as the program would, and answers 0, or -1 with errno.
struct CompletionEvents : Things {
  [[nodiscard]] int descriptor() const { return channel->fd; }
  [[nodiscard]] int get() const {
    ibv_cq* which = nullptr;
    void* cq_context = nullptr;
    if (ibv_get_cq_event(channel, &which, &cq_context) != 0) return -1;
    EXPECT_EQ(which, cq);
    ibv_ack_cq_events(which, 1);
    return 0;
  }
  void cause() const {
    ASSERT_EQ(ibv_req_notify_cq(cq, 0), 0);
    complete_receives(qp, 1);
  }
  void destroy() {
    EXPECT_EQ(ibv_destroy_qp(std::exchange(qp, nullptr)), 0);
    EXPECT_EQ(ibv_destroy_cq(std::exchange(cq, nullptr)), 0);
    EXPECT_EQ(ibv_destroy_comp_channel(std::exchange(channel, nullptr)), 0);
  }
};

// A completion queue that overflows.
struct AsyncEvents : Things {
  [[nodiscard]] int descriptor() const { return context->async_fd; }
  [[nodiscard]] int get() const {
    ibv_async_event event{};
    if (ibv_get_async_event(context, &event) != 0) return -1;
    EXPECT_EQ(event.event_type, IBV_EVENT_CQ_ERR);
    ibv_ack_async_event(&event);
    return 0;
  }
  void cause() {
    ASSERT_EQ(small, nullptr);
    small = have(ibv_create_cq(context, 1, nullptr, nullptr, 0), "ibv_create_cq");
    ibv_qp_init_attr wanted = qp_wishes(small);
    wanted.cap.max_recv_wr = static_cast<std::uint32_t>(small->cqe) + 1;
    overflowing = have(ibv_create_qp(pd, &wanted), "ibv_create_qp");
    complete_receives(overflowing, small->cqe + 1);
  }
  void destroy() {
    let_go();
    EXPECT_EQ(ibv_destroy_qp(std::exchange(qp, nullptr)), 0);
    EXPECT_EQ(ibv_destroy_srq(std::exchange(srq, nullptr)), 0);
    EXPECT_EQ(ibv_destroy_cq(std::exchange(cq, nullptr)), 0);
    EXPECT_EQ(ibv_destroy_comp_channel(std::exchange(channel, nullptr)), 0);
    EXPECT_EQ(ibv_dealloc_pd(std::exchange(pd, nullptr)), 0);
    EXPECT_EQ(ibv_close_device(std::exchange(context, nullptr)), 0);
  }
  void let_go() {
    if (overflowing != nullptr) ibv_destroy_qp(std::exchange(overflowing, nullptr));
    if (small != nullptr) ibv_destroy_cq(std::exchange(small, nullptr));
  }
  ~AsyncEvents() { let_go(); }
  ibv_cq* small = nullptr;
  ibv_qp* overflowing = nullptr;
};

struct CmEvents {
  rdma_event_channel* channel = have(rdma_create_event_channel(), "rdma_create_event_channel");
  rdma_cm_id* id = nullptr;

  CmEvents() { EXPECT_EQ(rdma_create_id(channel, &id, nullptr, RDMA_PS_TCP), 0); }
  ~CmEvents() {
    if (channel != nullptr) destroy();
  }
  [[nodiscard]] int descriptor() const { return channel->fd; }
  [[nodiscard]] int get() const {
    rdma_cm_event* event = nullptr;
    if (rdma_get_cm_event(channel, &event) != 0) return -1;
    EXPECT_EQ(event->event, RDMA_CM_EVENT_ADDR_RESOLVED);
    return rdma_ack_cm_event(event);
  }
  void cause() const {
    sockaddr_in to = loopback(7);
    ASSERT_EQ(rdma_resolve_addr(id, nullptr, plain(to), kPatience), 0);
  }
  void destroy() {
    EXPECT_EQ(rdma_destroy_id(id), 0);
    rdma_destroy_event_channel(std::exchange(channel, nullptr));
  }
};

template <typename Kind>
struct Descriptors : testing::Test {
  Kind events;

  void expect_empty() {
    errno = 0;
    EXPECT_EQ(events.get(), -1);
    EXPECT_EQ(errno, EAGAIN);
  }
};
using Kinds = testing::Types<CompletionEvents, AsyncEvents, CmEvents>;
TYPED_TEST_SUITE(Descriptors, Kinds);

TYPED_TEST(Descriptors, NonBlockingOnesSayWhenTheyAreEmpty) {
  make_non_blocking(this->events.descriptor());
  this->expect_empty();
  this->events.cause();
  pollfd waiting{.fd = this->events.descriptor(), .events = POLLIN, .revents = 0};
  ASSERT_EQ(::poll(&waiting, 1, kPatience), 1);
  EXPECT_EQ(this->events.get(), 0);
  EXPECT_FALSE(readable(this->events.descriptor()));
  this->expect_empty();
}

TYPED_TEST(Descriptors, LevelAndEdgeTriggered) {
  const Epoll level, edge;
  level.add(this->events.descriptor(), EPOLLIN);
  edge.add(this->events.descriptor(), EPOLLIN | EPOLLET);
  EXPECT_EQ(level.wait(0), -1);
  EXPECT_EQ(edge.wait(0), -1);
  this->events.cause();
  EXPECT_EQ(edge.wait(kPatience), this->events.descriptor());
  EXPECT_EQ(edge.wait(0), -1);  // told once
  EXPECT_EQ(level.wait(0), this->events.descriptor());
  EXPECT_EQ(level.wait(0), this->events.descriptor());
  EXPECT_EQ(this->events.get(), 0);
  EXPECT_EQ(level.wait(0), -1);
  EXPECT_EQ(edge.wait(0), -1);
}

// What libiscsi does: the number that its own user polls becomes the channel's.
TYPED_TEST(Descriptors, PutOverANumberOfTheProgram) {
  const int number = ::eventfd(0, EFD_CLOEXEC);
  const Epoll epoll;
  ASSERT_EQ(::dup2(this->events.descriptor(), number), number);
  epoll.add(number, EPOLLIN);
  make_non_blocking(number);  // of the open file, so of the channel
  this->expect_empty();
  this->events.cause();
  EXPECT_EQ(epoll.wait(kPatience), number);
  EXPECT_EQ(this->events.get(), 0);
  EXPECT_FALSE(readable(number));
  this->events.destroy();
  EXPECT_GE(::fcntl(number, F_GETFD), 0);  // a duplicate is the program's own
  ::close(number);
}

TYPED_TEST(Descriptors, ASignalInterruptsTheWaiting) {
  struct sigaction quiet{}, before{};
  quiet.sa_handler = [](int) {};  // without SA_RESTART
  ASSERT_EQ(::sigaction(SIGALRM, &quiet, &before), 0);
  const itimerval again{.it_interval = {.tv_sec = 0, .tv_usec = 20'000}, .it_value = {.tv_sec = 0, .tv_usec = 20'000}};
  ::setitimer(ITIMER_REAL, &again, nullptr);  // again and again: the first may come before the waiting has begun
  errno = 0;
  EXPECT_EQ(this->events.get(), -1);
  EXPECT_EQ(errno, EINTR);
  const itimerval never{};
  ::setitimer(ITIMER_REAL, &never, nullptr);
  ::sigaction(SIGALRM, &before, nullptr);
  this->events.cause();
  EXPECT_EQ(this->events.get(), 0);
}

TYPED_TEST(Descriptors, ClosedByTheProgram) {
  const int number = this->events.descriptor();
  ::close(number);
  errno = 0;
  EXPECT_EQ(this->events.get(), -1);
  EXPECT_EQ(errno, EBADF);
  this->events.cause();
  this->events.destroy();
}

TYPED_TEST(Descriptors, ClosedByTheProgramAndTheNumberIsAnothersNow) {
  const int number = this->events.descriptor();
  const int foreign = ::eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK);
  ASSERT_EQ(::dup2(foreign, number), number);
  this->events.cause();
  EXPECT_EQ(this->events.get(), 0);  // the event came, and not to the foreign file
  std::uint64_t count = 0;
  EXPECT_EQ(::read(number, &count, sizeof count), -1);
  this->events.destroy();
  EXPECT_GE(::fcntl(number, F_GETFD), 0);
  EXPECT_EQ(::write(number, &(count = 1), sizeof count), static_cast<ssize_t>(sizeof count));
  EXPECT_EQ(::read(foreign, &count, sizeof count), static_cast<ssize_t>(sizeof count));
  ::close(number);
  ::close(foreign);
}

}  // namespace
}  // namespace weft::compat::test
