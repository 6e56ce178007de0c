// SPDX-License-Identifier: Apache-2.0
// What programs do with descriptors, beyond rdma/rsocket.h.
#include <fcntl.h>
#include <unistd.h>

#include <algorithm>
#include <array>

#include "compat/rsockets/call.hpp"
#include "compat/rsockets/calls.hpp"
#include "verbs/options.hpp"

namespace weft::compat::rsockets {

bool in_program() noexcept { return !Inside::now() && !verbs::on_progress_thread(); }

bool is_programs(int number) noexcept { return is_rsocket(number) && in_program(); }

namespace {

// `copy`: a descriptor that dup(2) made of `number`, or -1.
int enter_or_close(int number, int copy) {
  const int entered = copy < 0 ? -1 : enter_copy(number, copy);
  if (entered < 0 && copy >= 0) {
    const int error = errno;
    ::close(copy);
    errno = error;
  }
  return entered;
}

}  // namespace

int duplicate(int number, int lowest) noexcept {
  return guarded_minus_one([&] {
    const Inside inside;
    if (!find(number)) return -1;
    return enter_or_close(number, ::fcntl(number, F_DUPFD_CLOEXEC, lowest));
  });
}

int duplicate_to(int number, int copy) {
  const bool ours = is_rsocket(number);
  if (number == copy || (!ours && ::fcntl(number, F_GETFD) < 0)) return ours ? number : minus_one(EBADF);
  if (is_rsocket(copy)) rsockets::close_at_once(copy);
  const Inside inside;
  if (!ours) return ::dup2(number, copy);
  return guarded_minus_one([&] { return enter_or_close(number, ::dup3(number, copy, O_CLOEXEC)); });
}

int unread(int number) noexcept {
  return on_socket(number, [](Socket& self, auto&) {
    self.progress();
    return self.phase == Phase::kConnected ? static_cast<int>(self.stream->unread()) : minus_one(ENOTCONN);
  });
}

// As much as the connection takes, where it may not wait.
ssize_t send_file(int number, int file, off_t* offset, std::size_t count) {
  std::array<std::byte, 64 * 1024> octets;
  const off_t begin = offset != nullptr ? *offset : ::lseek(file, 0, SEEK_CUR);
  if (begin < 0) return minus_one(EINVAL);
  std::size_t done = 0;
  ssize_t sent = 0;
  while (done < count) {
    const auto here = begin + static_cast<off_t>(done);
    const ssize_t read = ::pread(file, octets.data(), std::min(octets.size(), count - done), here);
    if (read <= 0) {
      sent = read;
      break;
    }
    const iovec piece{.iov_base = octets.data(), .iov_len = static_cast<std::size_t>(read)};
    sent = rsockets::send(number, &piece, 1, 0);
    if (sent < 0) break;
    done += static_cast<std::size_t>(sent);
    if (sent < read) break;
  }
  const off_t end = begin + static_cast<off_t>(done);
  if (offset != nullptr) *offset = end;
  if (offset == nullptr) ::lseek(file, end, SEEK_SET);
  return done != 0 || sent >= 0 ? static_cast<ssize_t>(done) : -1;
}

void close_range(unsigned first, unsigned last) {
  for (const int number : numbers(first, last)) rsockets::close_at_once(number);
}

}  // namespace weft::compat::rsockets
