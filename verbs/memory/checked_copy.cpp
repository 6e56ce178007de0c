// SPDX-License-Identifier: Apache-2.0
#include "verbs/memory/checked_copy.hpp"

#include <sys/uio.h>
#include <unistd.h>

#include <cerrno>
#include <cstring>
#include <mutex>
#include <string>
#include <system_error>

#include "verbs/log/log.hpp"
#include "verbs/memory/copy.hpp"

namespace weft::verbs::detail {

namespace {

// Some containers allow no process to look at a process's memory, not even at its own.
void tell_of_refusal(int error) noexcept {
  static std::once_flag once;
  std::call_once(once, [&] {
    log_warning("checked-memory", "not possible here: " + std::error_code(error, std::system_category()).message());
  });
}

enum class Way : bool { kToProgram, kFromProgram };

// `ours` is weft's and there; `theirs` is the program's.
bool by_kernel(Way way, std::byte* ours, std::byte* theirs, std::size_t octets) noexcept {
  if (octets == 0) return true;
  const iovec local{ours, octets};
  const iovec remote{theirs, octets};
  const auto call = way == Way::kToProgram ? &::process_vm_writev : &::process_vm_readv;
  const ssize_t moved = call(::getpid(), &local, 1, &remote, 1, 0);
  if (moved >= 0 || errno == EFAULT) return moved == static_cast<ssize_t>(octets);
  tell_of_refusal(errno);
  std::memcpy(way == Way::kToProgram ? theirs : ours, way == Way::kToProgram ? ours : theirs, octets);
  return true;
}

}  // namespace

bool checked_write(std::byte* to, Bytes from) noexcept {
  return by_kernel(Way::kToProgram, const_cast<std::byte*>(from.data()), to, from.size());
}

bool checked_write_last_octet_last(std::byte* to, Bytes from) noexcept {
  const std::size_t last = octets_of_last_store(to, from.size());
  const std::size_t before = from.size() - last;
  return checked_write(to, from.first(before)) && checked_write(to + before, from.last(last));
}

bool checked_read(MutableBytes to, const std::byte* from) noexcept {
  return by_kernel(Way::kFromProgram, to.data(), const_cast<std::byte*>(from), to.size());
}

}  // namespace weft::verbs::detail
