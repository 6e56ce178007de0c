// SPDX-License-Identifier: Apache-2.0
// Registered memory: regions and windows, and the STags that give access to them.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>

#include "verbs/handle.hpp"
#include "verbs/work_request.hpp"

namespace weft::verbs {

class QueuePair;

namespace detail {
class RegionState;
class WindowState;
class Stream;
}  // namespace detail

// What a region is registered with, besides its place and its rights.
struct RegionOptions {
  std::optional<std::uint64_t> iova{};  // tagged offset of the first octet; default: its virtual address
  // The STag is valid on this queue pair's stream alone (RFC 5042 section 2.2.5), and its peer may invalidate it. When
  // the queue pair goes to RESET, or goes, it becomes invalid too, for the next stream is another one: register again.
  // It has to be of the same protection domain. Default: every queue pair of the domain.
  const QueuePair* only_for{};
};

// Memory that the device may use. The destructor deregisters; with windows bound to the region, that happens when the
// last of them is freed or invalidated, and the memory has to exist until then.
class MemoryRegion {
 public:
  MemoryRegion(MemoryRegion&&) noexcept = default;
  MemoryRegion& operator=(MemoryRegion&& other) noexcept;  // what this was before ends as with the destructor
  ~MemoryRegion();                                         // deregisters

  [[nodiscard]] std::uint32_t lkey() const noexcept;  // for the segments of work requests
  [[nodiscard]] std::uint32_t rkey() const noexcept;  // the STag to advertise; equal to lkey
  [[nodiscard]] std::byte* address() const noexcept;  // of its first octet, in this process
  [[nodiscard]] std::size_t length() const noexcept;  // in octets
  [[nodiscard]] std::uint64_t iova() const noexcept;  // the tagged offset of its first octet
  [[nodiscard]] Access access() const noexcept;       // as registered
  // An element of a scatter/gather list: `length` octets from `offset` of the region.
  [[nodiscard]] Sge sge(std::size_t offset, std::uint32_t length) const noexcept;
  [[nodiscard]] Sge sge() const noexcept;  // the whole region

  // When this returns, no local work and no peer touches the memory any more (SEC-6.2.2-02). Errc::kBusy while windows
  // are bound.
  Result<void> deregister();

 private:
  friend class ProtectionDomain;
  friend class detail::Stream;
  MemoryRegion() = default;
  detail::Handle<detail::RegionState> self_;
};

// The two kinds of window, with libibverbs' values. A window is bound to part of a region by a work request.
enum class WindowType : std::uint8_t {
  // Valid on every queue pair of its domain. The next bind takes the place of the one before, and a bind of no octets
  // just ends it; the old key gives no access any more when that work completes. No other work request and no
  // peer invalidates it.
  kType1 = 1,
  // Valid on the stream alone of the queue pair that bound it, invalidated by either end, and unbound when that queue
  // pair goes to RESET or goes. It is bound again only after that.
  kType2 = 2,
};

// A window onto part of a region, for a while. The destructor invalidates and frees.
class MemoryWindow {
 public:
  MemoryWindow(MemoryWindow&&) noexcept = default;
  MemoryWindow& operator=(MemoryWindow&& other) noexcept;  // what this was before ends as with the destructor
  ~MemoryWindow();                                         // invalidates and frees

  [[nodiscard]] std::uint32_t rkey() const noexcept;  // of the last bind that was carried out
  // For the next bind: the same upper 24 bits; the lower 8 come again behind 255 others.
  [[nodiscard]] std::uint32_t next_rkey() const noexcept;
  [[nodiscard]] bool bound() const noexcept;  // to part of a region, at this moment

 private:
  friend class ProtectionDomain;
  friend class detail::Stream;
  MemoryWindow() = default;
  detail::Handle<detail::WindowState> self_;
};

}  // namespace weft::verbs
