// SPDX-License-Identifier: Apache-2.0
// A server with 100 clients, each a coroutine of Boost.Asio, on one thread. Each client takes a place at the server's
// counter (an atomic), writes a line to that place of the server's board, and sends an empty message. The server prints
// how many lines there are.
//
//     crowd [CLIENTS]    100 by default, at most 1000
#include <array>
#include <cstddef>
#include <cstdio>
#include <cstdlib>
#include <exception>
#include <stdexcept>
#include <utility>

#include <boost/asio/co_spawn.hpp>
#include <boost/asio/io_context.hpp>
#include <boost/asio/use_awaitable.hpp>
#include <weft/asio.hpp>

namespace asio = boost::asio;
using asio::awaitable;
using asio::use_awaitable;

namespace {

using Line = std::array<char, 32>;

struct Board {
  alignas(8) std::uint64_t next;
  std::array<Line, 1000> lines;
};

// Returns the value of a result, or throws the message of the error.
template <typename T>
T must(weft::Result<T> result) {
  if (!result) throw std::runtime_error(result.error().message());
  if constexpr (!std::is_void_v<T>) return std::move(*result);
}

// Ends the program if a coroutine fails.
void end(const std::exception_ptr& failure) {
  if (failure) std::rethrow_exception(failure);
}

// One connection of the server. The region is this client's alone, and ends with its connection.
awaitable<void> serve(weft::AsioConnection client, Board& board) {
  using enum weft::Access;
  const weft::Region region = must(client.register_memory(board, kLocalWrite | kRemoteWrite | kRemoteAtomic));
  const auto place = region.remote().to_wire();
  must(co_await client.establish(place, use_awaitable));
  must(co_await client.receive({}, use_awaitable));
  must(co_await client.close(use_awaitable));
}

awaitable<void> listen(weft::AsioListener& listener, Board& board, unsigned clients) {
  const auto executor = co_await asio::this_coro::executor;
  for (unsigned i = 0; i < clients; ++i) {
    auto request = co_await listener.next(use_awaitable);
    asio::co_spawn(executor, serve(must(std::move(request)), board), end);
  }
}

awaitable<void> visit(weft::Endpoint server, unsigned number) {
  weft::AsioConnection connection(co_await asio::this_coro::executor, must(weft::Connection::prepare(server)));
  must(co_await connection.establish({}, use_awaitable));
  const weft::RemoteRegion board = must(weft::RemoteRegion::from_wire(connection.peer_data()));

  const std::uint64_t place = must(co_await connection.fetch_add(board, 1, use_awaitable));
  Line line{};
  std::snprintf(line.data(), line.size(), "client %u was here", number);
  const weft::Region region = must(connection.register_memory(line));
  const auto target = must(board.subspan(offsetof(Board, lines) + place * sizeof line, sizeof line));
  must(co_await connection.write(region, target, use_awaitable));
  // The message arrives after the line (RFC 5040 section 5.5).
  must(co_await connection.send({}, use_awaitable));
  must(co_await connection.close(use_awaitable));
}

}  // namespace

int main(int argc, char** argv) try {
  const unsigned clients = argc > 1 ? unsigned(std::atoi(argv[1])) : 100;
  static Board board{};
  if (clients > board.lines.size()) throw std::runtime_error("at most 1000 clients");
  asio::io_context io(1);
  weft::AsioListener listener(io.get_executor(), must(weft::Listener::listen({"127.0.0.1", 0})));
  asio::co_spawn(io, listen(listener, board, clients), end);
  for (unsigned i = 0; i < clients; ++i) asio::co_spawn(io, visit(listener.local(), i), end);
  io.run();

  std::size_t lines = 0;
  for (const Line& line : board.lines) lines += line[0] != '\0' ? 1 : 0;
  std::printf("%llu clients left %zu lines; the first: %s\n", static_cast<unsigned long long>(board.next), lines,
              board.lines[0].data());
  return lines == clients ? 0 : 1;
} catch (const std::exception& failure) {
  std::fprintf(stderr, "crowd: %s\n", failure.what());
  return 1;
}
