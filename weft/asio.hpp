// SPDX-License-Identifier: Apache-2.0
/// @file
/// Connections and listeners for Boost.Asio: operations with completion tokens, so that coroutines can wait for them.
///
///     Result<void> written = co_await connection.write(region, remote, boost::asio::use_awaitable);
///
/// Needs the headers of Boost 1.81 or later, and no library of it.
#pragma once

#include <boost/asio/any_io_executor.hpp>
#include <boost/system/system_error.hpp>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>
#include <span>
#include <string_view>
#include <utility>
#include <vector>

#include "weft/asio_waiting.hpp"
#include "weft/weft.hpp"

namespace weft {

/// A Connection whose operations also accept a completion token. The completion signature is `void(Result<T>)`, where
/// Result<T> is what the Deadline overload returns: `co_await` with use_awaitable returns it.
///
/// The handler runs in its associated executor, by default the one of the constructor, and never before the call has
/// returned. The executor's context needs to outlive this object, and to run: it also waits for the connection.
/// Any thread may start operations, also while others wait in a Deadline overload.
///
/// **Cancellation** by the handler's cancellation slot, of type terminal, ends the connection, as an expired Deadline
/// does (see Connection): the operation fails with WcStatus::kFlushed and Errc::kInterrupted. Other types do nothing.
/// So `co_await (connection.receive(...) || timer.async_wait(...))` gives up a connection whose peer is silent. If the
/// timer wins while a message arrives, the message is lost although the connection continues: destroy the connection
/// whenever the timer wins.
///
/// Uses the handler's associated executor and cancellation slot, but not its associated allocator.
///
/// **Destruction** is that of Connection: handlers of operations that are in progress are called with an error.
class AsioConnection : public Connection {
 public:
  using Executor = boost::asio::any_io_executor;  ///< executors of I/O objects

  /// Adds completion-token overloads to a connection, established or not. Throws boost::system::system_error if the
  /// process cannot open another descriptor.
  AsioConnection(const Executor& executor, Connection connection)
      : Connection(std::move(connection)), pump_(std::make_shared<detail::Pump>(executor, link_)) {}
  /// Takes over a connection. The other can only be destroyed.
  AsioConnection(AsioConnection&& other) noexcept
      : Connection(static_cast<Connection&&>(other)), pump_(std::move(other.pump_)) {}
  /// Replaces this connection by `other`. The previous connection ends as by the destructor.
  AsioConnection& operator=(AsioConnection&& other) noexcept {
    if (this == &other) return *this;
    if (pump_) pump_->close();
    pump_ = std::move(other.pump_);
    Connection::operator=(static_cast<Connection&&>(other));
    return *this;
  }
  /// Ends the connection.
  ~AsioConnection() {
    if (pump_) pump_->close();
  }

  using Connection::close;
  using Connection::compare_swap;
  using Connection::establish;
  using Connection::fetch_add;
  using Connection::read;
  using Connection::receive;
  using Connection::send;
  using Connection::write;

  /// Connection::establish(). Cancellation ends the connection. So does Errc::kSystem: this function and close() need
  /// one more descriptor while they wait, and the process cannot open it.
  template <detail::CompletionToken Token>
  auto establish(std::span<const std::byte> private_data, Token&& token) {
    const auto begin = [this, data = std::vector(private_data.begin(), private_data.end())] {
      return begin_establish(data);
    };
    return steps(begin, [this] { return step_establish(); }, "establish", token);
  }
  /// Connection::close(). Cancellation resets the connection.
  template <detail::CompletionToken Token>
  auto close(Token&& token) {
    return steps([this] { return begin_close(); }, [this] { return step_close(); }, "close", token);
  }
  /// Connection::send().
  template <detail::CompletionToken Token>
  auto send(Slice message, Token&& token) {
    return start<void>({.kind = detail::Operation::Kind::kSend, .local = message}, std::forward<Token>(token));
  }
  /// Connection::receive(): `void(Result<std::size_t>)`.
  template <detail::CompletionToken Token>
  auto receive(Slice into, Token&& token) {
    return start<std::size_t>({.kind = detail::Operation::Kind::kReceive, .local = into}, std::forward<Token>(token));
  }
  /// Connection::write().
  template <detail::CompletionToken Token>
  auto write(Slice local, const RemoteRegion& remote, Token&& token) {
    return start<void>({.kind = detail::Operation::Kind::kWrite, .local = local, .remote = remote},
                       std::forward<Token>(token));
  }
  /// Connection::read().
  template <detail::CompletionToken Token>
  auto read(Slice local, const RemoteRegion& remote, Token&& token) {
    return start<void>({.kind = detail::Operation::Kind::kRead, .local = local, .remote = remote},
                       std::forward<Token>(token));
  }
  /// Connection::fetch_add(): `void(Result<std::uint64_t>)`.
  template <detail::CompletionToken Token>
  auto fetch_add(const RemoteRegion& remote, std::uint64_t add, Token&& token) {
    return start<std::uint64_t>({.kind = detail::Operation::Kind::kFetchAdd, .remote = remote, .swap_or_add = add},
                                std::forward<Token>(token));
  }
  /// Connection::compare_swap(): `void(Result<std::uint64_t>)`.
  template <detail::CompletionToken Token>
  auto compare_swap(const RemoteRegion& remote, std::uint64_t compare, std::uint64_t swap, Token&& token) {
    return start<std::uint64_t>(
        {.kind = detail::Operation::Kind::kCompareSwap, .remote = remote, .compare = compare, .swap_or_add = swap},
        std::forward<Token>(token));
  }

 private:
  template <typename T, typename Token>
  auto start(const detail::Operation& operation, Token&& token) {
    return detail::initiate<T>(pump_, operation, std::forward<Token>(token));
  }
  // The object stays where it is until the handler runs, as with all I/O objects of Asio.
  template <typename Begin, typename Step, typename Token>
  auto steps(Begin begin, Step step, std::string_view operation, Token& token) {
    const auto begun = std::make_shared<Result<void>>();
    return detail::step_by_step<void(Result<void>)>(
        pump_->executor(), event_descriptor(), operation, [begin = std::move(begin), begun] { *begun = begin(); },
        [this, step, begun](const std::optional<Error>& stop) -> std::optional<Result<void>> {
          if (!stop) return *begun ? step() : std::optional(*begun);
          abort(*stop);
          return std::unexpected(*stop);
        },
        token);
  }
  std::shared_ptr<detail::Pump> pump_;  // null: moved from
};

/// A Listener whose next() also accepts a completion token.
class AsioListener : public Listener {
 public:
  using Executor = boost::asio::any_io_executor;  ///< executors of I/O objects

  /// Adds the completion-token overload to a listener.
  AsioListener(Executor executor, Listener listener) : Listener(std::move(listener)), executor_(std::move(executor)) {}

  using Listener::next;
  /// Listener::next(): `void(Result<AsioConnection>)`, with the executor of this listener. Cancellation ends the wait
  /// and nothing else (Errc::kInterrupted). This object stays where it is until the handler runs.
  /// Errors: Errc::kSystem if the process cannot open another descriptor. A request that was taken is rejected then;
  /// the listener continues.
  template <detail::CompletionToken Token>
  auto next(Token&& token) {
    return detail::step_by_step<void(Result<AsioConnection>)>(
        executor_, event_descriptor(), "next", [] {},
        [this](const std::optional<Error>& stop) -> std::optional<Result<AsioConnection>> {
          if (stop) return std::unexpected(*stop);
          auto request = try_next();
          if (!request) return std::nullopt;
          if (!*request) return std::unexpected(request->error());
          return adopt(std::move(**request));
        },
        token);
  }

 private:
  Result<AsioConnection> adopt(Connection request) {
    try {
      return AsioConnection(executor_, std::move(request));
    } catch (const boost::system::system_error& failure) {
      return std::unexpected(detail::stopped(failure.code(), "next"));
    }
  }
  Executor executor_;
};

}  // namespace weft
