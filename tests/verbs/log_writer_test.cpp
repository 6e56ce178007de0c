// SPDX-License-Identifier: Apache-2.0
#include "verbs/log/log_writer.hpp"

#include <fcntl.h>
#include <gtest/gtest.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <optional>
#include <string>
#include <thread>

#include "full_pipe.hpp"

namespace weft::verbs::detail::test {
namespace {

using namespace std::chrono_literals;
using verbs::test::FullPipe;

std::string numbered(int from, int to) {
  std::string lines;
  for (int i = from; i < to; ++i) lines += std::to_string(i) + "\n";
  return lines;
}

TEST(LogWriter, WritesInOrder) {
  FullPipe pipe;
  LogWriter writer(pipe.writer());
  for (int i = 0; i < 20000; ++i) writer.push(std::to_string(i));
  EXPECT_EQ(pipe.read_up_to("19999\n"), numbered(0, 20000));
  EXPECT_TRUE(writer.flush(10s));
}

// Whatever the descriptor does, a thread that has something to say goes on. What has no room is counted where it is
// missing.
TEST(LogWriter, WaitsForNobodyAndCountsWhatItDrops) {
  FullPipe pipe;
  LogWriter writer(pipe.writer());
  const std::string first(8192, 'f');
  writer.push(first);
  pipe.let_in_a_page();  // the thread has taken the first line and waits for room for the rest of it
  const std::string line(1023, 'x');
  constexpr std::size_t kFit = LogWriter::kMostPending / 1024;
  for (std::size_t i = 0; i < 3 * kFit; ++i) writer.push(line);
  const std::string told = pipe.read_up_to("standard error was too slow\n");
  EXPECT_TRUE(told.starts_with(first + "\n"));
  EXPECT_NE(told.find("x\nweft: "), std::string::npos) << told.substr(told.size() - 200);
  const auto shown = static_cast<std::size_t>(std::count(told.begin(), told.end(), '\n')) - 2;
  const std::size_t dropped = std::stoul(told.substr(told.find("weft: ") + 6));
  EXPECT_EQ(shown, kFit);
  EXPECT_EQ(dropped, 2 * kFit) << "no line is lost without a word";
  EXPECT_TRUE(writer.flush(10s));
  writer.push("again");
  EXPECT_EQ(pipe.read_up_to("again\n").find("x"), std::string::npos);
}

// Waited for in vain once, it is not waited for again until something moves.
TEST(LogWriter, WhoWaitsInVainWaitsOnce) {
  FullPipe pipe;
  LogWriter writer(pipe.writer());
  writer.push("a line");
  EXPECT_FALSE(writer.flush(1ms));
  EXPECT_FALSE(writer.flush(1h)) << "does not wait";
  writer.finish();  // nor does the end of the process, for long
  EXPECT_EQ(pipe.read_up_to("a line\n"), "a line\n");
  while (!writer.flush(10s)) std::this_thread::yield();  // its thread has written the line, and is about to say so
}

TEST(LogWriter, WaitsForADescriptorThatDoesNotBlock) {
  FullPipe pipe;
  ::fcntl(pipe.writer(), F_SETFL, O_NONBLOCK);
  LogWriter writer(pipe.writer());
  for (int i = 0; i < 100; ++i) writer.push(std::to_string(i));
  EXPECT_EQ(pipe.read_up_to("99\n"), numbered(0, 100));
}

// A pipe of packets shows each write: what other processes say in between stands between lines.
TEST(LogWriter, CutsBetweenLines) {
  std::array<int, 2> ends{};
  ASSERT_EQ(::pipe2(ends.data(), O_CLOEXEC | O_DIRECT), 0);
  constexpr int kLines = 5000;
  std::string all;
  {
    LogWriter writer(ends[1]);
    for (int i = 0; i < kLines; ++i) writer.push(std::to_string(i));
    std::array<char, 8192> packet{};
    while (!all.ends_with("\n4999\n")) {
      const auto size = ::read(ends[0], packet.data(), packet.size());
      ASSERT_GT(size, 0);
      all.append(packet.data(), static_cast<std::size_t>(size));
      ASSERT_TRUE(all.ends_with('\n')) << "cut within a line: " << all.substr(all.rfind('\n') + 1);
    }
  }
  EXPECT_EQ(all, numbered(0, kLines));
  ::close(ends[0]);
  ::close(ends[1]);
}

TEST(LogWriter, IsDoneWhereNothingCanBeWritten) {
  LogWriter writer(-1);
  writer.push("for nobody");
  EXPECT_TRUE(writer.flush(10s));
}

std::optional<Instant> say_so(bool last);
LogWriter*& asked() {
  static LogWriter* one = nullptr;
  return one;
}
std::optional<Instant> say_so(bool last) {
  if (last) asked()->push("the last word");
  return std::nullopt;
}

TEST(LogWriter, AsksForTheLastWord) {
  std::array<int, 2> pipe{};
  ASSERT_EQ(::pipe2(pipe.data(), O_CLOEXEC), 0);
  LogWriter writer(pipe[1], say_so);
  asked() = &writer;
  writer.push("a word");
  writer.finish();
  std::array<char, 64> text{};
  const auto count = ::read(pipe[0], text.data(), text.size());
  std::string all(text.data(), static_cast<std::size_t>(std::max<ssize_t>(count, 0)));
  if (all == "a word\n")
    all += std::string(text.data(), static_cast<std::size_t>(::read(pipe[0], text.data(), text.size())));
  EXPECT_EQ(all, "a word\nthe last word\n");
  ::close(pipe[0]);
  ::close(pipe[1]);
}

}  // namespace
}  // namespace weft::verbs::detail::test
