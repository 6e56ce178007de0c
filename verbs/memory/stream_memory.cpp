// SPDX-License-Identifier: Apache-2.0
#include "verbs/memory/stream_memory.hpp"

#include <algorithm>
#include <array>
#include <atomic>
#include <bit>
#include <functional>
#include <utility>

#include "rdmap/atomics.hpp"
#include "rdmap/segment_walk.hpp"
#include "verbs/memory/checked_copy.hpp"
#include "verbs/memory/copy.hpp"

namespace weft::verbs::detail {

using ddp::AccessError;
using ddp::LocalFault;

namespace {
using LocalResult = std::expected<void, LocalFault>;
}  // namespace

void StreamMemory::attach(Accessor who, std::shared_ptr<ReceiveQueue> receives, std::weak_ptr<ReceiveWaiter> waiter) {
  who_ = who;
  receives_ = std::move(receives);
  waiter_ = std::move(waiter);
}

// What is limited to the queue pair's stream is this one's no longer: it may be granted to the next.
void StreamMemory::detach() noexcept {
  drop_leases();
  who_.stream = 0;
  if (const auto waiter = waiter_.lock(); receives_ && waiter) receives_->forget(waiter);
  receives_.reset();
}

void StreamMemory::drop_leases() noexcept {
  remote_lease_.drop();
  local_lease_.drop();
  lent_.clear();
  retired_.clear();
}

// --- Finding memory

// Most messages use the memory of the one before.
bool StreamMemory::hold(Lease& lease, std::uint32_t stag) {
  if (lease.names(stag) || lease.renew(stag)) return true;
  auto other = table_->lease(stag);
  if (!other) return false;
  lease = std::move(*other);
  return true;
}

std::expected<std::byte*, AccessError> StreamMemory::remote(ddp::Stag stag, Access needed, ddp::TaggedOffset offset,
                                                            std::uint64_t length) {
  if (!hold(remote_lease_, stag.value)) return std::unexpected(AccessError::kInvalidStag);
  return resolve_remote(remote_lease_.grant(), who_, needed, offset.value, length);
}

std::expected<std::byte*, LocalFault> StreamMemory::local(const Sge& sge, Access needed, std::uint64_t skip,
                                                          std::uint64_t length) {
  if (!hold(local_lease_, sge.lkey)) return std::unexpected(LocalFault::kInvalidKey);
  if (sge.address + skip < sge.address) return std::unexpected(LocalFault::kBaseOrBounds);
  return resolve_local(local_lease_.grant(), who_, needed, sge.address + skip, length);
}

// --- Placement

std::expected<void, AccessError> StreamMemory::place_tagged(ddp::Stag stag, ddp::TaggedOffset offset, Bytes payload) {
  const auto to = remote(stag, Access::kRemoteWrite, offset, payload.size());
  if (!to) return std::unexpected(to.error());
  if (checked_) [[unlikely]] {
    if (!checked_write_last_octet_last(*to, payload)) return std::unexpected(AccessError::kInvalidStag);
    return {};
  }
  place_last_octet_last(*to, payload);
  return {};
}

std::optional<ddp::ReceiveBuffer> StreamMemory::take_receive() {
  if (!receives_) return std::nullopt;
  const auto taken = receives_->take(waiter_);
  if (!taken) return std::nullopt;
  receiving_ = *taken;
  return taken->buffer;
}

std::expected<void, LocalFault> StreamMemory::place_untagged(const ddp::ReceiveBuffer& buffer, std::uint64_t offset,
                                                             Bytes payload) {
  if (!receives_ || buffer != receiving_.buffer) return std::unexpected(LocalFault::kInvalidKey);
  return scatter(receiving_.segments, offset, payload);
}

// --- Payload that the socket puts there itself

MutableBytes StreamMemory::landing(const ddp::ReceiveBuffer& buffer, std::uint64_t offset, std::uint64_t length) {
  if (!receives_ || buffer != receiving_.buffer) return {};
  return landing(receiving_.segments, offset, length);
}

MutableBytes StreamMemory::landing(rdmap::LocalSegments sink, std::uint64_t offset, std::uint64_t length) {
  if (checked_) return {};  // the kernel would take the socket for what is at fault
  MutableBytes whole;
  const auto only_segment = [&](const Sge& sge, std::uint64_t skip, std::uint64_t use) -> LocalResult {
    if (use != length) return std::unexpected(LocalFault::kBaseOrBounds);
    const auto to = local(sge, Access::kLocalWrite, skip, use);
    if (to && *to != nullptr) whole = {*to, use};
    return {};
  };
  static_cast<void>(rdmap::walk_segments(sink, offset, length, only_segment));
  return whole;
}

// Copies the octets that the socket has not put there. False when the memory is gone.
bool StreamMemory::put(std::byte* to, Bytes payload) const noexcept {
  if (to == nullptr) return true;
  if (checked_) [[unlikely]]
    return checked_write(to, payload);
  const std::byte* const room = landed_.room;
  const bool landed =
      room != nullptr && !std::less{}(room, payload.data()) && std::less{}(room, payload.data() + payload.size());
  if (!landed) {
    copy_octets(to, payload.data(), payload.size());
    return true;
  }
  const auto before = static_cast<std::size_t>(room - payload.data());
  const std::size_t behind = before + landed_.octets;
  copy_octets(to, payload.data(), before);
  if (landed_.source != nullptr) copy_octets(to + before, landed_.source, landed_.octets);
  copy_octets(to + behind, payload.data() + behind, payload.size() - behind);
  return true;
}

bool StreamMemory::get(const std::byte* from, MutableBytes out) const noexcept {
  if (from == nullptr) return std::ranges::fill(out, std::byte{}), true;
  if (checked_) [[unlikely]]
    return checked_read(out, from);
  copy_octets(out.data(), from, out.size());
  return true;
}

// --- A peer's reads and atomics

std::expected<void, AccessError> StreamMemory::check_read(ddp::Stag stag, ddp::TaggedOffset offset,
                                                          std::uint32_t length) {
  const auto from = remote(stag, Access::kRemoteRead, offset, length);
  if (!from) return std::unexpected(from.error());
  return {};
}

std::expected<void, AccessError> StreamMemory::read_tagged(ddp::Stag stag, ddp::TaggedOffset offset, MutableBytes out) {
  const auto from = remote(stag, Access::kRemoteRead, offset, out.size());
  if (!from) return std::unexpected(from.error());
  if (!get(*from, out)) return std::unexpected(AccessError::kInvalidStag);
  return {};
}

// On eight aligned octets (RDMAPX-5-05); else nothing is changed (RDMAPX-5.1.1-06, RDMAPX-5.1.2-07, RDMAPX-5.1.2-08)
// and the stream ends (RDMAPX-5.1.1-07, RDMAPX-5.1.2-10).
std::expected<std::uint64_t, AccessError> StreamMemory::atomic(ddp::Stag stag, ddp::TaggedOffset offset,
                                                               const rdmap::AtomicOperation& op) {
  const auto at = remote(stag, Access::kRemoteAtomic, offset, sizeof(std::uint64_t));
  if (!at) return std::unexpected(at.error());
  if (std::bit_cast<std::uintptr_t>(*at) % rdmap::kAtomicAlignment != 0)
    return std::unexpected(AccessError::kUnaligned);
  std::array<std::byte, sizeof(std::uint64_t)> there{};
  if (checked_ && !checked_read(there, *at)) return std::unexpected(AccessError::kInvalidStag);
  // The processor's own atomics serialise this with every other stream (RDMAPX-5-01, RDMAPX-5.3-01, RDMAPX-5.4-02), and
  // with the application's atomics (RDMAPX-5-02).
  std::atomic_ref word(*reinterpret_cast<std::uint64_t*>(*at));
  std::uint64_t old = word.load();
  while (!word.compare_exchange_weak(old, rdmap::apply(op, old))) {
  }
  return old;
}

// --- The local side's lists

std::expected<void, LocalFault> StreamMemory::gather(rdmap::LocalSegments source, std::uint64_t offset,
                                                     MutableBytes out) {
  return rdmap::walk_segments(source, offset, out.size(),
                              [&](const Sge& sge, std::uint64_t skip, std::uint64_t use) -> LocalResult {
                                const auto from = local(sge, Access::kNone, skip, use);
                                if (!from) return std::unexpected(from.error());
                                if (!get(*from, out.first(use))) return std::unexpected(LocalFault::kInvalidKey);
                                out = out.subspan(use);
                                return {};
                              });
}

std::expected<void, LocalFault> StreamMemory::scatter(rdmap::LocalSegments sink, std::uint64_t offset, Bytes payload) {
  // A sink needs the right to be written locally and no more: the response was matched with its request before.
  return rdmap::walk_segments(sink, offset, payload.size(),
                              [&](const Sge& sge, std::uint64_t skip, std::uint64_t use) -> LocalResult {
                                const auto to = local(sge, Access::kLocalWrite, skip, use);
                                if (!to) return std::unexpected(to.error());
                                if (!put(*to, payload.first(use))) return std::unexpected(LocalFault::kInvalidKey);
                                payload = payload.subspan(use);
                                return {};
                              });
}

bool StreamMemory::borrow(rdmap::LocalSegments source, std::uint64_t offset, std::uint64_t length,
                          std::span<Bytes> pieces, std::size_t& used) {
  used = 0;
  if (checked_) return false;
  const auto lent = rdmap::walk_segments(source, offset, length,
                                         [&](const Sge& sge, std::uint64_t skip, std::uint64_t use) -> LocalResult {
                                           const auto from = local(sge, Access::kNone, skip, use);
                                           if (!from) return std::unexpected(from.error());
                                           if (used == pieces.size() || *from == nullptr || !lend(sge.lkey))
                                             return std::unexpected(LocalFault::kInvalidKey);
                                           pieces[used++] = {*from, use};
                                           return {};
                                         });
  return lent.has_value();  // otherwise gather() is asked, and finds what is wrong
}

// Octets that the socket has yet to read stay leased until drop_leases().
bool StreamMemory::lend(std::uint32_t lkey) {
  if (std::ranges::any_of(lent_, [&](const Lease& lease) { return lease.names(lkey); })) return true;
  if (lent_.size() == kMaxLent) return false;
  auto lease = table_->lease(lkey);
  if (!lease) return false;
  lent_.push_back(std::move(*lease));
  return true;
}

}  // namespace weft::verbs::detail
