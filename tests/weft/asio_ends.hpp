// SPDX-License-Identifier: Apache-2.0
// Two connected ends for coroutines.
#pragma once

#include <boost/asio/awaitable.hpp>
#include <boost/asio/co_spawn.hpp>
#include <boost/asio/io_context.hpp>
#include <boost/asio/use_awaitable.hpp>
#include <exception>
#include <utility>

#include "ends.hpp"
#include "weft/asio.hpp"

namespace weft::test {

namespace asio = boost::asio;
using asio::awaitable;
using asio::use_awaitable;

// Runs the coroutine to its end; what it throws fails the test.
inline void play(asio::io_context& io, awaitable<void> coroutine) {
  asio::co_spawn(io, std::move(coroutine), [](const std::exception_ptr& failure) {
    if (failure) std::rethrow_exception(failure);
  });
  io.run();
}

struct AsioEnds {
  explicit AsioEnds(const verbs::Policy& policy = {}) : ends({}, policy) {}
  asio::io_context io;
  Ends ends;
  AsioConnection client{io.get_executor(), std::move(ends.client)};
  AsioConnection server{io.get_executor(), std::move(ends.server)};
};

}  // namespace weft::test
