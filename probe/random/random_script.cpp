// SPDX-License-Identifier: Apache-2.0
// Conversations at random that are almost right: most messages are well-formed, and one or two are changed where it may
// hurt.
#include <random>

#include "probe/random/script.hpp"

namespace weft::probe {
namespace {

class Maker {
 public:
  explicit Maker(std::uint64_t seed) : numbers_(seed) {}

  Script script() {
    Script out{.revision = static_cast<std::uint8_t>(one_in(4) ? 1 : 2), .crc = !one_in(5), .markers = one_in(5)};
    out.enhanced = out.revision == 2 && !one_in(6);
    if (one_in(10)) out.edits.push_back({below<std::uint16_t>(24), mask()});
    const std::size_t steps = 1 + below<std::size_t>(8);
    for (std::size_t i = 0; i < steps; ++i) out.steps.push_back(step());
    if (!one_in(6)) harm(out.steps[below<std::size_t>(out.steps.size())]);
    if (one_in(5)) harm(out.steps.back());
    if (one_in(3)) out.steps.push_back({.kind = one_in(3) ? Step::kReset : Step::kFin});
    return out;
  }

 private:
  bool one_in(std::uint64_t n) { return numbers_() % n == 0; }
  template <typename T>
  T below(std::uint64_t n) {
    return static_cast<T>(numbers_() % n);
  }
  std::uint8_t mask() {
    return static_cast<std::uint8_t>(one_in(2) ? 1U << below<unsigned>(8) : 1 + below<unsigned>(255));
  }

  std::uint32_t size() {
    constexpr std::array<std::uint32_t, 12> kEdges{0, 1, 3, 4, 8, 44, 255, 512, 1024, 1460, 4096, 16000};
    return one_in(2) ? kEdges[below<std::size_t>(kEdges.size())] : below<std::uint32_t>(600);
  }

  Step step() {
    // Sends, Writes and Reads most often; what ends a conversation at once, seldom.
    constexpr std::array<Step::Kind, 16> kOften{Step::kSend,  Step::kSend,     Step::kSendSolicited, Step::kWrite,
                                                Step::kWrite, Step::kWrite,    Step::kRead,          Step::kRead,
                                                Step::kRead,  Step::kFetchAdd, Step::kCmpSwap,       Step::kImmediate,
                                                Step::kSend,  Step::kRead,     Step::kWrite,         Step::kImmediate};
    constexpr std::array<Step::Kind, 5> kSeldom{Step::kSendInvalidate, Step::kReadResponse, Step::kAtomicResponse,
                                                Step::kTerminate, Step::kRaw};
    Step out{.kind =
                 one_in(16) ? kSeldom[below<std::size_t>(kSeldom.size())] : kOften[below<std::size_t>(kOften.size())]};
    out.size = size();
    const bool atomic = out.kind == Step::kFetchAdd || out.kind == Step::kCmpSwap;
    if (atomic) out.region_rights = 7;
    out.offset = atomic ? 8 * below<std::int64_t>(64) : below<std::int64_t>(512);
    while (one_in(3) && out.cuts.size() < 6) out.cuts.push_back(below<std::uint16_t>(out.size + 40));
    std::ranges::sort(out.cuts);
    return out;
  }

  void harm(Step& step) {
    switch (below<unsigned>(9)) {
      case 0: step.crc_xor = static_cast<std::uint32_t>(numbers_()) | 1U; break;
      case 1: step.length_xor = static_cast<std::uint16_t>(1U << below<unsigned>(16)); break;
      case 2: step.offset = one_in(2) ? -1 - below<std::int64_t>(64) : (1 << 20) - below<std::int64_t>(64); break;
      case 3: step.region_kind = below<std::uint8_t>(10); break;
      case 4: step.region_rights = below<std::uint8_t>(8); break;
      case 5: step.again = true; break;
      default:  // a header field
        for (std::size_t n = 1 + below<std::size_t>(2); n > 0; --n)
          step.edits.push_back({below<std::uint16_t>(50), mask()});
    }
  }

  std::mt19937_64 numbers_;
};

}  // namespace

Script random_script(std::uint64_t seed) { return Maker(seed).script(); }

}  // namespace weft::probe
