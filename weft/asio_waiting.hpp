// SPDX-License-Identifier: Apache-2.0
/// @file
/// How weft/asio.hpp waits. No part of the interface: include weft/asio.hpp.
#pragma once

#include <fcntl.h>
#include <unistd.h>

#include <atomic>
#include <boost/asio/any_io_executor.hpp>
#include <boost/asio/associated_cancellation_slot.hpp>
#include <boost/asio/associated_executor.hpp>
#include <boost/asio/async_result.hpp>
#include <boost/asio/cancellation_type.hpp>
#include <boost/asio/compose.hpp>
#include <boost/asio/error.hpp>
#include <boost/asio/executor_work_guard.hpp>
#include <boost/asio/posix/stream_descriptor.hpp>
#include <boost/asio/post.hpp>
#include <boost/system/system_error.hpp>
#include <cerrno>
#include <concepts>
#include <memory>
#include <mutex>
#include <optional>
#include <string_view>
#include <type_traits>
#include <utility>

#include "weft/weft.hpp"

namespace weft {

namespace detail {

// The argument that selects the completion-token overload of an operation: neither a Deadline nor a Post.
template <typename Token>
concept CompletionToken =
    !std::convertible_to<Token, Deadline> && !std::same_as<std::remove_cvref_t<Token>, Post> && !std::integral<Token>;

using Descriptor = boost::asio::posix::stream_descriptor;

// A descriptor that weft owns, for Asio to wait for: a duplicate, because Asio closes its own. Throws
// boost::system::system_error.
inline Descriptor duplicate(const boost::asio::any_io_executor& executor, int descriptor) {
  Descriptor made(executor);
  const int copy = ::fcntl(descriptor, F_DUPFD_CLOEXEC, 0);
  boost::system::error_code failed(copy < 0 ? errno : 0, boost::system::system_category());
  if (!failed && made.assign(copy, failed)) ::close(copy);
  if (failed) throw boost::system::system_error(failed, "weft: duplicate a descriptor");
  return made;
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
    if (!is_parents(*link_)) turn();
  }
  void cancel(Ticket ticket) {
    const std::lock_guard lock(mutex_);
    if (link_) detail::cancel(*link_, ticket);
  }
  // Called before the connection is destroyed. In a child of fork(), leaks the pump: a thread of the parent may have
  // held the lock, and the parent still waits for the descriptor.
  void close() {
    if (link_ && is_parents(*link_)) return verbs::detail::keep_for_ever(shared_from_this());
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
  // The handler of the wait. If the io_context is destroyed first, this handler is destroyed without being called.
  // Nobody takes completions then, so the pending handlers are destroyed too, and with them the coroutines that wait.
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
  void wait() { descriptor_.async_wait(Descriptor::wait_read, Turn(shared_from_this())); }

  std::mutex mutex_;  // guards the members below; completion handlers are posted, so none runs with it held
  Descriptor descriptor_;
  std::shared_ptr<Link> link_;  // null: closed
  std::atomic<bool> turning_ = false;
};

// Converts the outcome of an operation, which is a number for all of them, to its result.
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

// Converts the reason for ending a wait: the operation was canceled, or the descriptor cannot be waited for.
inline Error stopped(const boost::system::error_code& error, std::string_view operation) {
  if (!error || error == boost::asio::error::operation_aborted)
    return to_error({Errc::kInterrupted, "connection", "the operation was canceled"}, operation);
  return to_error({Errc::kSystem, "descriptor", "cannot be duplicated or waited for", error.value()}, operation);
}

// Calls `begin` when the operation is launched, which a token such as deferred does later or never. Repeats `step`
// whenever the descriptor is readable, until it has a result. Its argument says why it must have one.
template <typename Begin, typename Step>
struct StepByStep {
  boost::asio::any_io_executor executor;
  std::unique_ptr<Descriptor> descriptor;  // null: `failed` says why
  boost::system::error_code failed;
  std::string_view operation;
  Begin begin;
  Step step;
  bool begun = false;

  template <typename Self>
  void operator()(Self& self, boost::system::error_code error = {}) {
    if (!std::exchange(begun, true)) {
      begin();
      const auto runs_in = executor;  // a copy, because `self` is moved from in the next line
      return boost::asio::post(runs_in, std::move(self));
    }
    if (failed) error = failed;
    const bool canceled = self.get_cancellation_state().cancelled() != boost::asio::cancellation_type::none;
    const auto stop = error || canceled ? std::optional(stopped(error, operation)) : std::nullopt;
    if (auto result = step(stop)) return self.complete(std::move(*result));
    auto& waits = *descriptor;  // read first, because `self` is moved from in the next line
    waits.async_wait(Descriptor::wait_read, std::move(self));
  }
};

template <typename Signature, typename Begin, typename Step, typename Token>
auto step_by_step(const boost::asio::any_io_executor& executor, int descriptor, std::string_view operation, Begin begin,
                  Step step, Token& token) {
  StepByStep<Begin, Step> steps{executor, nullptr, {}, operation, std::move(begin), std::move(step)};
  try {
    steps.descriptor = std::make_unique<Descriptor>(duplicate(executor, descriptor));
  } catch (const boost::system::system_error& failure) {
    steps.failed = failure.code();
  }
  return boost::asio::async_compose<Token, Signature>(std::move(steps), token, executor);
}

}  // namespace detail

}  // namespace weft
