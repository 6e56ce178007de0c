// SPDX-License-Identifier: Apache-2.0
// riomap, riounmap, riowrite.
#include <sys/mman.h>

#include <limits>

#include "compat/rsockets/call.hpp"
#include "compat/rsockets/calls.hpp"

namespace weft::compat::rsockets {

namespace {

constexpr off_t kAnyOffset = -1;
constexpr verbs::Access kLocal = verbs::Access::kLocalWrite;
constexpr verbs::Access kRemote = verbs::Access::kLocalWrite | verbs::Access::kRemoteWrite;

// An errno.
int check(const Socket& self, std::size_t length, int protection, off_t offset) {
  if (self.phase != Phase::kConnected) return ENOTCONN;
  if ((protection & ~PROT_WRITE) != 0 || length == 0) return EINVAL;
  if (length > std::numeric_limits<std::uint32_t>::max()) return EINVAL;  // an entry has 32 bits for it
  if (offset < 0 && offset != kAnyOffset) return EINVAL;
  return (protection & PROT_WRITE) != 0 && !self.stream->mappings()->entry_left() ? ENOMEM : 0;
}

}  // namespace

// The peer hears of it before the next data.
off_t iomap(int number, void* memory, std::size_t length, int protection, int, off_t offset) noexcept {
  return on_socket(number, [&](Socket& self, auto&) -> off_t {
    self.progress();
    if (const int error = check(self, length, protection, offset); error != 0) {
      return refused_minus_one("riomap", error, error == ENOMEM ? "the peer takes no more mappings" : "an argument");
    }
    const bool remote = (protection & PROT_WRITE) != 0;
    Endpoint& endpoint = self.stream->endpoint();
    auto region =
        endpoint.domain.register_memory(memory, length, remote ? kRemote : kLocal, {.only_for = &endpoint.pair});
    if (!region) return refused_minus_one("riomap", region.error());
    const off_t at = offset == kAnyOffset ? static_cast<off_t>(reinterpret_cast<std::uintptr_t>(memory)) : offset;
    Mappings& mappings = *self.stream->mappings();
    if (remote) {
      mappings.add_remote(std::move(*region), static_cast<std::uint64_t>(at));
    } else {
      mappings.add_local(std::move(*region));
    }
    return at;
  });
}

int iounmap(int number, void* memory, std::size_t length) noexcept {
  return on_socket(number, [&](Socket& self, auto&) {
    self.progress();
    if (self.phase != Phase::kConnected) return minus_one(ENOTCONN);
    return self.stream->mappings()->remove(memory, length) ? 0 : minus_one(EINVAL);
  });
}

ssize_t iowrite(int number, const void* octets, std::size_t count, off_t offset, int flags) {
  return waiting_on_socket(number, [&](Socket& self, auto& lock) -> ssize_t {
    if (octets == nullptr && count != 0) return minus_one(EFAULT);
    if (offset < 0 || count > std::size_t{std::numeric_limits<ssize_t>::max()}) return minus_one(EINVAL);
    const bool at_once = self.nonblocking || (flags & MSG_DONTWAIT) != 0;
    const std::span all(static_cast<const std::byte*>(octets), count);
    std::size_t done = 0;
    const auto answer = [&](int error) { return done != 0 ? static_cast<ssize_t>(done) : minus_one(error); };
    while (done < count) {
      self.progress();
      if (self.closing) return answer(EBADF);
      if (self.phase != Phase::kConnected) return answer(ENOTCONN);
      if (const int error = done == 0 ? self.take_error() : 0; error != 0) return minus_one(error);
      if (self.stream->outbound_over()) return answer(EPIPE);
      const auto written = self.stream->write_mapped(all.subspan(done), static_cast<std::uint64_t>(offset) + done);
      if (!written) return answer(EINVAL);
      done += *written;
      if (*written != 0 || self.stream->outbound_over()) continue;
      if (at_once) return answer(EAGAIN);
      if (const int error = self.wait(lock); error != 0) return answer(error);
    }
    return static_cast<ssize_t>(done);
  });
}

}  // namespace weft::compat::rsockets
