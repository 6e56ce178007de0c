// SPDX-License-Identifier: Apache-2.0
// All of the verbs API. Calls may be made from any thread at any time, on the same object, too. What ends a handle (its
// destructor, a move) must not meet another call on it.
#pragma once

#include "verbs/connection.hpp"
#include "verbs/device.hpp"
#include "verbs/live_streams.hpp"
#include "verbs/options.hpp"
