// SPDX-License-Identifier: Apache-2.0
// What the two processes of the demo have agreed to do. After each step the server looks at its memory, octet by octet,
// and answers with the step's name; when something is wrong it says so on stderr and leaves instead.
//
//   client                                              server
//     | -- MPA Request ------------------------------->   |
//     | <- MPA Reply, private data: board and counter --  |
//     | -- Send, kSendSize octets --------------------->  |  compares
//     | -- RDMA Write, kBoardSize octets, then a Send ->  |  compares; fills the board with other data
//     | <- RDMA Read ----------------------------------   |  the client compares
//     | -- FetchAdd, CmpSwap, CmpSwap, then a Send ---->  |  compares
//     | -- Send with Invalidate of the board ---------->  |  is told that the STag is gone
#pragma once

#include <cstdint>
#include <string_view>

namespace weft::tools::demo {

enum class Step : std::uint8_t { kSend, kWrite, kAtomics, kInvalidate };

// Short Sends are words, which a reader of the capture sees as such. They have 8 octets or more: of a shorter one
// Wireshark's guess that it might be RPC over RDMA reads past the end and calls it malformed.
inline constexpr std::string_view kQuestion = "server, please look";
inline constexpr std::size_t kMaxAnswer = 32;
[[nodiscard]] constexpr std::string_view answer(Step step) noexcept {
  switch (step) {
    case Step::kSend: return "the Send is right";
    case Step::kWrite: return "the RDMA Write is right";
    case Step::kAtomics: return "the atomics are right";
    case Step::kInvalidate: return "the STag is gone";
  }
  return {};
}

inline constexpr std::uint32_t kSendSize = 4000;
inline constexpr std::uint32_t kBoardSize = 65536;
inline constexpr std::uint32_t kMaxUlpdu = 1440;  // FPDUs as on an Ethernet, so that messages need several

inline constexpr std::uint8_t kSendSeed = 11;
inline constexpr std::uint8_t kWriteSeed = 23;
inline constexpr std::uint8_t kReadSeed = 47;

inline constexpr std::uint64_t kCounterStart = 1000;
inline constexpr std::uint64_t kAdded = 42;
inline constexpr std::uint64_t kSwappedIn =
    7;  // by the first CmpSwap; the second compares with something else and must fail

}  // namespace weft::tools::demo
