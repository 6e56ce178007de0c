// SPDX-License-Identifier: Apache-2.0
#include "verbs/memory/region_state.hpp"

#include <new>
#include <optional>
#include <utility>

namespace weft::verbs::detail {

using ddp::LocalFault;

namespace {

// An index that goes back unless its owner was made.
struct Reservation {
  explicit Reservation(StagTable& of) : table(of), number(of.reserve()) {}
  ~Reservation() {
    if (number) table.release(*number);
  }
  Reservation(const Reservation&) = delete;
  Reservation& operator=(const Reservation&) = delete;
  std::uint32_t hand_over() noexcept { return *std::exchange(number, std::nullopt); }

  StagTable& table;
  std::optional<std::uint32_t> number;
};

}  // namespace

// --- Regions

std::shared_ptr<RegionState> RegionState::create(std::shared_ptr<StagTable> table,
                                                 std::shared_ptr<ProtectionDomainState> domain, Grant grant,
                                                 RegionShares shares) {
  Reservation stag(*table);
  if (!stag.number) return nullptr;
  grant.domain = domain->number;
  const auto made = std::make_shared<RegionState>(table, std::move(domain), grant, *stag.number, std::move(shares));
  const std::uint32_t its = stag.hand_over();
  table->publish(its, grant);  // last: an STag that is valid has an owner that takes it back
  return made;
}

RegionState::RegionState(std::shared_ptr<StagTable> table, std::shared_ptr<ProtectionDomainState> domain, Grant grant,
                         std::uint32_t stag, RegionShares shares)
    : table_(std::move(table)), domain_(std::move(domain)), grant_(grant), stag_(stag), shares_(std::move(shares)) {}

RegionState::~RegionState() { deregister(); }

// The owner takes back what create() gave: memory, STag and range of offsets (DDP-8.3-02, DDP-8.3.1-05, DDP-8.3.1-07,
// RDMAP-8.1.1-04). Until then the STag stays valid, unless the peer may and does invalidate it (RDMAP-1.2-03).
bool RegionState::deregister() {
  const std::lock_guard ending(ending_);  // a second caller may free the memory, too, when this returns
  {
    const std::lock_guard lock(mutex_);
    if (windows_ != 0) return false;
    if (std::exchange(deregistered_, true)) return true;
  }
  table_->revoke(stag_);  // false when the peer invalidated it before
  table_->release(stag_);
  shares_ = {};
  return true;
}

bool RegionState::add_window() {
  const std::lock_guard lock(mutex_);
  if (deregistered_) return false;
  ++windows_;
  return true;
}

void RegionState::remove_window() {
  const std::lock_guard lock(mutex_);
  --windows_;
}

// --- Windows

std::shared_ptr<WindowState> WindowState::create(std::shared_ptr<StagTable> table,
                                                 std::shared_ptr<ProtectionDomainState> domain, Quota::Share share,
                                                 WindowType type) {
  Reservation stag(*table);
  if (!stag.number) return nullptr;
  auto made = std::make_shared<WindowState>(table, std::move(domain), *stag.number, std::move(share), type);
  stag.hand_over();
  return made;
}

WindowState::WindowState(std::shared_ptr<StagTable> table, std::shared_ptr<ProtectionDomainState> domain,
                         std::uint32_t stag, Quota::Share share, WindowType kind)
    : type(kind),
      table_(std::move(table)),
      domain_(std::move(domain)),
      step_(table_->random() | 1U),
      stag_(stag),
      share_(std::move(share)) {}

WindowState::~WindowState() { free(); }

void WindowState::free() {
  std::shared_ptr<RegionState> region;
  {
    const std::lock_guard lock(mutex_);
    if (std::exchange(freed_, true)) return;
    region = std::exchange(region_, nullptr);
  }
  table_->revoke(stag_);  // waits, so not under the lock; stag_ does not change any more
  table_->release(stag_);
  share_.drop();
  if (region) region->remove_window();
}

// RDMAP-8.1.1-01, RDMAP-8.1.1-02: for one stream, or for all of one protection domain, whichever the window's type is.
std::expected<WindowState::Unbound, LocalFault> WindowState::bind(const std::shared_ptr<RegionState>& region,
                                                                  Accessor who, std::uint32_t stag,
                                                                  std::uint64_t address, std::uint64_t length,
                                                                  Access access) {
  const std::lock_guard lock(mutex_);
  const bool limited = type == WindowType::kType2;
  const bool same_window = stag >> kKeyBits == stag_ >> kKeyBits;
  const bool ours = domain_->number == who.domain && who.stream != 0;  // 0 would be a grant to every stream
  if (freed_ || (region_ && limited) || !same_window || !ours) return std::unexpected(LocalFault::kInvalidKey);
  Access needed = Access::kWindowBind;
  if (has(access, Access::kRemoteWrite) || has(access, Access::kRemoteAtomic)) needed = needed | Access::kLocalWrite;
  auto valid = table_->lease(region->stag());  // not so after it was invalidated
  if (!valid) return std::unexpected(LocalFault::kInvalidKey);
  const auto start = resolve_local(valid->grant(), who, needed, address, length);
  if (!start) return std::unexpected(start.error());
  if (!region->add_window()) return std::unexpected(LocalFault::kInvalidKey);
  valid->drop();
  const Grant grant{.start = *start,
                    .length = length,
                    .first_offset = has(access, Access::kZeroBased) ? 0 : address,
                    .access = access,
                    .domain = who.domain,
                    .only_stream = limited ? who.stream : 0,
                    .window = true};
  Unbound before = end_binding();
  try {
    table_->publish(stag, grant, weak_from_this());
  } catch (const std::bad_alloc&) {  // it is bound to nothing
    region->remove_window();
    throw;
  }
  stag_ = stag;
  region_ = region;
  return before;
}

std::expected<WindowState::Unbound, LocalFault> WindowState::unbind(Accessor who) {
  const std::lock_guard lock(mutex_);
  const bool ours = domain_->number == who.domain && who.stream != 0;
  if (freed_ || type != WindowType::kType1 || !ours) return std::unexpected(LocalFault::kInvalidKey);
  return end_binding();
}

// RDMAP-8.1.1-06, SEC-6.2.2-02: other streams may be at it, and the region's owner does not wait for those of a window.
WindowState::Unbound WindowState::end_binding() {
  if (!region_) return nullptr;
  table_->revoke(stag_);
  region_->remove_window();
  return std::exchange(region_, nullptr);
}

std::shared_ptr<RegionState> WindowState::invalidate(std::uint32_t stag) {
  const std::lock_guard lock(mutex_);
  if (!region_ || stag_ != stag) return nullptr;
  table_->withdraw(stag_);
  region_->remove_window();
  return std::exchange(region_, nullptr);
}

std::uint32_t WindowState::stag() const {
  const std::lock_guard lock(mutex_);
  return stag_;
}

std::uint32_t WindowState::next_stag(std::uint32_t after) const noexcept {
  return (after & ~kKeyMask) | ((after + step_) & kKeyMask);
}

bool WindowState::bound() const {
  const std::lock_guard lock(mutex_);
  return region_ != nullptr;
}

// Without waiting: another stream that holds a lease is not associated and touches nothing.
void revoke_stream(StagTable& table, std::uint64_t stream) {
  while (const auto stag = table.one_limited_to(stream)) {
    std::shared_ptr<WindowState> window;
    if (const auto lease = table.lease(*stag)) window = lease->window();
    std::shared_ptr<RegionState> region;  // perhaps the last to hold it
    if (window) region = window->invalidate(*stag);
    table.withdraw(*stag);
  }
}

}  // namespace weft::verbs::detail
