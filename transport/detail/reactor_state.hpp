// SPDX-License-Identifier: Apache-2.0
// Private to transport/: what a Reactor hides. Includes Asio.
#pragma once

#include <boost/asio/executor_work_guard.hpp>
#include <boost/asio/io_context.hpp>

namespace weft::transport::detail {

struct ReactorState {
  boost::asio::io_context context{1};  // one thread runs it, so it need not wake others
  boost::asio::executor_work_guard<boost::asio::io_context::executor_type> stays_open{context.get_executor()};
};

}  // namespace weft::transport::detail
