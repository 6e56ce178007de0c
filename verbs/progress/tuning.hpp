// SPDX-License-Identifier: Apache-2.0
// The constants of docs/progress.md, which has the measurements that determined them.
#pragma once

#include <chrono>
#include <cstddef>
#include <cstdint>

namespace weft::verbs::detail::tuning {

using namespace std::chrono_literals;

// --- Presence: calls in a row, each within that time of the one before
// A thread that sleeps on its channel polls an empty queue as well, before and after arm(), but not that often.
inline constexpr std::uint32_t kPolls = 8;
inline constexpr std::chrono::nanoseconds kPollCloseness = 200us;
inline constexpr std::uint32_t kProxyWaits = 4;  // each within kTick

// --- The tick
inline constexpr std::chrono::nanoseconds kTick = 1ms;
// The time that the timer gives a poller to do a tick that is due. It puts off its own with it.
inline constexpr std::chrono::nanoseconds kPatience = 500us;
// The time where pollers did kManyTicks in a row. To set a timer that comes before the kernel's own next tick (1 to
// 10 ms) is to set the processor's, which takes 15 us in a virtual machine.
inline constexpr std::chrono::nanoseconds kLongPatience = 4ms;
// So many show that what holds goes on: pollers that run the ticks; a thread that waits, and needs none until it comes
// back; a proxy without an event, which steps back, since the progress thread is woken as quickly.
inline constexpr int kManyTicks = 10;

// --- Pollers
// Up to this number of sockets it is cheaper to read each than to ask which can be read.
inline constexpr std::size_t kFewStreams = 4;
// One of this number of empty polls looks at the progress threads' sockets. A poller with fewer than kManyPolls in a
// tick looks more often, up to each time.
inline constexpr std::uint32_t kLooksElsewhere = 4;
inline constexpr std::uint32_t kManyPolls = 400;
// One of this number looks at the clock, which costs a tenth of an empty poll.
inline constexpr std::uint32_t kLooksAtClock = 16;
// With this number in a tick it comes often enough to do all the progress threads' work.
inline constexpr std::uint32_t kSomePolls = 20;
// A poller serves what has been ready for this time while its progress thread had no turn. A thread that is woken
// and gets a processor at once is faster.
inline constexpr std::chrono::microseconds kLate{20};

// --- Waiters
// With more streams to take over and hand back, sleeping on the descriptor is cheaper.
inline constexpr std::size_t kMostWaited = 256;
// The ready sockets that a waiter or a poller that helps takes from the kernel at a time: mostly there is one.
inline constexpr std::size_t kReadyAtOnce = 16;
// A waiter that finds events without waiting looks at its sockets when its last look is this old.
inline constexpr std::chrono::nanoseconds kMostUnseen = 100us;

// --- A socket that no epoll set has memory for
inline constexpr std::chrono::nanoseconds kWatchRetry = 100ms;

}  // namespace weft::verbs::detail::tuning
