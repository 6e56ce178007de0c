// SPDX-License-Identifier: Apache-2.0
// Tests of the assignment in docs/course/7-store.md. Each runs your function with another writer at every moment.
//
//     store_test read      read_entry, exercise 7.4
//     store_test write     write_entry, exercise 7.5
#include <cstdio>
#include <functional>
#include <string>

#include "rehearsal.hpp"

using namespace kv;

namespace {

constexpr int kNever = 1000000;

// Calls this with every order of the other writer's steps and yours, and without another writer.
void every_schedule(int moments, const std::function<void(const Schedule&)>& take) {
  take({kNever, kNever, kNever, kNever});
  for (int back = 1; back <= moments; ++back)
    for (int first = back; first <= moments; ++first)
      for (int second = first; second <= moments; ++second)
        for (int front = second; front <= moments; ++front) take({back, first, second, front});
}

std::string text(const Schedule& when) {
  if (when[0] == kNever) return "no other writer";
  std::string line = "the other writer's steps at moments";
  for (const int moment : when) line += " " + std::to_string(moment);
  return line;
}

void read(const Schedule& schedule) {
  Rehearsal entry(schedule);
  read_entry(entry);
  const char letter = Rehearsal::letter(entry.copy.pair);
  if (letter == '?') fail("read_entry", "the value is torn");
  if (letter != 'a' && letter != 'b') fail("read_entry", "the copy has another value than the entry");
  if (schedule[0] == kNever && letter != 'a') fail("read_entry", "the copy has another value than the entry");
}

void write(const Schedule& schedule) {
  for (const Placement placement : {Placement::kAtOnce, Placement::kStampsFirst}) {
    Rehearsal entry(schedule, placement);
    write_entry(entry, Rehearsal::pair_of('n'));
    entry.finish();
    const std::uint64_t writers = entry.other_wrote() ? 2 : 1;
    if (entry.entry().back != Rehearsal::kStamp + writers) fail("write_entry", "`back` does not count the writers");
    if (entry.entry().front != entry.entry().back) fail("write_entry", "the stamps differ in the end");
  }
}

int run(const char* name, int moments, void (*test)(const Schedule&)) {
  int all = 0, failed = 0;
  every_schedule(moments, [&](const Schedule& schedule) {
    ++all;
    try {
      test(schedule);
    } catch (const std::exception& failure) {
      if (++failed == 1) std::printf("%s\n    %s\n", failure.what(), text(schedule).c_str());
    }
  });
  std::printf("%s: %d of %d schedules are right\n", name, all - failed, all);
  return failed == 0 ? 0 : 1;
}

}  // namespace

int main(int argc, char** argv) {
  const std::string name = argc == 2 ? argv[1] : "";
  if (name == "read") return run("read", 8, read);
  if (name == "write") return run("write", 10, write);
  std::fprintf(stderr, "usage: store_test read | write\n");
  return 2;
}
