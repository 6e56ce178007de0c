// SPDX-License-Identifier: Apache-2.0
#include "transport/same_host/memory.hpp"

#include <fcntl.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#include <bit>

#include "transport/detail/last_error.hpp"
#include "transport/size_limit.hpp"

namespace weft::transport::same_host {
namespace {

constexpr std::size_t kHeaderOctets = 4096;
constexpr int kSeals = F_SEAL_SHRINK | F_SEAL_GROW | F_SEAL_SEAL;
static_assert(2 * sizeof(RingHeader) <= kHeaderOctets);

constexpr std::size_t file_octets(std::size_t ring_octets) { return kHeaderOctets + 2 * ring_octets; }

bool is_ring_size(std::uint64_t octets) {
  return std::has_single_bit(octets) && octets >= Memory::kLeastRing && octets <= Memory::kMostRing;
}

// F_GET_SEALS fails for a file that cannot be sealed.
bool is_sealed(int file) {
  const int seals = ::fcntl(file, F_GET_SEALS);
  return seals >= 0 && (seals & kSeals) == kSeals;
}

}  // namespace

std::expected<Memory, std::error_code> Memory::map_checked(int file, std::size_t ring_octets) noexcept {
  void* const at = ::mmap(nullptr, file_octets(ring_octets), PROT_READ | PROT_WRITE, MAP_SHARED, file, 0);
  if (at == MAP_FAILED) return std::unexpected(last_error());
  return Memory(static_cast<std::byte*>(at), ring_octets);
}

std::expected<std::pair<Memory, int>, std::error_code> Memory::create(std::size_t ring_octets) noexcept {
  if (!is_ring_size(ring_octets)) return std::unexpected(std::make_error_code(std::errc::invalid_argument));
  const int file = ::memfd_create("weft-rings", MFD_ALLOW_SEALING | MFD_CLOEXEC);
  if (file < 0) return std::unexpected(last_error());
  std::error_code error;
  const SizeLimitIsAnError limited;  // RLIMIT_FSIZE is for such files, too
  if (::ftruncate(file, static_cast<off_t>(file_octets(ring_octets))) != 0) error = last_error();
  if (!error && ::fcntl(file, F_ADD_SEALS, kSeals) != 0) error = last_error();
  if (!error) {
    auto mapped = map_checked(file, ring_octets);
    if (mapped) return std::pair(std::move(*mapped), file);
    error = mapped.error();
  }
  ::close(file);
  return std::unexpected(error);
}

// The seals come first: only then does the size stay what it is.
std::expected<Memory, std::error_code> Memory::map(int file, std::uint64_t ring_octets) noexcept {
  struct stat facts{};
  if (!is_ring_size(ring_octets) || !is_sealed(file) || ::fstat(file, &facts) != 0 ||
      static_cast<std::uint64_t>(facts.st_size) != file_octets(static_cast<std::size_t>(ring_octets))) {
    return std::unexpected(std::make_error_code(std::errc::bad_message));
  }
  return map_checked(file, static_cast<std::size_t>(ring_octets));
}

Memory::~Memory() {
  if (begin_ != nullptr) ::munmap(begin_, file_octets(ring_octets_));
}

Ring Memory::ring(From from) const noexcept {
  const std::size_t which = from == From::kInitiator ? 0 : 1;
  return {.header = reinterpret_cast<RingHeader*>(begin_) + which,
          .data = begin_ + kHeaderOctets + which * ring_octets_,
          .size = ring_octets_};
}

}  // namespace weft::transport::same_host
