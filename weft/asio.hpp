// SPDX-License-Identifier: Apache-2.0
/// @file
/// Connections and listeners for Boost.Asio: operations with completion tokens, so that coroutines can wait for them.
///
///     auto written = co_await connection.write(*mine, *theirs, boost::asio::use_awaitable);
///
/// Needs the headers of Boost 1.81 or later, and no library of it.
#pragma once

#include <unistd.h>

#include <atomic>
#include <boost/asio/any_io_executor.hpp>
#include <boost/asio/associated_cancellation_slot.hpp>
#include <boost/asio/associated_executor.hpp>
#include <boost/asio/async_result.hpp>
#include <boost/asio/cancellation_type.hpp>
#include <boost/asio/compose.hpp>
#include <boost/asio/executor_work_guard.hpp>
#include <boost/asio/posix/stream_descriptor.hpp>
#include <boost/asio/post.hpp>
#include <concepts>
#include <memory>
#include <mutex>
#include <type_traits>
#include <utility>

#include "weft/weft.hpp"

namespace weft {

namespace detail {

// What selects the second form of an operation: neither a Deadline nor a Post.
template <typename Token>
concept CompletionToken =
    !std::convertible_to<Token, Deadline> && !std::same_as<std::remove_cvref_t<Token>, Post> && !std::integral<Token>;

// A descriptor that weft owns, for Asio to wait for: a duplicate, because Asio closes its own.
inline boost::asio::posix::stream_descriptor duplicate(const boost::asio::any_io_executor& executor, int descriptor) {
  return boost::asio::posix::stream_descriptor(executor, ::dup(descriptor));
}

// Calls progress() of a link for as long as operations are in progress. One call of `turn` at a time owns the pump: it
// sets `turning_`, and clears it only when no operation was left. It looks again after that, so an operation that was
// started in between, and saw the pump turning, is not left alone.
class Pump : public std::enable_shared_from_this<Pump> {
 public:
  Pump(const boost::asio::any_io_executor& executor, std::shared_ptr<Link> link)
      : descriptor_(duplicate(executor, completion_descriptor(*link))), link_(std::move(link)) {}

  [[nodiscard]] boost::asio::any_io_executor executor() { return descriptor_.get_executor(); }
  void start(const Operation& operation, Ticket ticket, Done done) {
    detail::start(*link_, operation, ticket, std::move(done));
    turn();
  }
  void cancel(Ticket ticket) {
    const std::lock_guard lock(mutex_);
    if (link_) detail::cancel(*link_, ticket);
  }
  // The connection is destroyed next.
  void close() {
    const std::lock_guard lock(mutex_);
    link_.reset();
    boost::system::error_code ignored;
    descriptor_.close(ignored);
  }

 private:
  void turn() {
    if (!turning_.exchange(true)) go_on();
  }
  void go_on() {
    const std::lock_guard lock(mutex_);
    while (link_) {
      if (progress(*link_)) return wait();
      turning_ = false;
      if (!has_started(*link_) || turning_.exchange(true)) return;
    }
  }
  // The handler of the wait. A context that ends destroys it uncalled. Then nobody takes completions any more, so the
  // handlers in progress are destroyed as well, and with them the coroutines that wait, and what those own.
  struct Turn {
    std::shared_ptr<Pump> pump;
    explicit Turn(std::shared_ptr<Pump> of) noexcept : pump(std::move(of)) {}
    Turn(Turn&&) noexcept = default;
    ~Turn() {
      const auto link = pump ? pump->link_of() : nullptr;
      if (link) abandon(*link);
    }
    void operator()(boost::system::error_code) { std::exchange(pump, nullptr)->go_on(); }
  };
  [[nodiscard]] std::shared_ptr<Link> link_of() {
    const std::lock_guard lock(mutex_);
    return link_;
  }
  void wait() { descriptor_.async_wait(boost::asio::posix::stream_descriptor::wait_read, Turn(shared_from_this())); }

  std::mutex mutex_;  // of what follows; completion handlers are posted, so none runs with it held
  boost::asio::posix::stream_descriptor descriptor_;
  std::shared_ptr<Link> link_;  // null: closed
  std::atomic<bool> turning_ = false;
};

// The result of an operation from the outcome, which is a number for all of them.
template <typename T>
Result<T> result_of(const Outcome& outcome) {
  if (!outcome) return std::unexpected(outcome.error());
  if constexpr (std::is_void_v<T>) {
    return {};
  } else {
    return static_cast<T>(*outcome);
  }
}

template <typename T, typename Token>
auto initiate(std::shared_ptr<Pump> of, const Operation& what, Token&& token) {
  return boost::asio::async_initiate<Token, void(Result<T>)>(
      [](auto handler, const std::shared_ptr<Pump>& pump, const Operation& operation) {
        const Ticket ticket = next_ticket();
        auto slot = boost::asio::get_associated_cancellation_slot(handler);
        if (slot.is_connected()) {
          slot.assign([weak = std::weak_ptr(pump), ticket](boost::asio::cancellation_type type) {
            const bool ends = (type & boost::asio::cancellation_type::terminal) != boost::asio::cancellation_type::none;
            if (const auto open = ends ? weak.lock() : nullptr) open->cancel(ticket);
          });
        }
        auto work = boost::asio::make_work_guard(handler, pump->executor());
        pump->start(operation, ticket,
                    [handler = std::move(handler), work = std::move(work)](const Outcome& outcome) mutable {
                      const auto executor = work.get_executor();
                      boost::asio::post(executor, [handler = std::move(handler), work = std::move(work),
                                                   result = result_of<T>(outcome)]() mutable {
                        boost::asio::get_associated_cancellation_slot(handler).clear();
                        std::move(handler)(std::move(result));
                      });
                    });
      },
      token, std::move(of), what);
}

// Repeats `step` whenever the descriptor is readable, until it has a result.
template <typename Step>
struct StepByStep {
  std::unique_ptr<boost::asio::posix::stream_descriptor> descriptor;
  Step step;
  bool begun = false;

  template <typename Self>
  void operator()(Self& self, boost::system::error_code error = {}) {
    if (!std::exchange(begun, true)) return boost::asio::post(descriptor->get_executor(), std::move(self));
    const bool canceled = self.get_cancellation_state().cancelled() != boost::asio::cancellation_type::none;
    if (auto result = step(error || canceled)) return self.complete(std::move(*result));
    auto& waits = *descriptor;  // it moves with us
    waits.async_wait(boost::asio::posix::stream_descriptor::wait_read, std::move(self));
  }
};

template <typename Signature, typename Step, typename Token>
auto step_by_step(const boost::asio::any_io_executor& executor, int descriptor, Step step, Token& token) {
  auto waits = std::make_unique<boost::asio::posix::stream_descriptor>(duplicate(executor, descriptor));
  return boost::asio::async_compose<Token, Signature>(StepByStep<Step>{std::move(waits), std::move(step)}, token,
                                                      executor);
}

inline std::unexpected<Error> canceled(std::string_view operation) {
  return std::unexpected(to_error({Errc::kInterrupted, "connection", "the operation was canceled"}, operation));
}

}  // namespace detail

/// A Connection whose operations also have the form with a completion token. The completion signature is
/// `void(Result<T>)`, with the Result of the form with a Deadline: `co_await` with use_awaitable returns it.
///
/// The handler runs in its associated executor, by default the one of the constructor, and never before the call has
/// returned. The executor's context needs to outlive this object, and to run: it also waits for the connection.
/// Any thread may start operations, also while others wait in the form with a Deadline.
///
/// **Cancellation** by the handler's cancellation slot, of type terminal, ends the connection, as an expired Deadline
/// does (see Connection): the operation fails with WcStatus::kFlushed and Errc::kInterrupted. Other types do nothing.
/// So `co_await (connection.receive(...) || timer.async_wait(...))` gives up a connection whose peer is silent.
///
/// **Destruction** is that of Connection: handlers of operations that are in progress are called with an error.
class AsioConnection : public Connection {
 public:
  using Executor = boost::asio::any_io_executor;  ///< executors of I/O objects

  /// Adds the form to a connection, established or not. Throws boost::system::system_error if the process cannot open
  /// another descriptor; so do establish() and close().
  AsioConnection(const Executor& executor, Connection connection)
      : Connection(std::move(connection)), pump_(std::make_shared<detail::Pump>(executor, link_)) {}
  AsioConnection(AsioConnection&&) noexcept = default;  ///< Takes over a connection. The other can only be destroyed.
  /// Replaces this connection by `other`. The previous connection ends as by the destructor.
  AsioConnection& operator=(AsioConnection&& other) noexcept {
    if (pump_) pump_->close();
    pump_ = std::move(other.pump_);
    Connection::operator=(std::move(other));
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

  /// Connection::establish(). Cancellation ends the connection.
  template <detail::CompletionToken Token>
  auto establish(std::span<const std::byte> private_data, Token&& token) {
    const auto begun = std::make_shared<Result<void>>(begin_establish(private_data));
    return steps([this, begun] { return *begun ? step_establish() : std::optional(*begun); }, "establish", token);
  }
  /// Connection::close(). Cancellation resets the connection.
  template <detail::CompletionToken Token>
  auto close(Token&& token) {
    const auto begun = std::make_shared<Result<void>>(begin_close());
    return steps([this, begun] { return *begun ? step_close() : std::optional(*begun); }, "close", token);
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
  template <typename Step, typename Token>
  auto steps(Step step, std::string_view operation, Token& token) {
    return detail::step_by_step<void(Result<void>)>(
        pump_->executor(), event_descriptor(),
        [this, step, operation](bool stop) -> std::optional<Result<void>> {
          if (!stop) return step();
          abort(Errc::kInterrupted, "an operation was canceled");
          return detail::canceled(operation);
        },
        token);
  }
  std::shared_ptr<detail::Pump> pump_;  // null: moved from
};

/// A Listener whose requests can be waited for by a completion token.
class AsioListener : public Listener {
 public:
  using Executor = boost::asio::any_io_executor;  ///< executors of I/O objects

  /// Adds the form to a listener.
  AsioListener(Executor executor, Listener listener) : Listener(std::move(listener)), executor_(std::move(executor)) {}

  using Listener::next;
  /// Listener::next(): `void(Result<AsioConnection>)`, with the executor of this listener. Cancellation ends the wait
  /// and nothing else (Errc::kInterrupted). This object stays where it is until the handler runs. Throws as the
  /// constructor of AsioConnection.
  template <detail::CompletionToken Token>
  auto next(Token&& token) {
    return detail::step_by_step<void(Result<AsioConnection>)>(
        executor_, event_descriptor(),
        [this](bool stop) -> std::optional<Result<AsioConnection>> {
          if (stop) return detail::canceled("next");
          auto request = try_next();
          if (!request) return std::nullopt;
          if (!*request) return std::unexpected(request->error());
          return AsioConnection(executor_, std::move(**request));
        },
        token);
  }

 private:
  Executor executor_;
};

}  // namespace weft
