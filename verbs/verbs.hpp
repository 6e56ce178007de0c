// SPDX-License-Identifier: Apache-2.0
// All of the verbs API.
#pragma once

#include "verbs/connection.hpp"
#include "verbs/device.hpp"
#include "verbs/live_streams.hpp"
#include "verbs/options.hpp"
