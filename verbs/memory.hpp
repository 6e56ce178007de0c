// SPDX-License-Identifier: Apache-2.0
/// @file
/// Registered memory: regions, windows, and the STags that grant access to them.
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
struct LocalWork;
Result<LocalWork> local_work(const SendRequest& request);
}  // namespace detail

/// Specifies the optional properties of a memory region.
struct RegionOptions {
  /// Tagged offset of the region's first octet. Default: the virtual address of that octet.
  std::optional<std::uint64_t> iova{};
  /// Restricts the STag to the stream of this queue pair (RFC 5042 section 2.2.5), which must be of the same domain.
  /// The peer of that stream may invalidate the STag. When the queue pair goes to RESET or is destroyed, the STag
  /// becomes invalid; register the memory again for the next stream.
  /// Default: the STag is valid on every queue pair of the protection domain.
  const QueuePair* only_for{};
  /// Does not fault pages in; the first access does.
  /// The memory must be mapped before that access and remain mapped after it.
  bool on_demand{};
};

/// Memory that the device may access. ProtectionDomain::register_memory() creates it.
///
/// The destructor deregisters the memory. If windows are bound to the region, the memory is deregistered when the last
/// of them is freed or invalidated, and must remain mapped until then.
class MemoryRegion {
 public:
  /// Takes over the region of another handle, which becomes empty.
  MemoryRegion(MemoryRegion&&) noexcept = default;
  /// Replaces this region by `other`. The previous region ends as by the destructor.
  MemoryRegion& operator=(MemoryRegion&& other) noexcept;
  /// Deregisters the memory.
  ~MemoryRegion();

  /// Returns the key for the segments of local work requests.
  [[nodiscard]] std::uint32_t lkey() const noexcept;
  /// Returns the STag to advertise to peers. It equals lkey().
  [[nodiscard]] std::uint32_t rkey() const noexcept;
  /// Returns the virtual address of the first octet.
  [[nodiscard]] std::byte* address() const noexcept;
  /// Returns the length in octets.
  [[nodiscard]] std::size_t length() const noexcept;
  /// Returns the tagged offset of the first octet.
  [[nodiscard]] std::uint64_t iova() const noexcept;
  /// Returns the rights that the region was registered with.
  [[nodiscard]] Access access() const noexcept;
  /// Returns a scatter/gather element of `length` octets that begins `offset` octets into the region.
  [[nodiscard]] Sge sge(std::size_t offset, std::uint32_t length) const noexcept;
  /// Returns a scatter/gather element of the whole region. Of a region of 2^32 octets or more, it has only the first
  /// 2^32 - 1 octets.
  [[nodiscard]] Sge sge() const noexcept;

  /// Deregisters the memory. Once it returns, no local work and no peer accesses the memory (SEC-6.2.2-02).
  /// Errors: Errc::kBusy if windows are bound to the region.
  Result<void> deregister();

 private:
  friend class ProtectionDomain;
  friend Result<detail::LocalWork> detail::local_work(const SendRequest& request);
  MemoryRegion() = default;
  detail::Handle<detail::RegionState> self_;
};

/// Identifies the type of a memory window. The values are those of libibverbs.
enum class WindowType : std::uint8_t {
  /// Valid on every queue pair of its domain. A new bind replaces the previous one, and a bind of length 0 unbinds.
  /// The previous key stops granting access when that work request completes. No other work request invalidates the
  /// window, and neither does a peer.
  kType1 = 1,
  /// Valid only on the stream of the queue pair that bound it. Either end may invalidate it, and it becomes unbound
  /// when that queue pair goes to RESET or is destroyed. It must be unbound before it can be bound again.
  kType2 = 2,
};

/// A revocable grant of access to part of a memory region. ProtectionDomain::allocate_window() creates it, and a work
/// request binds it (WindowBind). The destructor invalidates and frees it.
class MemoryWindow {
 public:
  /// Takes over the window of another handle, which becomes empty.
  MemoryWindow(MemoryWindow&&) noexcept = default;
  /// Replaces this window by `other`. The previous window ends as by the destructor.
  MemoryWindow& operator=(MemoryWindow&& other) noexcept;
  /// Invalidates and frees the window.
  ~MemoryWindow();

  /// Returns the key of the last bind that was carried out.
  [[nodiscard]] std::uint32_t rkey() const noexcept;
  /// Returns the key for the next bind.
  /// The upper 24 bits never change. A value of the lower 8 bits recurs after 255 others.
  [[nodiscard]] std::uint32_t next_rkey() const noexcept;
  /// Returns the key that follows `after`, a key of this window, for a bind that is posted while others wait.
  [[nodiscard]] std::uint32_t next_rkey(std::uint32_t after) const noexcept;
  /// Returns whether the window is currently bound to part of a region.
  [[nodiscard]] bool bound() const noexcept;

 private:
  friend class ProtectionDomain;
  friend Result<detail::LocalWork> detail::local_work(const SendRequest& request);
  MemoryWindow() = default;
  detail::Handle<detail::WindowState> self_;
};

}  // namespace weft::verbs
