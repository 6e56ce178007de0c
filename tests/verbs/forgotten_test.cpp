// SPDX-License-Identifier: Apache-2.0
// Wake-ups that are lost on purpose, behind weft's back: the watchdog finds and mends each. It is the only test here in
// which it may find anything (loopback.cpp).
#include <gtest/gtest.h>

#include "loopback.hpp"
#include "verbs/progress/runtime.hpp"
#include "verbs/progress/watchdog.hpp"

namespace weft::verbs::test {
namespace {

using detail::Watchdog;

struct Nobody final : detail::Driver {
  bool is_over() override { return true; }
};

struct Forgotten : testing::Test {
  ~Forgotten() override { expect_forgotten(Watchdog::found() - before); }
  // Each round loses a wake-up and writes an octet, which arrives all the same. Until one was found: others were faster
  // in the rounds before.
  void until_found(const std::function<void()>& lose) {
    for (unsigned round = 1; Watchdog::found() == before; ++round) {
      ASSERT_LE(round, 100U) << "nothing is ever found";
      lose();
      const auto value = static_cast<std::byte>(round);
      write_octet(*pair.client.qp, near, far, value);
      runtime->watch(std::make_shared<Nobody>());  // so that the watchdog beats
      wait_until([&] { return look_at(far.octets.data()) == value; }, "the Write");
    }
  }

  void spin() {
    const auto end = std::chrono::steady_clock::now() + 5ms;
    while (std::chrono::steady_clock::now() < end) drain(pair.server.cq);
  }

  const std::uint64_t before = Watchdog::found();
  Pair pair;
  Buffer near{pair.client, 64}, far{pair.server, 64};
  std::shared_ptr<detail::Runtime> runtime = must(detail::Runtime::acquire(), "runtime");
};

TEST_F(Forgotten, ATickWhoseAlarmNeverGoesOff) {
  runtime->tick().open([](detail::Tick::Clock::time_point) {});
  until_found([this] { spin(); });
}

TEST_F(Forgotten, AQueueThatNoTickHandsBackFor) {
  until_found([this] {
    spin();
    runtime->tick().clear();
  });
}

}  // namespace
}  // namespace weft::verbs::test
