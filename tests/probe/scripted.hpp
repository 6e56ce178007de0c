// SPDX-License-Identifier: Apache-2.0
// A run of cases whose peer is the test.
#pragma once

#include <functional>
#include <memory>
#include <mutex>
#include <string>
#include <vector>

#include "connected.hpp"
#include "probe/runner.hpp"
#include "probe/verdict.hpp"
#include "probe/way.hpp"

namespace weft::probe::test {

// A peer that starts up and says what the test has it say.
class Scripted final : public Way {
 public:
  [[nodiscard]] std::string_view profile() const override { return "raw"; }
  [[nodiscard]] std::uint32_t offers() const override { return offered; }
  [[nodiscard]] unsigned most_at_a_time() const override { return 3; }
  std::unique_ptr<Conversation> dial(const SocketWish&) override {
    if (!on_dial) not_applicable("the test has no startup");
    Connected pair(case_patience);
    const std::scoped_lock lock(mutex_);
    on_dial(pair);
    peers_.push_back(std::move(pair.peer));
    return std::move(pair.conversation);
  }
  Advert open(const Opening&, std::unique_ptr<Conversation>& by) override {
    Connected pair(case_patience);
    const std::scoped_lock lock(mutex_);
    if (on_open) on_open(pair);
    by = std::move(pair.conversation);
    by->start_fpdus(mpa::Framing{}, mpa::Framing{});
    by->send_ulpdu(by->make().write({}, {}, {}));
    peers_.push_back(std::move(pair.peer));
    return advert;
  }
  void expect_alive(Conversation&) override {}

  Duration case_patience = std::chrono::seconds(1);
  std::uint32_t offered = kListens | kStream | kReceives;
  Advert advert{};

  std::function<void(Connected&)> on_open{}, on_dial{};

 private:
  std::mutex mutex_{};
  std::vector<std::unique_ptr<Socket>> peers_{};  // under mutex_; open as long as the way
};

inline Report run_of(Way& way, const std::string& only, const std::function<void(const CaseResult&)>& see = {}) {
  RunOptions options{.filter = {.only = {only}}};
  if (see) options.on_result = [&](const CaseResult& one, std::size_t, std::size_t) { see(one); };
  return run(way, options);
}

}  // namespace weft::probe::test
