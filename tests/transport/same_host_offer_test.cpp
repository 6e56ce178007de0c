// SPDX-License-Identifier: Apache-2.0
#include "transport/same_host/offer.hpp"

#include <fcntl.h>
#include <sched.h>
#include <sys/mman.h>
#include <sys/resource.h>
#include <sys/wait.h>

#include <csignal>
#include <cstring>
#include <filesystem>
#include <fstream>
#include <functional>
#include <iterator>

#include "tests/transport/same_host_pair.hpp"
#include "transport/own_descriptors.hpp"
#include "transport/same_host/message.hpp"

namespace weft::transport::same_host::test {
namespace {

using Files = std::vector<int>;

constexpr Endpoint kInitiator{Address{.octets = {std::byte{127}, {}, {}, std::byte{1}}}, 40123};

std::ptrdiff_t open_descriptors() {
  const std::filesystem::directory_iterator all("/proc/self/fd");
  return std::distance(begin(all), end(all));
}

// A listener for offers beside a TCP port that is really taken, so no other test has the name.
class SameHostOffer : public testing::Test {
 protected:
  ~SameHostOffer() override {
    for (const int file : files_) ::close(file);
    ::close(port_.descriptor);
  }

  // The next connection in the queue, which must be there.
  [[nodiscard]] Socket accept() const {
    const int got = ::accept4(listening_.socket.descriptor(), nullptr, nullptr, SOCK_CLOEXEC | SOCK_NONBLOCK);
    EXPECT_GE(got, 0);
    return Socket::own(got);
  }

  // accept() has the other end.
  [[nodiscard]] Socket connect() const { return connect_for_offers(port_.at); }

  // A file as the message says, but for what the arguments change.
  int file(std::size_t octets = 4096 + 2 * Memory::kLeastRing, int seals = F_SEAL_SHRINK | F_SEAL_GROW | F_SEAL_SEAL) {
    files_.push_back(::memfd_create("test", MFD_ALLOW_SEALING | MFD_CLOEXEC));
    EXPECT_EQ(::ftruncate(files_.back(), static_cast<off_t>(octets)), 0);
    EXPECT_EQ(::fcntl(files_.back(), F_ADD_SEALS, seals), 0);
    return files_.back();
  }

  static void send(const Socket& to, Bytes octets, const Files& files) {
    alignas(cmsghdr) std::array<std::byte, CMSG_SPACE(8 * sizeof(int))> control{};
    iovec place{.iov_base = const_cast<std::byte*>(octets.data()), .iov_len = octets.size()};
    msghdr message{};
    message.msg_iov = &place;
    message.msg_iovlen = 1;
    if (!files.empty()) {
      message.msg_control = control.data();
      message.msg_controllen = CMSG_SPACE(files.size() * sizeof(int));
      cmsghdr* const part = CMSG_FIRSTHDR(&message);
      part->cmsg_level = SOL_SOCKET;
      part->cmsg_type = SCM_RIGHTS;
      part->cmsg_len = CMSG_LEN(files.size() * sizeof(int));
      std::memcpy(CMSG_DATA(part), files.data(), files.size() * sizeof(int));
    }
    EXPECT_EQ(::sendmsg(to.descriptor(), &message, MSG_NOSIGNAL), static_cast<ssize_t>(octets.size()));
  }

  // What receive_offer() says to these octets and descriptors. It keeps no descriptor, whatever it says.
  std::error_code answer(Bytes octets, const Files& files) const {
    const Socket initiator = connect();
    Socket accepted = accept();
    const auto before = open_descriptors();
    send(initiator, octets, files);
    const auto offer = receive_offer(accepted);
    EXPECT_TRUE(!offer || *offer) << "the message is there";
    EXPECT_EQ(offer.has_value(), !accepted.is_open()) << "a refused socket remains the caller's";
    EXPECT_EQ(open_descriptors(), before);
    return offer ? std::error_code{} : offer.error();
  }

  [[nodiscard]] Message message() const {
    return {.from = kInitiator, .to = port_.at, .ring_octets = Memory::kLeastRing};
  }

  const Bound port_ = bind_loopback();
  const OfferListener listening_ = std::move(listen_for_offers(port_.at, 8)).value();
  Files files_;
};

TEST_F(SameHostOffer, BringsTwoSessionsOverTheSameRings) {
  auto session = Session::offer(kInitiator, port_.at);
  ASSERT_TRUE(session) << session.error().message();
  Socket accepted = accept();
  auto offer = receive_offer(accepted);
  ASSERT_TRUE(offer && *offer);
  EXPECT_EQ((**offer).from, kInitiator);
  EXPECT_EQ((**offer).to, port_.at);
  std::vector<std::byte> at_initiator, at_acceptor;
  EXPECT_EQ(put(**session, pattern(100'000)).octets, 100'000U);
  EXPECT_EQ(put(*(**offer).session, pattern(10)).octets, 10U);
  get(**session, at_initiator, 200'000);
  get(*(**offer).session, at_acceptor, 200'000);
  EXPECT_TRUE(at_acceptor == pattern(100'000));
  EXPECT_EQ(at_initiator, pattern(10));
  (**offer).session.reset();
  EXPECT_NE(events(**session) & POLLRDHUP, 0);
}

TEST_F(SameHostOffer, KeepsOneHighDescriptor) {
  const auto before = open_descriptors();
  const auto session = Session::offer(kInitiator, port_.at);
  ASSERT_TRUE(session);
  EXPECT_GE((**session).doorbell().descriptor(), kFirstOwnDescriptor);
  EXPECT_GE(listening_.socket.descriptor(), kFirstOwnDescriptor);
  EXPECT_NE(::fcntl((**session).doorbell().descriptor(), F_GETFD) & FD_CLOEXEC, 0);
  EXPECT_NE(::fcntl(listening_.socket.descriptor(), F_GETFD) & FD_CLOEXEC, 0);
  EXPECT_EQ(open_descriptors(), before + 1);
}

TEST_F(SameHostOffer, WaitsForTheMessage) {
  const Socket initiator = connect();
  Socket accepted = accept();
  auto offer = receive_offer(accepted);
  EXPECT_TRUE(offer && !*offer);
  send(initiator, serialize(message()), {file()});
  offer = receive_offer(accepted);
  EXPECT_TRUE(offer && *offer && (**offer).session);
}

TEST_F(SameHostOffer, TellsThatTheInitiatorHasGone) {
  static_cast<void>(connect());
  Socket accepted = accept();
  EXPECT_EQ(receive_offer(accepted).error(), std::errc::connection_aborted);
}

TEST_F(SameHostOffer, RefusesOctetsThatAreNoOffer) {
  auto octets = serialize(message());
  EXPECT_FALSE(answer(octets, {file()})) << "all others differ from this in one thing";
  EXPECT_EQ(answer(Bytes(octets).first(octets.size() - 1), {file()}), std::errc::protocol_error);
  octets[0] ^= std::byte{1};
  EXPECT_EQ(answer(octets, {file()}), std::errc::protocol_error);
  octets[0] ^= std::byte{1};
  octets[11] = std::byte{2};
  EXPECT_EQ(answer(octets, {file()}), std::errc::protocol_not_supported);
}

TEST_F(SameHostOffer, RefusesMoreOrFewerDescriptors) {
  const auto octets = serialize(message());
  EXPECT_EQ(answer(octets, {}), std::errc::protocol_error);
  for (const std::size_t more : {2U, 3U, 4U, 5U, 8U}) {
    Files files;
    for (std::size_t i = 0; i < more; ++i) files.push_back(file());
    EXPECT_EQ(answer(octets, files), std::errc::protocol_error) << more;
  }
}

TEST_F(SameHostOffer, RefusesAFileThatIsNotSealed) {
  constexpr std::size_t kSize = 4096 + 2 * Memory::kLeastRing;
  for (const int seals : {0, F_SEAL_SHRINK | F_SEAL_GROW, F_SEAL_SHRINK | F_SEAL_SEAL, F_SEAL_GROW | F_SEAL_SEAL}) {
    EXPECT_EQ(answer(serialize(message()), {file(kSize, seals)}), std::errc::bad_message) << seals;
  }
  std::array<int, 2> pipe{};
  ASSERT_EQ(::pipe2(pipe.data(), O_CLOEXEC), 0);
  files_.insert(files_.end(), pipe.begin(), pipe.end());
  EXPECT_EQ(answer(serialize(message()), {pipe[0]}), std::errc::bad_message) << "no file at all";
}

TEST_F(SameHostOffer, RefusesAFileOfAnotherSize) {
  constexpr std::size_t kSize = 4096 + 2 * Memory::kLeastRing;
  for (const std::size_t size : {kSize - 1, kSize + 1, 2 * kSize, std::size_t{4096}, std::size_t{0}}) {
    EXPECT_EQ(answer(serialize(message()), {file(size)}), std::errc::bad_message) << size;
  }
}

TEST_F(SameHostOffer, RefusesASizeThatIsNoRings) {
  for (const std::size_t size : {0UL, 1UL, 2048UL, 4097UL, 12288UL, 32UL << 20U, 1UL << 31U}) {
    auto other = message();
    other.ring_octets = static_cast<std::uint32_t>(size);
    EXPECT_EQ(answer(serialize(other), {file(4096 + 2 * size)}), std::errc::bad_message) << size;
  }
}

TEST_F(SameHostOffer, RefusesAFileThatCannotBeWritten) {
  const std::string path = "/proc/self/fd/" + std::to_string(file());
  files_.push_back(::open(path.c_str(), O_RDONLY | O_CLOEXEC));
  EXPECT_EQ(answer(serialize(message()), {files_.back()}), std::errc::permission_denied);
  EXPECT_EQ(answer(serialize(message()),
                   {file(4096 + 2 * Memory::kLeastRing, F_SEAL_SHRINK | F_SEAL_GROW | F_SEAL_SEAL | F_SEAL_WRITE)}),
            std::errc::operation_not_permitted);
}

TEST_F(SameHostOffer, IsRefusedWhereNobodyListens) {
  const auto before = open_descriptors();
  const Bound elsewhere = bind_loopback();
  EXPECT_EQ(Session::offer(kInitiator, elsewhere.at).error(), std::errc::connection_refused);
  ::close(elsewhere.descriptor);
  EXPECT_EQ(open_descriptors(), before);
}

TEST_F(SameHostOffer, GoesToTheAddressThenToTheWildcards) {
  Endpoint other = port_.at;
  other.address.octets[3] = std::byte{2};
  const Endpoint any6{Address::any(Family::kIpv6), port_.at.port};
  const auto ipv6_only = listen_for_offers(any6, 8).value();
  EXPECT_EQ(Session::offer(kInitiator, other).error(), std::errc::connection_refused);
  const auto goes_to = [&](const Endpoint& to, const OfferListener& listening) {
    EXPECT_TRUE(Session::offer(kInitiator, to));
    return Socket::own(::accept4(listening.socket.descriptor(), nullptr, nullptr, SOCK_CLOEXEC)).is_open();
  };
  const auto both = listen_for_offers(any6, 8, Families::kBoth).value();
  EXPECT_TRUE(goes_to(other, both));
  const auto ipv4 = listen_for_offers({Address::any(Family::kIpv4), port_.at.port}, 8).value();
  EXPECT_TRUE(goes_to(other, ipv4));
  EXPECT_TRUE(goes_to(port_.at, listening_));
  EXPECT_TRUE(goes_to({Address::loopback(Family::kIpv6), port_.at.port}, ipv6_only));
}

TEST_F(SameHostOffer, ANameHasOneListener) {
  EXPECT_EQ(listen_for_offers(port_.at, 8).error(), std::errc::address_in_use);
}

TEST_F(SameHostOffer, NeverWaitsForAFullQueue) {
  const Bound other = bind_loopback();
  const auto full = listen_for_offers(other.at, 0).value();
  std::vector<std::unique_ptr<Session>> waiting;
  auto next = Session::offer(kInitiator, other.at);
  for (; next && waiting.size() < 100; next = Session::offer(kInitiator, other.at)) waiting.push_back(std::move(*next));
  EXPECT_EQ(next.error(), std::errc::resource_unavailable_try_again);
  ::close(other.descriptor);
}

TEST_F(SameHostOffer, WantOfDescriptorsIsAnError) {
  const Endpoint at = port_.at;  // the sanitizer needs descriptors to look at members
  const NoDescriptorsLeft here;
  EXPECT_EQ(Session::offer(kInitiator, at).error(), std::errc::too_many_files_open);
  EXPECT_EQ(listen_for_offers(kInitiator, 8).error(), std::errc::too_many_files_open);
}

TEST_F(SameHostOffer, WantOfADescriptorForTheFileIsAnError) {
  const Socket initiator = connect();
  Socket accepted = accept();
  send(initiator, serialize(message()), {file()});
  const NoDescriptorsLeft here;
  EXPECT_EQ(receive_offer(accepted).error(), std::errc::too_many_files_open);
}

// Without weft's care the signal of that limit would end the process.
TEST_F(SameHostOffer, ALimitOfFilesIsAnError) {
  const auto descriptors = open_descriptors();
  rlimit before{};
  ASSERT_EQ(::getrlimit(RLIMIT_FSIZE, &before), 0);
  const rlimit little{.rlim_cur = 4096, .rlim_max = before.rlim_max};
  ASSERT_EQ(::setrlimit(RLIMIT_FSIZE, &little), 0);
  const auto session = Session::offer(kInitiator, port_.at);
  ASSERT_EQ(::setrlimit(RLIMIT_FSIZE, &before), 0);
  EXPECT_EQ(session.error(), std::errc::file_too_large);
  EXPECT_EQ(open_descriptors(), descriptors);
}

// In a user namespace without a map, this user and the listener's have the same number: that of all who are not mapped.
TEST_F(SameHostOffer, AUserWhoIsNotMappedIsRefused) {
  int status = -1;
  const pid_t child = ::fork();
  if (child == 0) {
    if (::unshare(CLONE_NEWUSER) != 0) ::_exit(2);
    ::_exit(Session::offer(kInitiator, port_.at).error() == std::errc::permission_denied ? 0 : 1);
  }
  ::waitpid(child, &status, 0);
  if (WEXITSTATUS(status) == 2) GTEST_SKIP() << "this system permits no user namespaces";
  EXPECT_EQ(status, 0);
}

// The limits make the next descriptor the first of the last quarter, or the one before.
TEST_F(SameHostOffer, TheLastQuarterOfTheDescriptorsIsNotForRings) {
  const auto next = [] {
    const int number = ::fcntl(0, F_DUPFD_CLOEXEC, kFirstOwnDescriptor);
    ::close(number);
    return number;
  };
  const auto offered = [&](int least_number) {
    const transport::test::DescriptorLimit limit(4 * least_number / 3);
    return Session::offer(kInitiator, port_.at);
  };
  const int first = next();
  EXPECT_EQ(offered(first - 3).error(), std::errc::too_many_files_open);
  EXPECT_TRUE(offered(first + 3));
  static_cast<void>(accept());  // of the two offers
  static_cast<void>(accept());
  const Socket initiator = connect();
  Socket accepted = Socket::own(move_up(accept().release()));
  send(initiator, serialize(message()), {file()});
  const transport::test::DescriptorLimit limit(accepted.descriptor() + 1);
  EXPECT_EQ(receive_offer(accepted).error(), std::errc::too_many_files_open);
}

// As for descriptors.
TEST_F(SameHostOffer, TheLastQuarterOfTheAddressSpaceIsNotForRings) {
  rlim_t pages = 0;
  std::ifstream("/proc/self/statm") >> pages;
  const rlim_t used = pages * static_cast<rlim_t>(::sysconf(_SC_PAGESIZE));
  rlimit before{};
  ASSERT_EQ(::getrlimit(RLIMIT_AS, &before), 0);
  for (const bool scarce : {true, false}) {
    const rlimit limit{.rlim_cur = used / 3 * 4 + (scarce ? 0 : 64U << 20U), .rlim_max = before.rlim_max};
    ASSERT_EQ(::setrlimit(RLIMIT_AS, &limit), 0);
    const auto session = Session::offer(kInitiator, port_.at);
    ASSERT_EQ(::setrlimit(RLIMIT_AS, &before), 0);
    EXPECT_EQ(session.has_value(), !scarce);
    if (scarce) {
      EXPECT_EQ(session.error(), std::errc::not_enough_memory);
    }
  }
}

}  // namespace
}  // namespace weft::transport::same_host::test
