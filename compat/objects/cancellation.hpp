// SPDX-License-Identifier: Apache-2.0
// pthread_cancel() and the C interfaces. Programs cancel threads that wait for events, and mean the wait. So a thread
// is canceled where a call waits, with nothing half done, and nowhere else: every other call comes through, and the
// thread ends at the next cancellation point after it. The data path needs nothing of this: it meets no cancellation
// point (transport/cancellation.hpp).
#pragma once

#include "transport/cancellation.hpp"

namespace weft::compat {

using Uncancelled = transport::NoCancellation;
using UncancelledButInWaits = transport::NoCancellationButInWaits;
using transport::wait_for;
using transport::Waits;

}  // namespace weft::compat
