// SPDX-License-Identifier: Apache-2.0
// The states of regions and windows: who holds which STag, and how it is revoked.
#pragma once

#include <cstdint>
#include <expected>
#include <memory>
#include <mutex>

#include "verbs/base/device_state.hpp"
#include "verbs/memory.hpp"
#include "verbs/memory/stag_table.hpp"

namespace weft::verbs::detail {

// What a region takes of the counts that are kept.
struct RegionShares {
  Quota::Share of_device{};  // one region
  Quota::Share exposed{};    // its octets, if peers can reach them
};

class RegionState {
 public:
  // Returns null when the table of STags is full.
  [[nodiscard]] static std::shared_ptr<RegionState> create(std::shared_ptr<StagTable> table,
                                                           std::shared_ptr<ProtectionDomainState> domain, Grant grant,
                                                           RegionShares shares = {});
  RegionState(std::shared_ptr<StagTable> table, std::shared_ptr<ProtectionDomainState> domain, Grant grant,
              std::uint32_t stag, RegionShares shares);
  ~RegionState();  // deregisters, and so waits for leases

  // Synchronous, for each of several threads that call it; false while windows are bound. Doing it again is allowed.
  bool deregister();

  [[nodiscard]] std::uint32_t stag() const noexcept { return stag_; }
  [[nodiscard]] const Grant& grant() const noexcept { return grant_; }

 private:
  friend class WindowState;
  bool add_window();
  void remove_window();

  const std::shared_ptr<StagTable> table_;
  const std::shared_ptr<ProtectionDomainState> domain_;
  const Grant grant_;
  const std::uint32_t stag_;
  std::mutex ending_;  // held by deregister() while it waits; outside mutex_
  std::mutex mutex_;
  std::uint32_t windows_ = 0;
  bool deregistered_ = false;
  RegionShares shares_;
};

class WindowState : public std::enable_shared_from_this<WindowState> {
 public:
  [[nodiscard]] static std::shared_ptr<WindowState> create(std::shared_ptr<StagTable> table,
                                                           std::shared_ptr<ProtectionDomainState> domain,
                                                           Quota::Share share = {},
                                                           WindowType type = WindowType::kType2);
  WindowState(std::shared_ptr<StagTable> table, std::shared_ptr<ProtectionDomainState> domain, std::uint32_t stag,
              Quota::Share share, WindowType type);
  ~WindowState();

  // Carry a bind out for the stream `who`. `address` counts in the region's address space. They return the region that
  // a window of type 1 was bound to before: maybe its last reference, see invalidate(). They wait until there is no
  // lease on the old binding, so a caller may hold none on any window.
  using Unbound = std::shared_ptr<RegionState>;
  [[nodiscard]] std::expected<Unbound, ddp::LocalFault> bind(const std::shared_ptr<RegionState>& region, Accessor who,
                                                             std::uint32_t stag, std::uint64_t address,
                                                             std::uint64_t length, Access access);
  [[nodiscard]] std::expected<Unbound, ddp::LocalFault> unbind(Accessor who);
  // By the stream the window is bound to, which is the only one that has access. Returns the region that it was bound
  // to, null when `stag` is not bound. This may be the last reference: a caller with leases drops them before it.
  [[nodiscard]] std::shared_ptr<RegionState> invalidate(std::uint32_t stag);

  // Synchronous; for good.
  void free();

  [[nodiscard]] std::uint32_t stag() const;
  [[nodiscard]] std::uint32_t next_stag() const { return next_stag(stag()); }
  [[nodiscard]] std::uint32_t next_stag(std::uint32_t after) const noexcept;
  [[nodiscard]] bool bound() const;
  const WindowType type;

 private:
  [[nodiscard]] Unbound end_binding();  // with the lock held

  const std::shared_ptr<StagTable> table_;
  const std::shared_ptr<ProtectionDomainState> domain_;
  // From one key to the next. It is odd, so that all 256 keys have their turn before one comes again: a peer that still
  // has an STag of this window reaches none of the next 255 bindings (SEC-6.1.1-06).
  const std::uint32_t step_;
  mutable std::mutex mutex_;
  std::uint32_t stag_;
  std::shared_ptr<RegionState> region_;  // while bound
  bool freed_ = false;
  Quota::Share share_;
};

// Takes back every right that only this stream has: its windows are bound no longer, and regions for it alone have no
// valid STag any more. For a queue pair whose stream has let go of memory: its next stream is another one, maybe
// another peer's (RDMAP-8.1.1-02, DDP-8.3.1-03, SEC-6.1.1-04).
void revoke_stream(StagTable& table, std::uint64_t stream);

}  // namespace weft::verbs::detail
