// SPDX-License-Identifier: Apache-2.0
// epoll over rsockets and the kernel's descriptors. The kernel's set has the descriptors; the rsockets of the same
// number are kept here, with a kernel's set of their own, which is readable when something may have happened to one.
//
// An rsocket of a set is hot or cold. A cold one was not ready at the last look; it is armed, and the set observes it, so
// that whatever happens to it makes the set readable, also when another thread takes it. A hot one is looked at.
#pragma once

#include <signal.h>
#include <sys/epoll.h>

namespace weft::compat::rsockets {

// As epoll_ctl(2), for any descriptor.
int epoll_ctl(int set, int operation, int number, epoll_event* event) noexcept;
// As epoll_pwait(2), for a set that may have rsockets. It may be canceled.
int epoll_wait(int set, epoll_event* events, int most, int timeout, const sigset_t* signals);
// An rsocket's number, or that of a set, is about to be closed.
void leave_epoll_sets(int number) noexcept;
void close_epoll_set(int set) noexcept;
// dup(2) made `copy` of `number`, which may be a set: both are the same set then. Returns `copy`.
int copy_epoll_set(int number, int copy) noexcept;
// In a child of fork(): its parent's sets have none of its rsockets.
void leave_epoll_sets_to_parent() noexcept;

}  // namespace weft::compat::rsockets
