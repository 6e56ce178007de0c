// SPDX-License-Identifier: Apache-2.0
// The run of the cases: each once, and once more where the time that it took for silence turns out too short.
#include "probe/runner.hpp"

#include <gtest/gtest.h>
#include <poll.h>
#include <sys/socket.h>

#include <algorithm>
#include <array>
#include <atomic>
#include <deque>
#include <map>
#include <stdexcept>
#include <thread>

#include "scripted.hpp"

namespace weft::probe::test {
namespace {

TEST(Runner, RunsEachCaseOnce) {
  Scripted way;
  std::map<std::string_view, int> seen;
  const Report report = run_of(way, "enhanced-", [&](const CaseResult& one) { ++seen[one.what->name]; });
  EXPECT_GT(report.cases.size(), 10U);
  EXPECT_EQ(seen.size(), report.cases.size());
  for (const auto& [name, times] : seen) EXPECT_EQ(times, 1) << name;
}

// The first time nothing comes within what was taken for silence. A later connection shows that the peer is slower than that.
TEST(Runner, JudgesAgainWhatItHasJudgedTooEarly) {
  Scripted way;
  way.quiet = std::chrono::milliseconds(1);
  int opened = 0;
  way.on_open = [&](Connected& pair) {
    if (++opened == 3) way.learned->saw_round_trip(std::chrono::milliseconds(100));
    if (opened < 3) return;
    const auto error = rdmap::error_code(ddp::UntaggedError::kMsnRange);
    pair.say(Framer().fpdu(Messages().terminate(rdmap::make_terminate(error))));
  };
  std::vector<Verdict> verdicts;
  const Report report =
      run_of(way, "untagged-msn-skipped", [&](const CaseResult& one) { verdicts.push_back(one.verdict); });
  EXPECT_EQ(verdicts, (std::vector{Verdict::kWarn, Verdict::kPass}));
  ASSERT_EQ(report.cases.size(), 1U);
  EXPECT_EQ(report.cases[0].verdict, Verdict::kPass);
  EXPECT_EQ(report.cases[0].exchanges.size(), 1U) << "of the second time alone";
  EXPECT_EQ(report.round_trip, std::chrono::milliseconds(100));
  EXPECT_EQ(report.quiet, std::chrono::milliseconds(201));
}

TEST(Runner, JudgesOnceWhereThePeerIsAsFastAsItWas) {
  Scripted way;
  way.quiet = std::chrono::milliseconds(1);
  int times = 0;
  run_of(way, "untagged-msn-skipped", [&](const CaseResult&) { ++times; });
  EXPECT_EQ(times, 1);
}

// Where the time is short, each rule has had some of its combinations.
TEST(Runner, TakesTheRulesInTurn) {
  Scripted way;
  std::vector<std::string_view> rules;
  RunOptions options{.filter = {.only = {"rights", "msn"}},
                     .depth = Depth::kQuick,
                     .planned_time = std::chrono::seconds(-1),
                     .at_a_time = 1};
  options.on_result = [&](const CaseResult& one, std::size_t, std::size_t) {
    if (one.what->planned) rules.push_back(rule_of(*one.what));
  };
  EXPECT_FALSE(run(way, options).cases.empty());
  ASSERT_GT(rules.size(), 2U);
  EXPECT_NE(rules[0], rules[1]);
}

// Combinations that do not begin in time are marked, and only where the time is limited: not where they are named.
TEST(Runner, MarksWhatDidNotBeginInTime) {
  Scripted way;
  const std::string name = "crc.second.write.bit-0.whole.apart";
  const auto marked = [&](const std::string& only) {
    const Report report =
        run(way, {.filter = {.only = {only}}, .depth = Depth::kQuick, .planned_time = std::chrono::seconds(-1)});
    EXPECT_FALSE(report.cases.empty());
    return std::ranges::count_if(report.cases, [](const CaseResult& one) {
      EXPECT_TRUE(!one.out_of_time || one.verdict == Verdict::kNotApplicable);
      return one.what->planned && one.out_of_time;
    });
  };
  EXPECT_GT(marked("msn"), 1);
  EXPECT_EQ(marked(name), 0);
}

TEST(Runner, BeginsLastWhatMayEndThePeer) {
  Scripted way;
  std::array<int, 2> seen{};
  run_of(way, "DDP-7.1-16", [&](const CaseResult& one) {
    EXPECT_TRUE(one.what->last || seen[1] == 0) << one.what->name << " came later";
    ++seen[one.what->last ? 1 : 0];
  });
  EXPECT_GT(seen[0], 0);
  EXPECT_GT(seen[1], 0);
}

// An empty Write that nobody asked for comes in front of the empty one that the case has ordered: that is a further one then.
TEST(Runner, TakesNoEmptyWriteForOneWithOctets) {
  Scripted way;
  way.offered = ~std::uint32_t{kConnects};
  way.on_open = [](Connected& pair) {
    constexpr int kRoom = 1 << 20;
    ::setsockopt(pair.descriptor, SOL_SOCKET, SO_SNDBUF, &kRoom, sizeof kRoom);
    Framer framer;
    Messages make;
    std::vector<std::byte> all = framer.fpdu(make.write({}, {}, {}));
    for (const std::size_t size : {0U, 1U, 7U, 1460U, 20001U, 150000U}) {
      std::size_t at = 0;
      do {
        const std::size_t part = std::min<std::size_t>(size - at, 16384);
        const auto fpdu = framer.fpdu(make.write(Scene::kOwnStag, ddp::TaggedOffset{0xABCDEF0012345679 + at},
                                                 std::vector<std::byte>(part), at + part == size));
        all.insert(all.end(), fpdu.begin(), fpdu.end());
        at += part;
      } while (at < size);
    }
    pair.say(all);
  };
  const Report report = run_of(way, "write-of-the-peer");
  ASSERT_EQ(report.cases.size(), 1U);
  EXPECT_EQ(report.cases[0].verdict, Verdict::kPass) << report.cases[0].reason;
}

const Region kLateWindow{.stag = {0x57494E44}, .length = 2048, .rights = 7, .kind = Region::kWindow};
std::vector<std::byte> report_of_the_peer() {
  return Framer().fpdu(Messages().send(serialize(PeerReport{.connections = 1})));
}

TEST(Scene, HasAWindowOnceThePeerHasAnsweredAnOrder) {
  Scripted way;
  way.advert.regions = {kLateWindow};
  way.on_open = [](Connected& pair) { pair.say(report_of_the_peer()); };
  Scene scene(way, 1);
  for (int times = 0; times < 2; ++times) {
    Conversation& by = scene.connect();
    EXPECT_THROW(static_cast<void>(scene.region(Region::kWindow, 7)), std::logic_error);
    scene.report(by);
    EXPECT_EQ(scene.region(Region::kWindow, 7).stag, kLateWindow.stag);
  }
}

// Binds its windows half a second after the prober's order, and then answers that.
class LateBinder {
 public:
  explicit LateBinder(int descriptor) : thread_([this, descriptor] { serve(descriptor); }) {}
  // The prober used a window before it was bound, and at all.
  [[nodiscard]] bool used_early() const { return early_; }
  [[nodiscard]] bool used() const { return used_; }

 private:
  static constexpr int kBindsAfter = 500;  // milliseconds

  void serve(int descriptor) {
    bool bound = false;
    while (!used_) {
      pollfd one{descriptor, POLLIN, 0};
      if (::poll(&one, 1, ordered() && !bound ? kBindsAfter : -1) == 0) {
        bound = true;
        const auto report = report_of_the_peer();
        if (::send(descriptor, report.data(), report.size(), MSG_NOSIGNAL) < 0) return;
        continue;
      }
      std::array<std::byte, 4096> some{};
      const auto got = ::recv(descriptor, some.data(), some.size(), 0);
      if (got <= 0) return;
      octets_.insert(octets_.end(), some.begin(), some.begin() + got);
      const bool uses = has({std::byte{0x57}, std::byte{0x49}, std::byte{0x4E}, std::byte{0x44}});
      early_ = uses && !bound;
      used_ = uses;
    }
    ::shutdown(descriptor, SHUT_RDWR);  // how the case goes on does not matter
  }
  [[nodiscard]] bool ordered() const {
    const auto order = serialize(Order{.operation = Order::kReport});
    return has(order);
  }
  [[nodiscard]] bool has(const std::vector<std::byte>& some) const {
    return !std::ranges::search(octets_, some).empty();
  }

  std::vector<std::byte> octets_{};
  std::atomic<bool> early_ = false, used_ = false;
  std::jthread thread_;
};

TEST(Runner, UsesNoWindowThatThePeerHasStillToBind) {
  Scripted way;
  std::deque<LateBinder> peers;
  way.case_patience = std::chrono::seconds(30);
  way.offered = ~std::uint32_t{kConnects};
  way.advert = {.session = 1, .receives = 16, .receive_size = 1024};
  const auto offer = [&](Region::Kind kind, std::uint8_t rights) {
    Region one = kLateWindow;
    if (kind != Region::kWindow) one.stag = {static_cast<std::uint32_t>(way.advert.regions.size())};
    one.kind = kind;
    one.rights = rights;
    way.advert.regions.push_back(one);
  };
  for (const auto rights : std::array<std::uint8_t, 3>{1, 2, 7}) offer(Region::kWindow, rights);
  offer(Region::kPlain, 3);
  offer(Region::kPlain, 7);
  offer(Region::kThisStream, 7);
  way.on_open = [&](Connected& pair) { peers.emplace_back(pair.descriptor); };
  const std::vector<std::string> names{"limit-window-bounds",
                                       "limit-window-rights",
                                       "invalidate-window",
                                       "bounds-window.second.write.before.whole.apart",
                                       "other-stream.second.write.window-used.whole.apart",
                                       "invalidate.second.send-invalidate.window-write.whole.apart"};
  const Report report = run(way, {.filter = {.only = names}});
  EXPECT_EQ(report.cases.size(), names.size());
  EXPECT_EQ(std::ranges::count_if(peers, &LateBinder::used_early), 0);
  EXPECT_GE(static_cast<std::size_t>(std::ranges::count_if(peers, &LateBinder::used)), names.size());
}

}  // namespace
}  // namespace weft::probe::test
