// SPDX-License-Identifier: Apache-2.0
// The names of the sockets that take offers: nobody else can reach them, and none is left for long.
#include "transport/same_host/name.hpp"

#include <fcntl.h>
#include <sys/stat.h>
#include <sys/wait.h>

#include <functional>

#include "tests/transport/same_host_pair.hpp"

namespace weft::transport::same_host::test {
namespace {

// A listener for offers beside a TCP port that is really taken, so no other test has the name.
class SameHostName : public testing::Test {
 protected:
  ~SameHostName() override { ::close(port_.descriptor); }

  const Bound port_ = bind_loopback();
  OfferListener listening_ = std::move(listen_for_offers(port_.at, 8)).value();
};

// Returns whether `body` passed in a process of another user.
bool passes_for_another_user(const std::function<bool()>& body, uid_t user = 65'534) {
  const pid_t child = ::fork();
  if (child == 0) ::_exit(::setuid(user) == 0 && body() ? 0 : 1);
  int status = -1;
  ::waitpid(child, &status, 0);
  return status == 0;
}

bool exists(const SocketName& name) { return ::access(name.path(), F_OK) == 0; }

// Its process was killed, or did not close it.
TEST_F(SameHostName, ANameThatIsLeftIsTakenOver) {
  const Bound other = bind_loopback();
  const SocketName name = SocketName::of(other.at).value();
  const pid_t child = ::fork();
  if (child == 0) ::_exit(listen_for_offers(other.at, 8) ? 0 : 1);
  ::waitpid(child, nullptr, 0);
  {
    const auto listening = listen_for_offers(other.at, 8).value();
    EXPECT_TRUE(exists(name));
  }
  EXPECT_FALSE(exists(name)) << "it ends with its socket";
  ::close(other.descriptor);
}

// In a child of fork() the parent's names are nothing to remove.
TEST_F(SameHostName, ANameIsRemovedByItsProcessAlone) {
  const SocketName name = SocketName::of(port_.at).value();
  const pid_t child = ::fork();
  if (child == 0) {
    {
      const BoundName inherited = std::move(listening_.name);
    }
    ::_exit(0);
  }
  ::waitpid(child, nullptr, 0);
  EXPECT_TRUE(exists(name));
}

// Names that were left are removed when they are a minute old, and those of sockets that are bound are not.
TEST_F(SameHostName, OldNamesThatAreLeftAreRemoved) {
  const Bound other = bind_loopback(), third = bind_loopback();
  const SocketName left = SocketName::of(other.at).value(), fresh = SocketName::of(third.at).value();
  for (const SocketName* const name : {&left, &fresh}) {
    const auto gone = Socket::own(::socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0));
    ASSERT_EQ(::bind(gone.descriptor(), name->address(), SocketName::kLength), 0);
  }
  const std::array<timespec, 2> long_ago{timespec{.tv_sec = 1, .tv_nsec = 0}, timespec{.tv_sec = 1, .tv_nsec = 0}};
  for (const SocketName& name : {left, SocketName::of(port_.at).value()})
    ASSERT_EQ(::utimensat(AT_FDCWD, name.path(), long_ago.data(), 0), 0);
  remove_stale_names();
  EXPECT_FALSE(exists(left));
  EXPECT_TRUE(exists(fresh)) << "it may be about to be bound";
  EXPECT_TRUE(exists(SocketName::of(port_.at).value())) << "it is bound";
  ::unlink(fresh.path());
  ::close(other.descriptor), ::close(third.descriptor);
}

// Somebody has made a user's directory before it, or left it open to others.
TEST_F(SameHostName, ADirectoryOfOthersIsNotUsed) {
  if (::geteuid() != 0) GTEST_SKIP() << "only root can become another user";
  constexpr uid_t kUser = 65'533;
  const std::string directory = "/dev/shm/weft-" + std::to_string(kUser);
  ASSERT_EQ(::mkdir(directory.c_str(), 0700), 0);
  const auto refuses = [&] {
    return passes_for_another_user(
        [&] {
          return listen_for_offers(port_.at, 8).error() == std::errc::permission_denied &&
                 Session::offer(port_.at, port_.at).error() == std::errc::permission_denied;
        },
        kUser);
  };
  EXPECT_TRUE(refuses()) << "it is the superuser's";
  EXPECT_EQ(::chown(directory.c_str(), kUser, kUser), 0);
  EXPECT_EQ(::chmod(directory.c_str(), 0711), 0);
  EXPECT_TRUE(refuses()) << "others may search it";
  ::rmdir(directory.c_str());
}

// Before it is connected: nobody else can leave anything in the socket.
TEST_F(SameHostName, AnotherUserCannotConnect) {
  if (::geteuid() != 0) GTEST_SKIP() << "only root can become another user";
  const SocketName name = SocketName::of(port_.at).value();
  EXPECT_TRUE(passes_for_another_user([&] {
    const auto socket = Socket::own(::socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0));
    return ::connect(socket.descriptor(), name.address(), SocketName::kLength) != 0 && errno == EACCES &&
           Session::offer(port_.at, port_.at).error() == std::errc::connection_refused;
  }));
}

// The superuser can connect to everybody.
TEST_F(SameHostName, OfAnotherUserIsRefused) {
  if (::geteuid() != 0) GTEST_SKIP() << "only root can become another user";
  std::array<int, 2> pipe{};
  ASSERT_EQ(::pipe(pipe.data()), 0);
  const Bound other = bind_loopback();
  const pid_t child = ::fork();
  if (child == 0) {
    if (::setuid(65534) != 0) ::_exit(2);
    const auto listening = listen_for_offers(other.at, 8);
    const SocketName name = SocketName::of(other.at).value();
    static_cast<void>(::write(pipe[1], name.path(), 108));
    pollfd waiting{.fd = listening->socket.descriptor(), .events = POLLIN, .revents = 0};
    ::poll(&waiting, 1, 10'000);
    auto accepted = Socket::own(::accept4(waiting.fd, nullptr, nullptr, SOCK_CLOEXEC | SOCK_NONBLOCK));
    const bool refused = receive_offer(accepted).error() == std::errc::permission_denied;
    ::unlink(name.path());  // without destructors
    ::_exit(refused ? 0 : 1);
  }
  sockaddr_un address{.sun_family = AF_UNIX, .sun_path = {}};
  EXPECT_EQ(::read(pipe[0], address.sun_path, sizeof address.sun_path), static_cast<ssize_t>(sizeof address.sun_path));
  const auto socket = Socket::own(::socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0));
  EXPECT_EQ(::connect(socket.descriptor(), reinterpret_cast<sockaddr*>(&address), sizeof address), 0);
  int status = -1;
  ::waitpid(child, &status, 0);
  EXPECT_EQ(status, 0);
  ::close(pipe[0]), ::close(pipe[1]), ::close(other.descriptor);
}

}  // namespace
}  // namespace weft::transport::same_host::test
