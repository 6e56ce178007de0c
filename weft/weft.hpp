// SPDX-License-Identifier: Apache-2.0
/// @file
/// The C++ interface of weft: connect, exchange messages, and read and write the peer's memory.
///
///     auto connection = weft::Connection::connect({"192.0.2.7", 7471}, 5s);
///     auto theirs = weft::RemoteRegion::from_wire(connection->peer_data());
///     auto mine = connection->register_memory(text);
///     auto written = connection->write(*mine, *theirs, 5s);
///
/// A thin layer over verbs/verbs.hpp (installed: <weft/verbs/verbs.hpp>), which has what is missing here. Coroutines:
/// weft/asio.hpp.
/// docs/your-first-program.md is an introduction.
#pragma once

#include "weft/connection.hpp"
#include "weft/error.hpp"
#include "weft/listener.hpp"
#include "weft/region.hpp"
