// SPDX-License-Identifier: Apache-2.0
// Coroutines of a process that has no descriptor left.
#include <sys/resource.h>
#include <unistd.h>

#include <cerrno>
#include <optional>

#include "asio_ends.hpp"
#include "verbs/verbs.hpp"

namespace weft::test {
namespace {

// The process has room for this many more descriptors.
class Room {
 public:
  explicit Room(rlim_t descriptors) {
    // UBSan opens a pipe the first time that a virtual function is called for a type, so the same happens once before.
    try {
      asio::io_context io;
      static_cast<void>(detail::duplicate(io.get_executor(), -1));
      ADD_FAILURE() << "there is no such descriptor";
    } catch (const boost::system::system_error& failure) {
      EXPECT_EQ(failure.code().value(), EBADF);
    }
    getrlimit(RLIMIT_NOFILE, &before_);
    const int lowest = dup(STDERR_FILENO);
    ::close(lowest);
    const rlimit less{static_cast<rlim_t>(lowest) + descriptors, before_.rlim_max};
    EXPECT_EQ(setrlimit(RLIMIT_NOFILE, &less), 0);
  }
  Room(const Room&) = delete;
  Room& operator=(const Room&) = delete;
  ~Room() { setrlimit(RLIMIT_NOFILE, &before_); }

 private:
  rlimit before_{};
};

// A request waits for next(), which lacks one descriptor or another.
std::optional<Error> next_with_room_for(rlim_t descriptors) {
  asio::io_context io;
  const detail::Descriptor first(io.get_executor());  // has Asio open its own descriptors
  AsioListener listener(io.get_executor(), must(Listener::listen({"127.0.0.1", 0})));
  std::jthread client([at = listener.local()] { static_cast<void>(Connection::connect(at, kPatience)); });
  std::optional<Result<AsioConnection>> request;  // rejected when it is destroyed, before the client is waited for
  while (listener.id().listen_counts().value().requests == 0) std::this_thread::yield();
  const auto take = [&]() -> awaitable<void> { request = co_await listener.next(use_awaitable); };
  {
    const Room room(descriptors);
    play(io, take());
  }
  EXPECT_TRUE(request) << "the coroutine was not resumed, with room for " << descriptors;
  if (!request || *request) return std::nullopt;
  // The look-up of the device does not say why it fails.
  EXPECT_TRUE(request->error().os_error == EMFILE || request->error().code == Errc::kNoDevice)
      << request->error().message();
  Error failure = request->error();
  if (listener.id().listen_counts().value().requests != 0) {
    io.restart();
    play(io, take());
    EXPECT_TRUE(*request) << "the listener continues";
  }
  return failure;
}

TEST(Descriptors, ThatAreMissingAreAnErrorOfNext) {
  std::size_t failures = 0, of_duplicates = 0;
  for (rlim_t room = 0; room < 16; ++room) {
    const auto failure = next_with_room_for(room);
    if (!failure) continue;
    ++failures;
    EXPECT_EQ(failure->operation, "next");
    if (failure->reason == "cannot be duplicated or waited for") ++of_duplicates;
  }
  EXPECT_GT(of_duplicates, 1U) << "before and after the request was taken";
  EXPECT_LT(failures, 16U);
}

TEST(Descriptors, ThatAreMissingAreNoMissingRoute) {
  const Listener listener = must(Listener::listen({"127.0.0.1", 0}));
  const Endpoint to = listener.local();
  const Connection earlier = must(Connection::prepare(to));  // see Room: the device is open, and logs nothing later
  std::vector<Error> errors;
  for (rlim_t room = 0; room < 16; ++room) {
    const Room here(room);
    const auto made = Connection::prepare(to);
    if (!made) errors.push_back(made.error());
  }
  EXPECT_FALSE(errors.empty());
  for (const Error& error : errors) EXPECT_NE(error.code, Errc::kUnreachable);
}

TEST(Descriptors, ThatAreMissingEndWhatWaits) {
  AsioEnds both, earlier;
  play(earlier.io, [&]() -> awaitable<void> { must(co_await earlier.client.close(use_awaitable)); }());  // see Room
  const Memory message(both.client, 32 << 20);
  must(both.client.send(message.region, Post{1}));  // close() has to wait for it
  const Room none(0);
  play(both.io, [&]() -> awaitable<void> {
    const auto closed = co_await both.client.close(use_awaitable);
    EXPECT_EQ(closed ? 0 : closed.error().os_error, EMFILE);
    const auto later = both.client.send({}, kPatience);
    EXPECT_EQ(later ? 0 : later.error().os_error, EMFILE);
  }());
}

}  // namespace
}  // namespace weft::test
