// SPDX-License-Identifier: Apache-2.0
// What a work request of each opcode becomes: the engine's operation, and its completion.
#pragma once

#include <algorithm>
#include <array>
#include <string_view>
#include <utility>

#include "engine/work.hpp"
#include "verbs/completion.hpp"
#include "verbs/work_request.hpp"

namespace weft::verbs::detail {

struct SendOpcodeRow {
  SendOpcode opcode{};
  engine::Operation operation{};
  WcOpcode completion{};
  std::string_view completed{};  // the completion's name
};

inline constexpr std::array kSendOpcodeTable = std::to_array<SendOpcodeRow>({
    {SendOpcode::kRdmaWrite, engine::Operation::kWrite, WcOpcode::kRdmaWrite, "RDMA write"},
    {SendOpcode::kRdmaWriteWithImmediate, engine::Operation::kWriteImmediate, WcOpcode::kRdmaWrite, "RDMA write"},
    {SendOpcode::kSend, engine::Operation::kSend, WcOpcode::kSend, "send"},
    {SendOpcode::kSendWithImmediate, engine::Operation::kSendImmediate, WcOpcode::kSend, "send"},
    {SendOpcode::kRdmaRead, engine::Operation::kRead, WcOpcode::kRdmaRead, "RDMA read"},
    {SendOpcode::kCompareAndSwap, engine::Operation::kCmpSwap, WcOpcode::kCompareAndSwap, "compare and swap"},
    {SendOpcode::kFetchAndAdd, engine::Operation::kFetchAdd, WcOpcode::kFetchAndAdd, "fetch and add"},
    {SendOpcode::kLocalInvalidate, engine::Operation::kLocal, WcOpcode::kLocalInvalidate, "local invalidate"},
    {SendOpcode::kBindWindow, engine::Operation::kLocal, WcOpcode::kBindWindow, "bind window"},
    {SendOpcode::kSendWithInvalidate, engine::Operation::kSend, WcOpcode::kSend, "send"},
    {SendOpcode::kImmediate, engine::Operation::kImmediate, WcOpcode::kImmediate, "immediate data"},
});

// Index of the row of each value; kSendOpcodeTable.size() where there is none.
inline constexpr auto kSendOpcodeIndex = [] {
  constexpr auto kLast = std::ranges::max(kSendOpcodeTable, {}, &SendOpcodeRow::opcode).opcode;
  std::array<std::uint8_t, std::to_underlying(kLast) + 1> index{};
  index.fill(kSendOpcodeTable.size());
  for (std::uint8_t i = 0; i < kSendOpcodeTable.size(); ++i) index[std::to_underlying(kSendOpcodeTable[i].opcode)] = i;
  return index;
}();

// Returns null for a value that is no operation.
[[nodiscard]] constexpr const SendOpcodeRow* find_send_opcode(SendOpcode opcode) noexcept {
  const std::size_t value = std::to_underlying(opcode);
  if (value >= kSendOpcodeIndex.size() || kSendOpcodeIndex[value] == kSendOpcodeTable.size()) return nullptr;
  return &kSendOpcodeTable[kSendOpcodeIndex[value]];
}

// Returns the row of an opcode that check() has accepted.
[[nodiscard]] constexpr const SendOpcodeRow& row(SendOpcode opcode) noexcept {
  return kSendOpcodeTable[kSendOpcodeIndex[std::to_underlying(opcode)]];
}

}  // namespace weft::verbs::detail
