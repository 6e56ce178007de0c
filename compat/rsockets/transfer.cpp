// SPDX-License-Identifier: Apache-2.0
// rrecv, rsend and their relatives.
#include <poll.h>
#include <sys/uio.h>

#include <limits>
#include <span>

#include "compat/rsockets/call.hpp"
#include "compat/rsockets/calls.hpp"

namespace weft::compat::rsockets {

namespace {

using Pieces = std::span<const iovec>;
constexpr std::size_t kMaxPieces = 1024;  // IOV_MAX of Linux

// What is left of the program's pieces.
class Cursor {
 public:
  explicit Cursor(Pieces pieces) : pieces_(pieces) { skip_empty(); }
  [[nodiscard]] bool at_end() const { return pieces_.empty(); }
  [[nodiscard]] std::span<std::byte> here() const {
    const iovec& piece = pieces_.front();
    return {static_cast<std::byte*>(piece.iov_base) + offset_, piece.iov_len - offset_};
  }
  void advance(std::size_t octets) {
    offset_ += octets;
    done_ += octets;
    skip_empty();
  }
  [[nodiscard]] std::size_t done() const { return done_; }

 private:
  void skip_empty() {
    while (!pieces_.empty() && offset_ == pieces_.front().iov_len) {
      pieces_ = pieces_.subspan(1);
      offset_ = 0;
    }
  }
  Pieces pieces_;
  std::size_t offset_ = 0;
  std::size_t done_ = 0;
};

// Returns 0 or an errno.
int check(const iovec* pieces, std::size_t count, int flags) {
  if (count > kMaxPieces) return EMSGSIZE;
  if (pieces == nullptr && count != 0) return EFAULT;
  if ((flags & (MSG_OOB | MSG_ERRQUEUE)) != 0) return EOPNOTSUPP;
  std::size_t total = 0;
  for (const iovec& piece : Pieces(pieces, count)) {
    if (piece.iov_base == nullptr && piece.iov_len != 0) return EFAULT;
    if (piece.iov_len > std::numeric_limits<ssize_t>::max() - total) return EINVAL;
    total += piece.iov_len;
  }
  return 0;
}

// Before it is connected: what a call says; 0 while it may wait for that.
int not_connected(const Socket& self) { return self.phase == Phase::kConnecting ? 0 : ENOTCONN; }

// What was done already is told first; then the reason why it was not more.
ssize_t answer(const Cursor& cursor, int error) {
  if (cursor.done() != 0 || error == 0) return static_cast<ssize_t>(cursor.done());
  return minus_one(error);
}

ssize_t would_block(Socket& self, std::unique_lock<std::mutex>& lock, const Cursor& cursor) {
  self.let_others_run(lock);
  return answer(cursor, EAGAIN);
}

// Nothing, while it may go on; else an errno, or 0 at the end of the stream.
std::optional<int> inbound_end(Socket& self, const Cursor& cursor) {
  if (self.closing) return EBADF;
  if (cursor.done() == 0) {
    if (const int error = self.take_error(); error != 0) return error;
  }
  if (self.phase != Phase::kConnected) {
    const int error = not_connected(self);
    return error != 0 ? std::optional(error) : std::nullopt;
  }
  if (self.stream->inbound_over() || self.read_shut) return 0;
  return std::nullopt;
}

std::optional<int> outbound_end(Socket& self, const Cursor& cursor) {
  if (self.closing) return EBADF;
  if (cursor.done() == 0) {
    if (const int error = self.take_error(); error != 0) return error;
  }
  if (self.phase != Phase::kConnected) {
    const int error = not_connected(self);
    return error != 0 ? std::optional(error) : std::nullopt;
  }
  if (self.stream->outbound_over()) return EPIPE;
  return std::nullopt;
}

void peek(const Stream& stream, Cursor& cursor) {
  while (!cursor.at_end()) {
    const std::size_t count = stream.peek(cursor.here(), cursor.done());
    if (count == 0) return;
    cursor.advance(count);
  }
}

void take(Stream& stream, Cursor& cursor) {
  while (!cursor.at_end()) {
    const std::size_t count = stream.take(cursor.here());
    if (count == 0) return;
    cursor.advance(count);
  }
}

void give(Stream& stream, Cursor& cursor) {
  while (!cursor.at_end()) {
    const std::size_t count = stream.send(cursor.here());
    if (count == 0) return;
    cursor.advance(count);
  }
}

ssize_t receive_octets(Socket& self, std::unique_lock<std::mutex>& lock, Pieces pieces, int flags) {
  if (const int error = check(pieces.data(), pieces.size(), flags); error != 0) return minus_one(error);
  const bool peeks = (flags & MSG_PEEK) != 0;
  const bool all = (flags & MSG_WAITALL) != 0 && !peeks;
  const bool at_once = self.nonblocking || (flags & MSG_DONTWAIT) != 0;
  const Deadline until = deadline_of(self.options.receive_time);
  Cursor cursor(pieces);
  for (;;) {
    self.progress();
    if (self.phase == Phase::kConnected) peeks ? peek(*self.stream, cursor) : take(*self.stream, cursor);
    if (cursor.at_end() || (cursor.done() != 0 && !all)) return answer(cursor, 0);
    if (const auto end = inbound_end(self, cursor)) return answer(cursor, *end);
    if (at_once) return would_block(self, lock, cursor);
    if (const int error = self.wait(lock, until); error != 0) return answer(cursor, error);
  }
}

ssize_t send_octets(Socket& self, std::unique_lock<std::mutex>& lock, Pieces pieces, int flags) {
  if (const int error = check(pieces.data(), pieces.size(), flags); error != 0) return minus_one(error);
  const bool at_once = self.nonblocking || (flags & MSG_DONTWAIT) != 0;
  const Deadline until = deadline_of(self.options.send_time);
  Cursor cursor(pieces);
  for (;;) {
    self.progress();
    if (const auto end = outbound_end(self, cursor)) return answer(cursor, *end);
    if (self.phase == Phase::kConnected) give(*self.stream, cursor);
    if (cursor.at_end()) return answer(cursor, 0);
    if (self.stream->outbound_over()) continue;  // it was lost just now
    self.found_no_room();
    if (at_once) return would_block(self, lock, cursor);
    if (const int error = self.wait(lock, until); error != 0) return answer(cursor, error);
  }
}

// The peer of a stream is always the same, so it is looked up after the octets.
ssize_t receive_stream(Socket& self, std::unique_lock<std::mutex>& lock, msghdr& message, int flags) {
  const ssize_t count = receive_octets(self, lock, {message.msg_iov, message.msg_iovlen}, flags);
  if (count <= 0 || message.msg_name == nullptr) return count;
  if (!lock) lock.lock();
  if (self.phase == Phase::kConnected)
    give_address(self.id->remote_address(), self.domain, static_cast<sockaddr*>(message.msg_name),
                 &message.msg_namelen);
  return count;
}

// The kernel's calls on a datagram rsocket.
ssize_t receive_datagram(int number, msghdr& message, int flags) {
  return wait_for([&] { return ::recvmsg(number, &message, flags); });
}
ssize_t send_datagram(int number, const msghdr& message, int flags) {
  return wait_for([&] { return ::sendmsg(number, &message, flags); });
}

msghdr message_of(const iovec* pieces, std::size_t count) {
  msghdr message{};
  message.msg_iov = const_cast<iovec*>(pieces);  // are only read
  message.msg_iovlen = count;
  return message;
}

}  // namespace

ssize_t receive(int number, const iovec* pieces, std::size_t count, int flags) {
  msghdr message = message_of(pieces, count);
  return waiting_on_socket(
      number, [&](Socket& self, auto& lock) { return receive_octets(self, lock, {pieces, count}, flags); },
      [&] { return receive_datagram(number, message, flags); });
}

ssize_t receive_from(int number, const iovec& piece, int flags, sockaddr* from, socklen_t* length) {
  if (from != nullptr && length == nullptr) return minus_one(EFAULT);
  msghdr message = message_of(&piece, 1);
  message.msg_name = from;
  message.msg_namelen = from != nullptr ? *length : 0;
  const ssize_t count = waiting_on_socket(
      number, [&](Socket& self, auto& lock) { return receive_stream(self, lock, message, flags); },
      [&] { return receive_datagram(number, message, flags); });
  if (count >= 0 && from != nullptr) *length = message.msg_namelen;
  return count;
}

ssize_t send(int number, const iovec* pieces, std::size_t count, int flags) {
  return send_to(number, pieces, count, flags, nullptr, 0);
}

// A stream is connected: the address means nothing.
ssize_t send_to(int number, const iovec* pieces, std::size_t count, int flags, const sockaddr* to, socklen_t length) {
  msghdr message = message_of(pieces, count);
  message.msg_name = const_cast<sockaddr*>(to);  // is only read
  message.msg_namelen = to != nullptr ? length : 0;
  return waiting_on_socket(
      number, [&](Socket& self, auto& lock) { return send_octets(self, lock, {pieces, count}, flags); },
      [&] { return send_datagram(number, message, flags); });
}

// A stream has no ancillary data either way.
ssize_t receive_message(int number, msghdr* message, int flags) {
  if (message == nullptr) return minus_one(EFAULT);
  return waiting_on_socket(
      number,
      [&](Socket& self, auto& lock) {
        const ssize_t count = receive_octets(self, lock, {message->msg_iov, message->msg_iovlen}, flags);
        if (count >= 0) message->msg_namelen = 0, message->msg_controllen = 0, message->msg_flags = 0;
        return count;
      },
      [&] { return receive_datagram(number, *message, flags); });
}

ssize_t send_message(int number, const msghdr* message, int flags) {
  if (message == nullptr) return minus_one(EFAULT);
  return waiting_on_socket(
      number,
      [&](Socket& self, auto& lock) -> ssize_t {
        if (message->msg_controllen != 0) return minus_one(EOPNOTSUPP);
        return send_octets(self, lock, {message->msg_iov, message->msg_iovlen}, flags);
      },
      [&] { return send_datagram(number, *message, flags); });
}

}  // namespace weft::compat::rsockets
