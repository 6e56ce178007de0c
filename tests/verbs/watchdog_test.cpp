// SPDX-License-Identifier: Apache-2.0
// When a socket counts as forgotten: time is an argument.
#include "verbs/progress/watchdog.hpp"

#include <gtest/gtest.h>

namespace weft::verbs::detail {
namespace {

using namespace std::chrono_literals;

struct Sights : testing::Test {
  Watchdog watchdog{[] { return false; }};
  Watchdog::Clock::time_point now{};

  // How many looks, so far apart, until the stream is forgotten; 0: it is not within a hundred.
  int looks_until_forgotten(std::chrono::milliseconds apart, std::uint64_t moved_between = 0) {
    std::uint64_t moved = 7;
    for (int look = 1; look <= 100; ++look, now += apart, moved += moved_between) {
      if (watchdog.sight(1, moved, now)) return look;
    }
    return 0;
  }
};

TEST_F(Sights, AForgottenSocketIsNoticedBehindFiftyMilliseconds) {
  EXPECT_EQ(looks_until_forgotten(10ms), 6);
  EXPECT_TRUE(watchdog.sights().empty()) << "it is served now, and watched anew";
}

TEST_F(Sights, TheTickHasItsTurnsBeforeThat) { EXPECT_EQ(looks_until_forgotten(1000ms), 4); }

TEST_F(Sights, OneWhoseOctetsMoveIsWell) { EXPECT_EQ(looks_until_forgotten(100ms, 1), 0); }

TEST_F(Sights, OneThatWasWellBeginsAnew) {
  for (int i = 0; i < 3; ++i, now += 30ms) EXPECT_FALSE(watchdog.sight(1, 7, now));
  watchdog.forget(1);
  EXPECT_EQ(looks_until_forgotten(30ms), 4);
}

// Where nothing is left to be looked at, what was suspicious is forgotten: a stream that comes later begins anew.
TEST(Beats, TheLastOneForgetsAll) {
  auto reactor = transport::Reactor::create().value();
  int looks = 0;
  Watchdog* self = nullptr;
  Watchdog watchdog([&] {
    switch (++looks) {
      case 1: EXPECT_FALSE(self->sight(1, 7, Watchdog::Clock::now())); return true;
      case 2: EXPECT_EQ(self->sights().size(), 1U); return false;
      default: reactor.stop(); return false;  // the look after the end
    }
  });
  self = &watchdog;
  ASSERT_FALSE(watchdog.open(reactor));
  watchdog.start();
  reactor.run();
  EXPECT_EQ(looks, 3);
  EXPECT_TRUE(watchdog.sights().empty());
}

// A stream that has ended is looked at no more: it does not keep the beat of an idle process.
TEST(Beats, OneThatIsNotLookedAtAgainIsForgotten) {
  auto reactor = transport::Reactor::create().value();
  int looks = 0;
  Watchdog* self = nullptr;
  Watchdog watchdog([&] {
    if (++looks == 1) {
      EXPECT_FALSE(self->sight(1, 7, Watchdog::Clock::now()));
    }
    const bool suspicious = !self->sights().empty();
    if (!suspicious || looks == 10) reactor.stop();
    return suspicious;  // as the runtime has it
  });
  self = &watchdog;
  ASSERT_FALSE(watchdog.open(reactor));
  watchdog.start();
  reactor.run();
  EXPECT_EQ(looks, 4) << "one that sees it, one that does not, and two of the end";
}

}  // namespace
}  // namespace weft::verbs::detail
