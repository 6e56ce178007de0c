// SPDX-License-Identifier: Apache-2.0
// What the two processes of the demo have agreed to do. After each step the server looks at its memory, octet by octet,
// and answers with the step's number; when something is wrong it says so on stderr and leaves instead.
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

namespace weft::tools::demo {

enum class Step : std::uint8_t { kSend = 1, kWrite, kAtomics, kInvalidate };

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
