// SPDX-License-Identifier: Apache-2.0
// The numbers of docs/progress.md, which has the figures that chose them.
#pragma once

#include <chrono>
#include <cstddef>
#include <cstdint>

namespace weft::verbs::detail::tuning {

using namespace std::chrono_literals;

// --- Presence: so many calls in a row, each within that time of the one before
// A thread that sleeps on its channel polls an empty queue as well, before and after arm(), but not that often.
inline constexpr std::uint32_t kPolls = 8;
inline constexpr std::chrono::nanoseconds kPollCloseness = 200us;
inline constexpr std::uint32_t kProxyWaits = 4;
inline constexpr std::chrono::nanoseconds kProxyCloseness = 1ms;

// --- The tick
inline constexpr std::chrono::nanoseconds kTick = 1ms;
// The timer gives a poller so long to do a tick that is due, and puts off its own with it.
inline constexpr std::chrono::nanoseconds kPatience = 500us;
// So much longer where pollers did so many in a row. To set a timer that comes before the kernel's own next tick (1 to
// 10 ms) is to set the processor's, which takes 15 us in a virtual machine.
inline constexpr std::chrono::nanoseconds kLongPatience = 4ms;
inline constexpr int kManyTicks = 10;

// --- Pollers
// Up to so many sockets it is cheaper to read each than to ask which can be read.
inline constexpr std::size_t kFewStreams = 4;
// Of its empty polls one of so many looks at the progress threads' sockets; of a poller with fewer empty polls in a
// tick than kManyPolls more, up to each.
inline constexpr std::uint32_t kLooksElsewhere = 4;
inline constexpr std::uint32_t kManyPolls = 400;
// One of so many looks at the clock, which costs a tenth of an empty poll.
inline constexpr std::uint32_t kLooksAtClock = 16;
// With so many in a tick it comes often enough to do all the progress threads' work.
inline constexpr std::uint32_t kSomePolls = 20;
// What has been ready for so long while its progress thread had no turn is served by a poller. A thread that is woken
// and gets a processor at once is faster.
inline constexpr std::chrono::microseconds kLate{20};
inline constexpr std::size_t kHelpedAtOnce = 4;

// --- Waiters
// With more streams to take over and hand back than these, sleeping on the descriptor is cheaper.
inline constexpr std::size_t kMostWaited = 256;
// A thread that waits for so many ticks needs none until it comes back.
inline constexpr int kLongWait = 10;
// A waiter takes so many ready sockets from the kernel at a time: mostly there is one.
inline constexpr std::size_t kReadyAtOnce = 16;
// A waiter that finds events without waiting looks at its sockets when it last did so long ago.
inline constexpr std::chrono::nanoseconds kMostUnseen = 100us;

// --- The proxy
// It steps back when no event comes for so long: the progress thread is woken as quickly.
inline constexpr std::chrono::milliseconds kQuiet{10};

// --- A socket that no epoll set has memory for
inline constexpr std::chrono::nanoseconds kWatchRetry = 100ms;

}  // namespace weft::verbs::detail::tuning
