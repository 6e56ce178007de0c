// SPDX-License-Identifier: Apache-2.0
#include "probe/rule_needs.hpp"

#include <algorithm>
#include <array>
#include <initializer_list>
#include <utility>

#include "rdmap/control.hpp"

namespace weft::probe {
namespace {

using conformance::ConnectionAudit;
using conformance::Direction;
using conformance::StartupFacts;
using conformance::Tally;
using rdmap::Opcode;

struct Seen {
  const ConnectionAudit& audit;
  Direction peer;

  [[nodiscard]] bool initiator() const { return peer == Direction::kFromInitiator; }
  [[nodiscard]] const Tally& sent() const { return audit.tally(peer); }
  [[nodiscard]] const StartupFacts* frame() const {
    const auto& one = initiator() ? audit.facts().request : audit.facts().reply;
    return one ? &*one : nullptr;
  }
  [[nodiscard]] bool opcodes(std::initializer_list<Opcode> any_of) const {
    return std::ranges::any_of(any_of,
                               [&](Opcode one) { return sent().by_opcode[std::to_underlying(one)].segments > 0; });
  }
  [[nodiscard]] bool in_segments(std::initializer_list<Opcode> any_of) const {
    return std::ranges::any_of(any_of, [&](Opcode one) {
      const auto& count = sent().by_opcode[std::to_underlying(one)];
      return count.segments > count.messages;
    });
  }
};

constexpr auto kSends = {Opcode::kSend, Opcode::kSendInvalidate, Opcode::kSendSolicited,
                         Opcode::kSendSolicitedInvalidate};
constexpr auto kTagged = {Opcode::kWrite, Opcode::kReadResponse};
constexpr auto kImmediates = {Opcode::kImmediate, Opcode::kImmediateSolicited};

struct Row {
  bool (*there)(const Seen&);
  std::string_view clauses;  // with blanks between
};

constexpr std::array kRows{
    Row{[](const Seen& seen) { return seen.frame() != nullptr; }, "MPA-1.2-01 MPA-7.1.1-02 MPA-7.1.1-14 MPA-7.1.1-19"},
    Row{[](const Seen& seen) { return !seen.initiator() && seen.frame() != nullptr; }, "MPA-7.1.1-04 MPA-7.1.2-12"},
    Row{[](const Seen& seen) { return seen.frame() != nullptr && seen.frame()->revision == 1; }, "MPA-7.1.1-17"},
    Row{[](const Seen& seen) { return seen.frame() != nullptr && seen.frame()->revision == 2; }, "MPA2-6-04"},
    Row{[](const Seen& seen) { return seen.frame() != nullptr && seen.frame()->enhanced; }, "MPA2-6-07 MPA2-6-11"},
    Row{[](const Seen& seen) { return seen.frame() != nullptr && seen.frame()->reject; }, "MPA-7.1.1-16"},
    Row{[](const Seen& seen) { return !seen.initiator() && seen.frame() != nullptr && seen.frame()->enhanced; },
        "MPA2-9.1-04 MPA2-9.1-08 MPA2-9.1-20 MPA2-9.1-22"},
    Row{[](const Seen& seen) { return seen.initiator() && seen.sent().fpdus > 0; },
        "MPA-7.1.2-01 MPA-7.1.2-13 MPA2-5-03 MPA2-9.2-12"},
    Row{[](const Seen& seen) { return !seen.initiator() && seen.sent().fpdus > 0; }, "MPA-7.1.2-17"},
    Row{[](const Seen& seen) { return seen.sent().fpdus > 0; },
        "MPA-3-05 MPA-4.1-02 MPA-4.1-03 MPA-5.1-04 MPA-7.1.2-24 MPA2-4.3-01 DDP-4-01 DDP-4.1-11 DDP-4.1-13 "
        "RDMAP-4.1-17 "
        "RDMAP-4.1-20 RDMAP-4.1-22 MPA-3-03 MPA-7.1.1-07 MPA-7.2-01"},
    Row{[](const Seen& seen) { return seen.sent().framing && seen.sent().framing->crc; }, "MPA-4.4-13 MPA-7.1.1-11"},
    Row{[](const Seen& seen) { return seen.sent().markers > 0; },
        "MPA-4.3-12 MPA-7.1.1-08 MPA-4.2-02 MPA-4.2-05 MPA-4.3-05 MPA-4.3-07"},
    Row{[](const Seen& seen) { return seen.in_segments(kSends) || seen.in_segments(kTagged); },
        "DDP-4.1-05 DDP-4.1-06"},
    Row{[](const Seen& seen) { return seen.in_segments(kSends); },
        "DDP-4.1-08 DDP-4.3-06 DDP-4.3-13 DDP-5.2-07 DDP-5.3-02"},
    Row{[](const Seen& seen) { return seen.in_segments(kTagged); }, "DDP-4.2-06 DDP-4.2-10 DDP-5.2-10 DDP-5.3-03"},
    Row{[](const Seen& seen) { return seen.opcodes({Opcode::kWrite}); }, "RDMAP-5.1-01"},
    Row{[](const Seen& seen) { return seen.opcodes({Opcode::kReadRequest}); },
        "RDMAP-4.4-01 RDMAP-5.2.1-01 RDMAP-5.2.1-06 RDMAP-6.1-08"},
    Row{[](const Seen& seen) { return seen.opcodes({Opcode::kReadResponse}); },
        "RDMAP-5.2-01 RDMAP-5.2.2-02 RDMAP-4.4-03 RDMAP-4.4-04 RDMAP-4.4-07 RDMAP-5.2.1-15 RDMAP-5.2.2-07"},
    Row{[](const Seen& seen) { return seen.opcodes(kSends); }, "RDMAP-5.3-01 RDMAP-5.3-08"},
    Row{[](const Seen& seen) { return seen.opcodes({Opcode::kTerminate}); },
        "RDMAP-5.4-01 RDMAP-5.4-02 RDMAP-5.4-05 RDMAP-5.4-10 RDMAP-6.2.1-05 RDMAP-4.8-02 RDMAP-4.8-04 RDMAP-4.8-05 "
        "RDMAP-4.8-11 DDP-7.2-14 RDMAP-4.8-08 RDMAP-4.8-09 RDMAP-4.8-13 RDMAP-4.8-15 RDMAP-4.8-18 RDMAP-4.8-10 "
        "RDMAP-4.8-37 RDMAP-IANA-3.2-01"},
    Row{[](const Seen& seen) {
          return seen.opcodes(kImmediates) || seen.opcodes({Opcode::kAtomicRequest, Opcode::kAtomicResponse});
        },
        "RDMAPX-4.1-03"},
    Row{[](const Seen& seen) { return seen.opcodes(kImmediates); }, "RDMAPX-6.3-01 RDMAPX-6.3-04 RDMAPX-6.3-05"},
    Row{[](const Seen& seen) { return seen.opcodes({Opcode::kAtomicRequest}); },
        "RDMAPX-4-02 RDMAPX-5.2.1-02 RDMAPX-5.2.1-04 RDMAPX-5.2.1-14 RDMAPX-5.2.1-19 RDMAPX-5.2.1-12 RDMAPX-5.2.1-13"},
    Row{[](const Seen& seen) { return seen.opcodes({Opcode::kAtomicResponse}); },
        "RDMAPX-4-03 RDMAPX-5.2.2-05 RDMAPX-5.2.2-06 RDMAPX-5.2.2-02 RDMAPX-5.2.2-11"},
};

// Whole words alone: RDMAP-4.8-1 is no part of RDMAP-4.8-11.
bool has_word(std::string_view text, std::string_view word) noexcept {
  const std::size_t at = text.find(word);
  if (at == std::string_view::npos) return false;
  const std::size_t end = at + word.size();
  return (at == 0 || text[at - 1] == ' ') && (end == text.size() || text[end] == ' ');
}

}  // namespace

bool had_something(const conformance::Rule& rule, const ConnectionAudit& audit, Direction peer) {
  const auto row = std::ranges::find_if(kRows, [&](const Row& one) { return has_word(one.clauses, rule.clause); });
  return audit.iwarp() && (row == kRows.end() || row->there({audit, peer}));
}

}  // namespace weft::probe
