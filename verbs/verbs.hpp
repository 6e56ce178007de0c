// SPDX-License-Identifier: Apache-2.0
/// @file
/// Includes the whole verbs API.
///
/// All functions are thread-safe, also when several threads use the same object. The exception is the end of a handle:
/// the destructor of a handle, and a move from or to it, must not run concurrently with another call on that handle.

/// @namespace weft
/// Contains all of weft.

/// @namespace weft::verbs
/// Contains the verbs API: devices, memory, queue pairs, completion queues and connections.
#pragma once

#include "verbs/connection.hpp"
#include "verbs/device.hpp"
#include "verbs/live_streams.hpp"
#include "verbs/options.hpp"
