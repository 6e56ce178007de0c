// SPDX-License-Identifier: Apache-2.0
// For every edit of the table, the laboratory and an engine that is driven as a socket drives it come to the same: the
// octets that leave, the error, the octets in memory. The engine's memory is the one of its own tests.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <map>

#include "explain/laboratory/laboratory.hpp"
#include "tests/engine/vector_memory.hpp"
#include "tests/explain/laboratory/by_hand.hpp"
#include "tests/explain/laboratory/edits.hpp"

namespace weft::explain::laboratory::test {
namespace {

using engine::test::VectorMemory;

std::string code_of(const engine::ErrorReport& report) {
  return std::to_string(int{std::to_underlying(report.layer)}) + "/" + std::to_string(int{report.type}) + "/" +
         std::to_string(int{report.code}) + " " + std::string(report.clause);
}

// What is held against each other.
struct Outcome {
  std::string sent{};
  std::string error{};
  bool closed{};
  std::map<std::uint32_t, std::string> regions{};
  std::vector<std::string> receives{};
};

// --- The engine, and a driver that hands it all that has arrived at once.
class Plain {
 public:
  explicit Plain(const Script& script) : script_(script), engine_(config_of(script), memory_, {}) {
    for (const RegionScript& one : script.regions) {
      memory_.add(one.stag, static_cast<std::size_t>(one.size), one.begin, one.access);
    }
    memory_.add(kNowhere, 64);
    for (std::size_t i = 0; i < script.receives.size(); ++i)
      memory_.post_receive(i, static_cast<std::size_t>(script.receives[i]));
    if (script.role == mpa::Role::kInitiator) static_cast<void>(engine_.connect(script.private_data));
    flush();
  }

  void act(const Act& act) {
    while (posted_ < script_.work.size() && script_.work[posted_].row <= act.row && post()) ++posted_;
    flush();
    if (act.octets.empty()) engine_.end_of_stream({});
    const bool must_speak =
        established_ && script_.role == mpa::Role::kInitiator && !fpdus_sent_ && !act.octets.empty();
    if (must_speak) static_cast<void>(engine_.post({.cookie = 1000, .operation = engine::Operation::kWrite}));
    flush();
    unread_.insert(unread_.end(), act.octets.begin(), act.octets.end());
    const auto result = engine_.receive(unread_, {});
    const bool nothing = result.want == engine::ReceiveResult::Want::kNothing;
    unread_.erase(unread_.begin(),
                  unread_.begin() + static_cast<std::ptrdiff_t>(nothing ? unread_.size() : result.consumed));
    flush();
  }

  Outcome outcome() {
    for (const auto& [stag, region] : memory_.regions()) {
      if (stag != kNowhere) outcome_.regions[stag] = digits_of(region.octets);
    }
    for (const auto& [cookie, octets] : memory_.received()) outcome_.receives.push_back(digits_of(octets));
    return outcome_;
  }

 private:
  static constexpr std::uint32_t kNowhere = 0xfffffff0;

  static engine::Config config_of(const Script& script) {
    engine::Config config;
    config.role = script.role;
    config.mpa = script.policy;
    config.first_atomic_id = script.first_atomic_id;
    return config;
  }
  bool post() {
    const WorkScript& work = script_.work[posted_];
    const auto region = memory_.regions().find(work.sink_stag);
    const bool known = region != memory_.regions().end();
    const rdmap::LocalSegment sink{known ? work.sink_offset : 0, work.size, known ? work.sink_stag : kNowhere};
    engine::WorkRequest request{.cookie = posted_, .operation = work.what, .local = rdmap::LocalSegments(&sink, 1)};
    request.remote_stag = {work.source_stag};
    request.remote_offset = {work.source_offset};
    request.sink_stag = {work.sink_stag};
    request.sink_offset = {work.sink_offset};
    return engine_.post(request).has_value();
  }
  void flush() {
    poll();
    for (;;) {
      engine_.fill(batch_, {});
      if (batch_.empty()) break;
      for (const Bytes piece : batch_.pieces()) outcome_.sent += digits_of(piece);
      fpdus_sent_ = fpdus_sent_ || established_;
      const std::size_t size = batch_.size();
      batch_.consume(size);
      engine_.written(size, {});
      poll();
    }
    poll();
  }
  void poll() {
    while (const auto event = engine_.poll_event()) {
      if (std::holds_alternative<engine::ConnectionRequested>(*event)) {
        static_cast<void>(script_.reject ? engine_.reject(script_.private_data)
                                         : engine_.accept(script_.private_data, {}));
      }
      if (std::holds_alternative<engine::Established>(*event)) established_ = true;
      if (std::holds_alternative<engine::PeerClosed>(*event)) engine_.close({});
      if (std::holds_alternative<engine::Closed>(*event)) outcome_.closed = true;
      if (const auto* error = std::get_if<engine::ProtocolError>(&*event)) outcome_.error = code_of(error->report);
      if (const auto* error = std::get_if<engine::StartupFailed>(&*event)) outcome_.error = code_of(error->report);
      if (const auto* error = std::get_if<engine::TerminateReceived>(&*event)) outcome_.error = code_of(error->report);
    }
  }

  const Script& script_;
  VectorMemory memory_{};
  engine::Engine engine_;
  engine::TransmitBatch batch_{256 * 1024};
  std::vector<std::byte> unread_{};
  std::size_t posted_ = 0;
  bool established_ = false;
  bool fpdus_sent_ = false;
  Outcome outcome_{};
};

// --- The same from the steps of the laboratory.
class Collected {
 public:
  explicit Collected(const Script& script) : script_(script) {
    for (const RegionScript& one : script.regions) regions_.push_back(std::string(2 * one.size, '0'));
    for (const std::uint64_t size : script.receives) receives_.push_back(std::string(2 * size, '0'));
  }

  void add(const Step& step) {
    for (const Frame& frame : step.out) outcome_.sent += digits_of(frame.octets);
    if (step.error) outcome_.error = code_of(step.error->report);
    outcome_.closed = step.state == State::kClosed;
    for (const Placed& placed : step.placed) {
      auto& all = placed.where == Placed::Where::kRegion ? regions_ : receives_;
      const std::string digits = digits_of(placed.octets);
      all.at(placed.index).replace(2 * placed.offset, digits.size(), digits);
    }
  }
  Outcome outcome() {
    for (std::size_t i = 0; i < regions_.size(); ++i) outcome_.regions[script_.regions[i].stag] = regions_[i];
    outcome_.receives = receives_;
    return outcome_;
  }

 private:
  const Script& script_;
  std::vector<std::string> regions_{}, receives_{};
  Outcome outcome_{};
};

Outcome in_laboratory(const Script& script, const Edit& edit) {
  Collected collected(script);
  Laboratory laboratory(script);
  collected.add(laboratory.start());
  for (const Act& act : edit.acts) {
    const Step step = act.octets.empty() ? laboratory.end() : laboratory.feed(act.octets, act.row);
    EXPECT_EQ(step.refused, "") << edit.name;
    collected.add(step);
  }
  return collected.outcome();
}

Outcome by_plain_driver(const Script& script, const Edit& edit) {
  Plain plain(script);
  for (const Act& act : edit.acts) plain.act(act);
  return plain.outcome();
}

TEST(Agreement, TheLaboratoryAnswersAsTheEngineDoes) {
  const auto table = table_of_edits(WEFT_PCAP_SAMPLES);
  ASSERT_GE(table.size(), 200U);
  std::size_t errors = 0, terminates = 0;
  for (const Edit& edit : table) {
    const auto script = parse_script(edit.script);
    ASSERT_TRUE(script) << edit.name << ": " << script.error();
    const Outcome mine = in_laboratory(*script, edit), plain = by_plain_driver(*script, edit);
    EXPECT_EQ(mine.sent, plain.sent) << edit.name;
    EXPECT_EQ(mine.error, plain.error) << edit.name;
    EXPECT_EQ(mine.closed, plain.closed) << edit.name;
    EXPECT_EQ(mine.regions, plain.regions) << edit.name;
    EXPECT_EQ(mine.receives, plain.receives) << edit.name;
    errors += mine.error.empty() ? 0 : 1;
    terminates += mine.sent.find("4147000000000000000200000001") != std::string::npos ? 1 : 0;
  }
  RecordProperty("edits", static_cast<int>(table.size()));
  EXPECT_GE(errors, table.size() / 2) << "an edit that changes nothing shows nothing";
  EXPECT_GE(terminates, table.size() / 3);
}

TEST(Agreement, ACaptureAsItWasLeadsToNoErrorOfOurs) {
  for (const Edit& edit : table_of_edits(WEFT_PCAP_SAMPLES)) {
    if (edit.changed) continue;
    const auto script = parse_script(edit.script);
    ASSERT_TRUE(script) << edit.name;
    Laboratory laboratory(*script);
    static_cast<void>(laboratory.start());
    for (const Act& act : edit.acts) {
      const Step step = act.octets.empty() ? laboratory.end() : laboratory.feed(act.octets, act.row);
      EXPECT_FALSE(step.error && !step.error->remote) << edit.name << ": " << to_json(step);
      EXPECT_EQ(step.held, 0U) << edit.name;
      if (!act.octets.empty()) {
        EXPECT_EQ(step.in.size(), 1U) << edit.name;
      }
    }
  }
}

}  // namespace
}  // namespace weft::explain::laboratory::test
