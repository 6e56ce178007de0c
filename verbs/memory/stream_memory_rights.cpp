// SPDX-License-Identifier: Apache-2.0
// What changes who may use which memory: a peer's invalidations, and the work requests that invalidate and bind here.
#include <utility>
#include <variant>

#include "verbs/memory/stream_memory.hpp"

namespace weft::verbs::detail {

using ddp::AccessError;
using ddp::LocalFault;

// RDMAP-5.3-13, RDMAP-5.3-14: valid and of this stream (RDMAP-7.2-07, RDMAP-7.2-08), and from now on not valid any more
// (RDMAP-1.2-02), so that the receiver may trust what is there (SEC-6.2.2-01). A region that several streams may use is
// not invalidated by one peer (RDMAP-8.1.1-07).
std::expected<void, AccessError> StreamMemory::invalidate(ddp::Stag stag) {
  if (!hold(remote_lease_, stag.value)) return std::unexpected(AccessError::kInvalidStag);
  if (const auto may = rdmap::check_invalidate(remote_lease_.grant(), who_); !may) return may;
  if (!invalidate_own(stag.value)) return std::unexpected(AccessError::kInvalidStag);
  return {};
}

// The STag is valid on this stream alone.
bool StreamMemory::invalidate_own(std::uint32_t stag) {
  const auto window = remote_lease_.window();
  const bool is_window = remote_lease_.grant().window;
  remote_lease_.drop();
  if (local_lease_.names(stag)) local_lease_.drop();
  if (!is_window) return table_->withdraw(stag);
  auto region = window ? window->invalidate(stag) : nullptr;
  const bool done = region != nullptr;
  retire(window), retire(std::move(region));
  return done;
}

// The last reference to a region or window waits for all leases on its STag, and the stream itself may hold one.
void StreamMemory::retire(std::shared_ptr<void> object) {
  if (object) retired_.push_back(std::move(object));
}

void StreamMemory::retire(LocalWork work) {
  if (auto* bind = std::get_if<BindWindow>(&work.work))
    retire(std::move(bind->window)), retire(std::move(bind->region));
}

// --- Work that stays here

void StreamMemory::finish_local(std::uint64_t cookie) {
  if (!local_.empty() && local_.front().cookie == cookie) retire(local_.pop());
}

std::expected<void, LocalFault> StreamMemory::perform_local(std::uint64_t cookie) {
  if (local_.empty() || local_.front().cookie != cookie) return std::unexpected(LocalFault::kInvalidKey);
  LocalWork work = local_.pop();
  const auto done = std::visit([&](const auto& kind) { return perform(kind); }, work.work);
  retire(std::move(work));
  return done;
}

std::expected<void, LocalFault> StreamMemory::perform(const LocalInvalidate& work) {
  const auto done = invalidate({work.stag});
  if (!done) return std::unexpected(LocalFault::kInvalidKey);
  return {};
}

// A bind may wait for other streams' leases on the window's former binding, and they for ours.
std::expected<void, LocalFault> StreamMemory::perform(const BindWindow& work) {
  remote_lease_.drop();
  local_lease_.drop();
  auto done = work.length == 0
                  ? work.window->unbind(who_)
                  : work.window->bind(work.region, who_, work.stag, work.address, work.length, work.access);
  if (!done) return std::unexpected(done.error());
  retire(std::move(*done));
  return {};
}

}  // namespace weft::verbs::detail
