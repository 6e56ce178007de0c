// SPDX-License-Identifier: Apache-2.0
// Conversations in which one thing is at a boundary: the product of a few small tables, in an order that a number
// stands for.
#include <array>
#include <numeric>

#include "probe/random/script.hpp"

namespace weft::probe {
namespace {

constexpr std::array kKinds{Step::kWrite,     Step::kSend,         Step::kRead,          Step::kFetchAdd,
                            Step::kCmpSwap,   Step::kImmediate,    Step::kSendSolicited, Step::kSendInvalidate,
                            Step::kTerminate, Step::kReadResponse, Step::kAtomicResponse};
constexpr std::array<std::size_t, 5> kBefore{0, 1, 5, 33, 45};  // good messages before it
constexpr std::size_t kLong = 45;                               // of which each has 600 octets
enum Manner : std::uint8_t { kSeparate, kGlued, kDribbled, kTwice };
constexpr std::size_t kManners = 4;

// An octet of the ULPDU and the mask of it; or one of the other numbers of a step.
struct Fault {
  enum Kind : std::uint8_t { kNone, kOctet, kCrc, kLength, kSize, kOffset, kMemory } kind{};
  std::uint32_t a{};
  std::uint32_t b{};
};
constexpr std::array kFaults{
    Fault{Fault::kNone},
    Fault{Fault::kOctet, 0, 0x80},  // T
    Fault{Fault::kOctet, 0, 0x40},  // L
    Fault{Fault::kOctet, 0, 0x03},  // versions
    Fault{Fault::kOctet, 0, 0x3C},  // reserved bits
    Fault{Fault::kOctet, 1, 0x80},
    Fault{Fault::kOctet, 1, 0x30},
    Fault{Fault::kOctet, 1, 0x0F},  // opcodes
    Fault{Fault::kOctet, 1, 0x01},
    Fault{Fault::kOctet, 1, 0x08},
    Fault{Fault::kOctet, 2, 0x80},  // STag, or the word of the ULP
    Fault{Fault::kOctet, 5, 0x01},
    Fault{Fault::kOctet, 6, 0x80},  // TO, or the queue
    Fault{Fault::kOctet, 8, 0x01},
    Fault{Fault::kOctet, 9, 0x01},
    Fault{Fault::kOctet, 10, 0x80},  // MSN
    Fault{Fault::kOctet, 11, 0x01},
    Fault{Fault::kOctet, 13, 0x01},
    Fault{Fault::kOctet, 14, 0x80},  // MO
    Fault{Fault::kOctet, 15, 0x01},
    Fault{Fault::kOctet, 17, 0x04},
    Fault{Fault::kOctet, 30, 0x80},  // the size of a Read, the offset of an atomic
    Fault{Fault::kOctet, 33, 0x01},
    Fault{Fault::kOctet, 34, 0x80},
    Fault{Fault::kOctet, 38, 0x80},
    Fault{Fault::kOctet, 41, 0x01},
    Fault{Fault::kCrc, 1},
    Fault{Fault::kCrc, 0x10000},
    Fault{Fault::kCrc, 0x80000000},
    Fault{Fault::kLength, 0x0001},
    Fault{Fault::kLength, 0x0100},
    Fault{Fault::kLength, 0x8000},
    Fault{Fault::kSize, 0},
    Fault{Fault::kSize, 1},
    Fault{Fault::kSize, 1024},
    Fault{Fault::kSize, 1025},
    Fault{Fault::kSize, 0x10000},
    Fault{Fault::kSize, 0x10001},
    Fault{Fault::kOffset, 0x1000},
    Fault{Fault::kOffset, 0x10000},
    Fault{Fault::kMemory, 0, 1},  // kind, rights: without the right to be written, and so on
    Fault{Fault::kMemory, 0, 2},
    Fault{Fault::kMemory, 2, 7},
    Fault{Fault::kMemory, 3, 7},
    Fault{Fault::kMemory, 9, 7},
};

constexpr std::size_t kAll = kKinds.size() * kBefore.size() * kManners * kFaults.size() * 3;

// A number that goes through all of them in a stride that has no divisor in common with their count.
constexpr std::size_t stride() {
  std::size_t out = kAll * 61 / 100;
  while (std::gcd(out, kAll) != 1) ++out;
  return out;
}

Step plain(Step::Kind kind, std::uint32_t size) {
  Step out{.kind = kind, .offset = 512, .size = size};
  if (kind == Step::kFetchAdd || kind == Step::kCmpSwap) out.region_rights = 7;
  if (kind == Step::kSendInvalidate) out.region_kind = 2, out.region_rights = 7;
  return out;
}

}  // namespace

Script boundary_script(std::uint64_t seed) {
  std::size_t rest = static_cast<std::size_t>(seed % kAll) * stride() % kAll;
  const auto take = [&](std::size_t count) {
    const std::size_t one = rest % count;
    rest /= count;
    return one;
  };
  const Step::Kind kind = kKinds[take(kKinds.size())];
  const std::size_t before = kBefore[take(kBefore.size())];
  const auto manner = static_cast<Manner>(take(kManners));
  const Fault& fault = kFaults[take(kFaults.size())];
  const std::size_t framing = take(3);

  Script out{.crc = framing != 1, .markers = framing == 2};
  for (std::size_t i = 0; i < before; ++i) out.steps.push_back(plain(Step::kWrite, before == kLong ? 600 : 16));
  Step step = plain(kind, 60);
  switch (fault.kind) {
    case Fault::kNone: break;
    case Fault::kOctet:
      step.edits.push_back({static_cast<std::uint16_t>(fault.a), static_cast<std::uint8_t>(fault.b)});
      break;
    case Fault::kCrc: step.crc_xor = fault.a; break;
    case Fault::kLength: step.length_xor = static_cast<std::uint16_t>(fault.a); break;
    case Fault::kSize: step.size = fault.a; break;
    case Fault::kOffset: step.offset = fault.a; break;
    case Fault::kMemory:
      step.region_kind = static_cast<std::uint8_t>(fault.a);
      step.region_rights = static_cast<std::uint8_t>(fault.b);
      break;
  }
  step.again = manner == kTwice;
  step.glued = manner == kGlued && before != 0;
  if (manner == kDribbled) {
    for (std::uint16_t cut = 1; cut < 80; ++cut) step.cuts.push_back(cut);
  }
  out.steps.push_back(std::move(step));
  Step behind = plain(Step::kWrite, 16);
  behind.glued = manner == kGlued;
  out.steps.push_back(std::move(behind));
  return out;
}

}  // namespace weft::probe
