// SPDX-License-Identifier: Apache-2.0
#include "explain/laboratory/wasm/entry_points.hpp"

#include <array>
#include <memory>

#include "common/crc32c.hpp"
#include "explain/laboratory/laboratory.hpp"

namespace weft::explain::laboratory {
namespace {

// A page that forgets to stop its runs loses the oldest.
class Runs {
 public:
  static constexpr std::size_t kMost = 8;

  std::uint32_t add(std::unique_ptr<Laboratory> run) {
    const std::uint32_t number = ++last_;
    slot(number) = {number, std::move(run)};
    return number;
  }
  void remove(std::uint32_t number) {
    if (find(number) != nullptr) slot(number) = {};
  }
  Laboratory* find(std::uint32_t number) { return slot(number).number == number ? slot(number).run.get() : nullptr; }

 private:
  struct Slot {
    std::uint32_t number{};
    std::unique_ptr<Laboratory> run{};
  };
  Slot& slot(std::uint32_t number) { return slots_[number % kMost]; }

  std::array<Slot, kMost> slots_{};
  std::uint32_t last_ = 0;
};

struct Desk {
  std::vector<std::byte> room{};
  std::string answer{};
  Runs runs{};
};

Desk& desk() {
  static Desk only;
  return only;
}

void answer(const Step& step) { desk().answer = to_json(step); }

template <typename F>
void step_of(std::uint32_t number, F&& f) {
  if (Laboratory* run = desk().runs.find(number)) return answer(f(*run));
  answer(
      {.state = State::kClosed, .refused = "there is no such run: it was stopped, or newer ones have taken its place"});
}

}  // namespace
}  // namespace weft::explain::laboratory

using namespace weft::explain::laboratory;

std::byte* weft_laboratory_room(std::uint32_t octets) {
  if (octets > Script::kMostText) return nullptr;
  desk().room.resize(octets + 1);  // never empty, so that there is an address
  desk().room.pop_back();
  return desk().room.data();
}

std::uint32_t weft_laboratory_start() {
  const auto& room = desk().room;
  auto script = parse_script({reinterpret_cast<const char*>(room.data()), room.size()});
  if (!script) {
    answer({.state = State::kClosed, .refused = script.error()});
    return 0;
  }
  auto run = std::make_unique<Laboratory>(std::move(*script));
  const Step first = run->start();
  answer(first);
  return first.refused.empty() ? desk().runs.add(std::move(run)) : 0;
}

void weft_laboratory_feed(std::uint32_t run, std::uint32_t row) {
  step_of(run, [row](Laboratory& one) { return one.feed(desk().room, row); });
}
void weft_laboratory_end(std::uint32_t run) {
  step_of(run, [](Laboratory& one) { return one.end(); });
}
void weft_laboratory_receive(std::uint32_t run, std::uint32_t octets) {
  step_of(run, [octets](Laboratory& one) { return one.post_receive(octets); });
}
void weft_laboratory_wait(std::uint32_t run) {
  step_of(run, [](Laboratory& one) { return one.pass_time(); });
}
void weft_laboratory_stop(std::uint32_t run) { desk().runs.remove(run); }

const char* weft_laboratory_answer() { return desk().answer.data(); }
std::uint32_t weft_laboratory_answer_size() { return static_cast<std::uint32_t>(desk().answer.size()); }

std::uint32_t weft_laboratory_crc32c() { return weft::crc32c(desk().room); }
