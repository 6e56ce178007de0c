// SPDX-License-Identifier: Apache-2.0
#include "transport/same_host/offer.hpp"

#include <sys/resource.h>
#include <sys/socket.h>
#include <unistd.h>

#include <array>
#include <cerrno>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <fstream>
#include <mutex>
#include <new>
#include <span>
#include <utility>

#include "transport/cancellation.hpp"
#include "transport/detail/last_error.hpp"
#include "transport/detail/system_calls.hpp"
#include "transport/own_descriptors.hpp"
#include "transport/same_host/memory.hpp"
#include "transport/same_host/message.hpp"

namespace weft::transport::same_host {
namespace {

constexpr std::size_t kDescriptorsTold = 4;  // more than one is refused, and the kernel drops what is beyond

std::unexpected<std::error_code> refused(std::errc why) { return std::unexpected(std::make_error_code(why)); }

std::expected<Socket, std::error_code> open_local() {
  auto socket = Socket::own(::socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0));
  if (!socket.is_open()) return std::unexpected(last_error());
  return socket;
}

// The last quarter of what the process may have is for TCP and for the program.
bool is_scarce(rlim_t used, rlim_t limit) { return used >= limit - limit / 4; }

rlim_t mapped_octets() {
  std::ifstream memory("/proc/self/statm");
  rlim_t pages = 0;
  memory >> pages;
  return pages * static_cast<rlim_t>(::sysconf(_SC_PAGESIZE));
}

// Each connection with rings has a second descriptor, and maps them.
std::error_code check_plenty(const Socket& socket) {
  rlimit files{}, space{};
  if (::getrlimit(RLIMIT_NOFILE, &files) != 0 || ::getrlimit(RLIMIT_AS, &space) != 0) return last_error();
  if (is_scarce(static_cast<rlim_t>(socket.descriptor()), files.rlim_cur))
    return std::make_error_code(std::errc::too_many_files_open);
  if (space.rlim_cur == RLIM_INFINITY) return {};
  const rlim_t then = mapped_octets() + 2 * Session::kRingOctets;
  return is_scarce(then, space.rlim_cur) ? std::make_error_code(std::errc::not_enough_memory) : std::error_code{};
}

// Once it is known to stay.
void keep(Socket& socket) { socket = Socket::own(move_up(socket.release())); }

// Nobody has that name, or the process that had it is gone.
std::error_code no_listener() { return std::make_error_code(std::errc::connection_refused); }

std::error_code connect_to(const Socket& socket, const Endpoint& at, Families families = Families::kItsOwn) {
  const auto name = SocketName::of(at, families);
  if (!name) return name.error();
  if (::connect(socket.descriptor(), name->address(), SocketName::kLength) == 0) return {};
  return errno == ENOENT ? no_listener() : last_error();
}

// In the order in which TCP looks for a listener. A refused socket may be tried again.
std::error_code connect_to_listener(const Socket& socket, const Endpoint& at) {
  if (const auto error = check_directory())
    return error == std::errc::no_such_file_or_directory ? no_listener() : error;
  const Endpoint any{Address::any(at.address.family), at.port};
  auto error = connect_to(socket, at);
  if (error == std::errc::connection_refused) error = connect_to(socket, any);
  if (error == std::errc::connection_refused) error = connect_to(socket, any, Families::kBoth);
  return error;
}

// A name whose process is gone is taken over.
std::error_code bind(const Socket& socket, const SocketName& name) {
  const auto bound = [&] { return ::bind(socket.descriptor(), name.address(), SocketName::kLength) == 0; };
  if (bound()) return {};
  if (errno != EADDRINUSE) return last_error();
  const auto other = open_local();
  if (!other) return other.error();
  if (::connect(other->descriptor(), name.address(), SocketName::kLength) == 0 || errno != ECONNREFUSED)
    return std::make_error_code(std::errc::address_in_use);
  ::unlink(name.path());
  return bound() ? std::error_code{} : last_error();
}

// In a user namespace that maps only some users, all others appear as this one (the default of kernel.overflowuid).
constexpr uid_t kUnmappedUser = 65534;

bool maps_every_user() {
  std::ifstream map("/proc/self/uid_map");
  std::uint64_t first = 1, outside = 0, count = 0;
  return map >> first >> outside >> count && first == 0 && count == UINT32_MAX;
}

bool is_this_user(uid_t user) { return user == ::geteuid() && (user != kUnmappedUser || maps_every_user()); }

std::optional<ucred> peer_of(const Socket& socket) noexcept {
  ucred peer{};
  socklen_t length = sizeof peer;
  if (::getsockopt(socket.descriptor(), SOL_SOCKET, SO_PEERCRED, &peer, &length) != 0) return std::nullopt;
  return peer;
}

// The superuser may connect to everybody, and have anybody's name. The kernel tells the user as of listen() or
// connect().
std::error_code check_user(const Socket& socket) {
  const auto peer = peer_of(socket);
  if (!peer) return last_error();
  return is_this_user(peer->uid) ? std::error_code{} : std::make_error_code(std::errc::permission_denied);
}

// A message and the descriptors that it carries.
class Envelope {
 public:
  explicit Envelope(std::span<std::byte> octets) : place_{.iov_base = octets.data(), .iov_len = octets.size()} {
    header_.msg_iov = &place_;
    header_.msg_iovlen = 1;
    header_.msg_control = control_.data();
    header_.msg_controllen = control_.size();
  }

  void enclose(int file) {
    header_.msg_controllen = CMSG_SPACE(sizeof file);
    cmsghdr* const part = CMSG_FIRSTHDR(&header_);
    part->cmsg_level = SOL_SOCKET;
    part->cmsg_type = SCM_RIGHTS;
    part->cmsg_len = CMSG_LEN(sizeof file);
    std::memcpy(CMSG_DATA(part), &file, sizeof file);
  }

  [[nodiscard]] msghdr& header() { return header_; }
  [[nodiscard]] bool is_cut() const { return (header_.msg_flags & MSG_CTRUNC) != 0; }

  // Calls `use` with each descriptor.
  void for_each_file(const auto& use) {
    for (cmsghdr* part = CMSG_FIRSTHDR(&header_); part != nullptr; part = CMSG_NXTHDR(&header_, part)) {
      if (part->cmsg_level != SOL_SOCKET || part->cmsg_type != SCM_RIGHTS) continue;
      for (std::size_t at = 0; at + sizeof(int) <= part->cmsg_len - CMSG_LEN(0); at += sizeof(int)) {
        int file = -1;
        std::memcpy(&file, CMSG_DATA(part) + at, sizeof file);
        use(file);
      }
    }
  }

 private:
  alignas(cmsghdr) std::array<std::byte, CMSG_SPACE(kDescriptorsTold * sizeof(int))> control_{};
  iovec place_;
  msghdr header_{};
};

// The descriptors of a message that arrived. They stay low: they are closed before the offer is returned.
class Files {
 public:
  explicit Files(Envelope& envelope) {
    envelope.for_each_file([this](int file) { (count_++ == 0) ? void(first_ = file) : void(::close(file)); });
  }
  ~Files() {
    if (first_ >= 0) ::close(first_);
  }
  Files(const Files&) = delete;
  Files& operator=(const Files&) = delete;

  [[nodiscard]] std::size_t count() const { return count_; }
  [[nodiscard]] int first() const { return first_; }

 private:
  int first_ = -1;
  std::size_t count_ = 0;
};

// A fresh socket takes a message of this size at once.
std::error_code send_message(const Socket& doorbell, const Message& message, int file) {
  auto octets = serialize(message);
  Envelope envelope(octets);
  envelope.enclose(file);
  const ssize_t sent = send(doorbell.descriptor(), envelope.header(), MSG_DONTWAIT | MSG_NOSIGNAL);
  if (sent < 0) return last_error();
  return sent == kMessageOctets ? std::error_code{} : std::make_error_code(std::errc::io_error);
}

// Without memory, nothing was moved.
std::expected<std::unique_ptr<Session>, std::error_code> make_session(Memory memory, Socket& doorbell,
                                                                      Memory::From writes) {
  std::unique_ptr<Session> session(new (std::nothrow) Session(std::move(memory), std::move(doorbell), writes));
  if (!session) return refused(std::errc::not_enough_memory);
  return session;
}

std::expected<std::unique_ptr<Session>, std::error_code> make_offer(const Endpoint& local, const Endpoint& remote) {
  auto doorbell = open_local();
  if (!doorbell) return std::unexpected(doorbell.error());
  if (const auto error = connect_to_listener(*doorbell, remote)) return std::unexpected(error);
  if (const auto error = check_user(*doorbell)) return std::unexpected(error);
  keep(*doorbell);
  if (const auto error = check_plenty(*doorbell)) return std::unexpected(error);
  auto made = Memory::create(Session::kRingOctets);
  if (!made) return std::unexpected(made.error());
  auto& [memory, file] = *made;
  const auto error = send_message(*doorbell, {.from = local, .to = remote, .ring_octets = Session::kRingOctets}, file);
  ::close(file);
  if (error) return std::unexpected(error);
  return make_session(std::move(memory), *doorbell, Memory::From::kInitiator);
}

std::expected<std::optional<Offer>, std::error_code> accept_offer(Socket& accepted, Bytes octets, const Files& files) {
  const auto message = parse_message(octets);
  if (!message) return std::unexpected(message.error());
  if (files.count() != 1) return refused(std::errc::protocol_error);
  if (const auto error = check_plenty(accepted)) return std::unexpected(error);
  auto memory = Memory::map(files.first(), message->ring_octets);
  if (!memory) return std::unexpected(memory.error());
  auto session = make_session(std::move(*memory), accepted, Memory::From::kAcceptor);
  if (!session) return std::unexpected(session.error());
  return Offer{message->from, message->to, std::move(*session)};
}

}  // namespace

std::expected<std::unique_ptr<Session>, std::error_code> Session::offer(const Endpoint& local, const Endpoint& remote) {
  const NoCancellation here;
  try {
    return make_offer(local, remote);
  } catch (const std::bad_alloc&) {  // for a name
    return refused(std::errc::not_enough_memory);
  }
}

std::expected<OfferListener, std::error_code> listen_for_offers(const Endpoint& at, int backlog, Families families) {
  static std::once_flag cleaned;
  const NoCancellation here;
  try {
    if (const auto error = make_directory()) return std::unexpected(error);
    std::call_once(cleaned, remove_stale_names);
    const auto name = SocketName::of(at, families);
    if (!name) return std::unexpected(name.error());
    auto socket = open_local();
    if (!socket) return std::unexpected(socket.error());
    if (const auto error = bind(*socket, *name)) return std::unexpected(error);
    BoundName bound(*name);
    if (::listen(socket->descriptor(), backlog) != 0) return std::unexpected(last_error());
    keep(*socket);
    return OfferListener{std::move(*socket), std::move(bound)};
  } catch (const std::bad_alloc&) {
    return refused(std::errc::not_enough_memory);
  }
}

pid_t process_of(const Socket& accepted) noexcept {
  const auto peer = peer_of(accepted);
  return peer ? peer->pid : 0;
}

std::expected<std::optional<Offer>, std::error_code> receive_offer(Socket& accepted) {
  const NoCancellation here;
  if (const auto error = check_user(accepted)) return std::unexpected(error);
  std::array<std::byte, kMessageOctets> octets{};
  Envelope envelope(octets);
  ssize_t got = 0;
  do {
    got = receive(accepted.descriptor(), envelope.header(), MSG_DONTWAIT | MSG_CMSG_CLOEXEC);
  } while (got < 0 && errno == EINTR);
  if (got < 0 && errno == EAGAIN) return std::nullopt;
  if (got < 0) return std::unexpected(last_error());
  const Files files(envelope);
  if (got == 0) return refused(std::errc::connection_aborted);
  if (envelope.is_cut()) {
    return refused(files.count() < kDescriptorsTold ? std::errc::too_many_files_open : std::errc::protocol_error);
  }
  return accept_offer(accepted, Bytes(octets).first(static_cast<std::size_t>(got)), files);
}

}  // namespace weft::transport::same_host
