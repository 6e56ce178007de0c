// SPDX-License-Identifier: Apache-2.0
#include "verbs/base/notification_queue.hpp"

#include <fcntl.h>
#include <gtest/gtest.h>

#include <atomic>
#include <thread>

#include "nagging.hpp"

namespace weft::verbs::detail {
namespace {

using std::chrono::milliseconds;
using Notifications = NotificationQueue<int>;

bool readable(const Notifications& queue) {
  pollfd waiting{.fd = queue.descriptor(), .events = POLLIN, .revents = 0};
  return poll(&waiting, 1, 0) == 1;
}

TEST(NotificationQueue, IsReadableWhileEventsWait) {
  const auto queue = Notifications::create(2).value();
  EXPECT_FALSE(readable(*queue));
  EXPECT_EQ(queue->get(milliseconds(0)).error().code, Errc::kTimedOut);
  EXPECT_EQ(queue->get(milliseconds(5)).error().code, Errc::kTimedOut);
  EXPECT_TRUE(queue->post(1));
  EXPECT_TRUE(queue->post(2));
  EXPECT_FALSE(queue->post(3));  // the bound
  EXPECT_EQ(queue->get(), 1);
  EXPECT_EQ(queue->get(milliseconds::max()), 2);
  EXPECT_FALSE(readable(*queue));
  ASSERT_EQ(fcntl(queue->descriptor(), F_SETFL, O_NONBLOCK), 0);
  EXPECT_EQ(queue->get().error().code, Errc::kWouldBlock);
}

TEST(NotificationQueue, WhatWasWithdrawnIsNotWaitedFor) {
  const auto queue = Notifications::create(10).value();
  for (int event = 1; event <= 5; ++event) queue->post(event);
  EXPECT_EQ(queue->withdraw([](int event) { return event % 2 == 1; }), (std::vector{1, 3, 5}));
  EXPECT_EQ(queue->get(), 2);
  EXPECT_EQ(queue->get(), 4);
  EXPECT_FALSE(readable(*queue));
  EXPECT_EQ(queue->get(milliseconds(1)).error().code, Errc::kTimedOut);
  queue->post(6);
  EXPECT_EQ(queue->get(), 6);
}

// A thread that waits for a time is told of a signal, and may wait on.
TEST(NotificationQueue, ASignalEndsATimedWait) {
  const auto queue = Notifications::create(1).value();
  const verbs::test::Nagging nagging;
  EXPECT_EQ(queue->get(std::chrono::minutes(1)).error().code, Errc::kInterrupted);
}

// An event whose taker comes before long does not show at the descriptor; what comes beside it does.
TEST(NotificationQueue, WhatIsHeldBackNeedsNoToken) {
  const auto queue = Notifications::create(3).value();
  EXPECT_TRUE(queue->hold_back(1));
  EXPECT_FALSE(readable(*queue));
  EXPECT_TRUE(queue->hold_back(2));
  EXPECT_TRUE(queue->post(3));
  EXPECT_FALSE(queue->hold_back(4));  // the bound
  EXPECT_TRUE(readable(*queue));
  EXPECT_EQ(queue->take_now(), 1);
  EXPECT_EQ(queue->get(), 2);
  EXPECT_TRUE(readable(*queue));
  EXPECT_EQ(queue->take_now(), 3);
  EXPECT_FALSE(readable(*queue));
  EXPECT_EQ(queue->take_now(), std::nullopt);
}

// Another reader may get it, as it would with a token: then the caller finds the next one, or none.
TEST(NotificationQueue, TokensAndPlacesStayAsMany) {
  const auto queue = Notifications::create(3).value();
  queue->hold_back(1);
  queue->post(2);
  EXPECT_EQ(queue->get(milliseconds(0)), 1);  // as a thread that waits at the descriptor does: by 2's token
  EXPECT_FALSE(readable(*queue));
  EXPECT_EQ(queue->take_now(), 2);
  EXPECT_EQ(queue->get(milliseconds(0)).error().code, Errc::kTimedOut);
}

TEST(NotificationQueue, WhatIsHeldBackMayBeShown) {
  const auto queue = Notifications::create(3).value();
  queue->show();
  EXPECT_FALSE(readable(*queue));
  queue->hold_back(1);
  queue->show();
  queue->show();
  EXPECT_TRUE(readable(*queue));
  EXPECT_EQ(queue->get(), 1);
  EXPECT_FALSE(readable(*queue));
}

TEST(NotificationQueue, WhatIsHeldBackMayBeWithdrawn) {
  const auto queue = Notifications::create(3).value();
  queue->hold_back(1);
  EXPECT_EQ(queue->withdraw([](int) { return true; }), (std::vector{1}));
  EXPECT_EQ(queue->take_now(), std::nullopt);
  queue->post(2);
  EXPECT_EQ(queue->get(milliseconds(0)), 2);
  queue->hold_back(3);
  queue->post(4);
  EXPECT_EQ(queue->withdraw([](int event) { return event == 4; }), (std::vector{4}));
  EXPECT_EQ(queue->get(milliseconds(0)), 3);  // by 4's token: it is told now
  EXPECT_FALSE(readable(*queue));
}

// What a program must not do: its next file gets the number.
TEST(NotificationQueue, ADescriptorClosedByTheProgramIsNotTouchedAnyMore) {
  auto queue = Notifications::create(2).value();
  const int number = queue->descriptor();
  ::close(number);
  EXPECT_EQ(queue->get().error().to_errno(), EBADF);
  const int foreign = ::eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK);
  if (foreign != number) {
    ASSERT_EQ(::dup2(foreign, number), number);
    ::close(foreign);
  }
  EXPECT_TRUE(queue->post(1));
  std::uint64_t count = 0;
  EXPECT_EQ(::read(number, &count, sizeof count), -1);  // nothing was written there
  EXPECT_EQ(queue->get(), 1);
  queue.reset();
  EXPECT_GE(::fcntl(number, F_GETFD), 0);  // still open
  ::close(number);
}

TEST(NotificationQueue, ClosesBothOfItsDescriptors) {
  const int lowest = ::dup(STDIN_FILENO);
  ::close(lowest);
  auto queue = Notifications::create(2).value();
  const int given = queue->descriptor();
  const int copy = ::dup(given);  // as programs make them
  queue.reset();
  EXPECT_EQ(::fcntl(given, F_GETFD), -1);
  EXPECT_GE(::fcntl(copy, F_GETFD), 0);
  EXPECT_EQ(::dup(STDIN_FILENO), lowest);
  ::close(lowest);
  ::close(copy);
}

// Nothing is lost, nothing comes twice, and no reader is late, whichever reader has which token when.
TEST(NotificationQueue, ReadersAndWithdrawalsMeet) {
  constexpr int kEvents = 20000;
  const auto queue = Notifications::create(kEvents).value();
  std::atomic<int> got{0};
  std::atomic<bool> over{false};
  const auto read = [&] {
    while (!over) {
      if (queue->get(milliseconds(1))) ++got;
    }
  };
  std::thread first(read), second(read);
  std::size_t withdrawn = 0;
  for (int event = 0; event < kEvents; ++event) {
    if (event % 5 == 0) {
      queue->hold_back(event);
      if (queue->take_now()) ++got;
    } else {
      queue->post(event);
    }
    if (event % 3 == 0) withdrawn += queue->withdraw([&](int other) { return other == event; }).size();
  }
  while (readable(*queue)) std::this_thread::yield();
  over = true;
  first.join();
  second.join();
  EXPECT_EQ(static_cast<std::size_t>(got) + withdrawn, std::size_t{kEvents});
  EXPECT_FALSE(readable(*queue));
}

// An event is in its place before its token is in the eventfd: one that is withdrawn in between takes its token along.
// Close to the event where there are processors for both threads, and without a slice of the scheduler where there is
// one.
void spin_until(const auto& done) {
  for (int look = 0; !done(); ++look) {
    if (look >= 100) std::this_thread::yield();
  }
}

TEST(NotificationQueue, WhatIsWithdrawnLeavesNoTokenBehind) {
  constexpr int kEvents = 5000;
  const auto queue = Notifications::create(2).value();
  std::atomic<int> wanted{0}, posted{0};
  std::thread poster([&] {
    for (int event = 1; event <= kEvents; ++event) {
      spin_until([&] { return wanted >= event; });
      queue->post(event);
      posted = event;
    }
  });
  int left_behind = 0;
  for (int event = 1; event <= kEvents; ++event) {
    wanted = event;
    spin_until([&] { return !queue->withdraw([](int) { return true; }).empty(); });
    spin_until([&] { return posted >= event; });
    left_behind += readable(*queue) ? 1 : 0;
  }
  poster.join();
  EXPECT_EQ(left_behind, 0);
}

}  // namespace
}  // namespace weft::verbs::detail
