// SPDX-License-Identifier: Apache-2.0
#include "tools/dissect/folding.hpp"

#include <algorithm>
#include <utility>

#include "rdmap/opcodes.hpp"

namespace weft::tools::dissect {
namespace {

bool notable(const Entry& entry) {
  return entry.message() == nullptr || entry.message()->opcode() == std::to_underlying(rdmap::Opcode::kTerminate);
}

}  // namespace

void Fold::add(const Entry& entry) {
  if (first_packet == 0) first_packet = entry.message() != nullptr ? entry.message()->first_packet : entry.packet();
  last_packet = entry.packet();
  if (entry.message() == nullptr) return static_cast<void>(++notes);
  const conformance::Message& message = *entry.message();
  ++messages;
  auto kind = std::ranges::find_if(
      kinds, [&](const Kind& one) { return one.from == message.from && one.opcode == message.opcode(); });
  if (kind == kinds.end()) kind = kinds.insert(kind, {message.from, message.opcode(), 0, 0});
  ++kind->messages;
  kind->octets += message.octets;
}

void Folding::add(Entry entry) {
  if (all_ || shown_.size() < kFirst) {
    shown_.emplace_back(std::move(entry));
    return;
  }
  last_.push_back(std::move(entry));
  if (last_.size() <= kLast) return;
  settle(std::move(last_.front()));
  last_.pop_front();
}

// Neither among the first nor among the last.
void Folding::settle(Entry entry) {
  if (notable(entry) && notes_ < kNotes) {
    ++notes_;
    shown_.emplace_back(std::move(entry));
    return;
  }
  if (!std::holds_alternative<Fold>(shown_.back())) shown_.emplace_back(Fold{});
  std::get<Fold>(shown_.back()).add(entry);
}

}  // namespace weft::tools::dissect
