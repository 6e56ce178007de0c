// SPDX-License-Identifier: Apache-2.0
// Registered memory for one stream: implements what the protocol core needs from the owner of memory, with the table of
// STags and the receive queue. Serialized by the lock of the stream, like the engine that calls it.
#pragma once

#include <memory>
#include <optional>
#include <vector>

#include "common/bounded_ring.hpp"
#include "rdmap/memory.hpp"
#include "verbs/memory/local_work.hpp"
#include "verbs/memory/receive_queue.hpp"
#include "verbs/memory/stag_table.hpp"

namespace weft::verbs::detail {

class StreamMemory final : public rdmap::Memory {
 public:
  // `checked`: see StartupPolicy::checked_memory.
  explicit StreamMemory(std::shared_ptr<StagTable> table, bool checked = false)
      : table_(std::move(table)), checked_(checked) {}

  // From here on the stream serves a queue pair.
  void attach(Accessor who, std::shared_ptr<ReceiveQueue> receives, std::weak_ptr<ReceiveWaiter> waiter);
  void detach() noexcept;  // no receives any more, and no rights but those of the whole protection domain

  // Leases are kept from one segment to the next. The stream drops them before it gives up its lock, so that revoking
  // waits no longer than one batch. After them go the regions and windows whose last reference may have been ours:
  // that revokes them, and a stream that waited for its own lease would wait forever.
  void drop_leases() noexcept;
  [[nodiscard]] bool lends() const noexcept { return !lent_.empty(); }

  // Local work requests, in the order of posting; finish_local when their completion was seen.
  void reserve_local() { local_.reserve(); }  // the next post_local() allocates nothing
  bool post_local(LocalWork work) { return local_.push(std::move(work)); }
  void finish_local(std::uint64_t cookie);

  // --- ddp::Placement
  std::expected<void, ddp::AccessError> place_tagged(ddp::Stag stag, ddp::TaggedOffset offset, Bytes payload) override;
  std::optional<ddp::ReceiveBuffer> take_receive() override;
  std::expected<void, ddp::LocalFault> place_untagged(const ddp::ReceiveBuffer& buffer, std::uint64_t offset,
                                                      Bytes payload) override;

  // --- rdmap::Memory
  std::expected<void, ddp::AccessError> check_read(ddp::Stag stag, ddp::TaggedOffset offset,
                                                   std::uint32_t length) override;
  std::expected<void, ddp::AccessError> read_tagged(ddp::Stag stag, ddp::TaggedOffset offset,
                                                    MutableBytes out) override;
  std::expected<std::uint64_t, ddp::AccessError> atomic(ddp::Stag stag, ddp::TaggedOffset offset,
                                                        const rdmap::AtomicOperation& op) override;
  std::expected<void, ddp::AccessError> invalidate(ddp::Stag stag) override;
  std::expected<void, ddp::LocalFault> gather(rdmap::LocalSegments source, std::uint64_t offset,
                                              MutableBytes out) override;
  bool borrow(rdmap::LocalSegments source, std::uint64_t offset, std::uint64_t length, std::span<Bytes> pieces,
              std::size_t& used) override;
  std::expected<void, ddp::LocalFault> scatter(rdmap::LocalSegments sink, std::uint64_t offset, Bytes payload) override;
  MutableBytes landing(const ddp::ReceiveBuffer& buffer, std::uint64_t offset, std::uint64_t length) override;
  MutableBytes landing(rdmap::LocalSegments sink, std::uint64_t offset, std::uint64_t length) override;
  std::expected<void, ddp::LocalFault> perform_local(std::uint64_t cookie) override;

  // While the engine takes a segment: `octets` octets of its payload, which should lie at `room`, were read to where
  // landing() said, or are at `source`. Null: none.
  void has_landed(const std::byte* room, std::size_t octets, const std::byte* source = nullptr) noexcept {
    landed_ = {room, octets, source};
  }

 private:
  using Lease = StagTable::Lease;
  static constexpr std::size_t kMaxLent = 16;  // regions whose octets one batch may borrow

  [[nodiscard]] std::expected<std::byte*, ddp::AccessError> remote(ddp::Stag stag, Access needed,
                                                                   ddp::TaggedOffset offset, std::uint64_t length);
  [[nodiscard]] std::expected<std::byte*, ddp::LocalFault> local(const Sge& sge, Access needed, std::uint64_t skip,
                                                                 std::uint64_t length);
  struct Landed {
    const std::byte* room{};
    std::size_t octets{};
    const std::byte* source{};  // null: they are in their place
  };
  // `to` and `from` are null for a null region.
  [[nodiscard]] bool put(std::byte* to, Bytes payload) const noexcept;
  [[nodiscard]] bool get(const std::byte* from, MutableBytes out) const noexcept;
  [[nodiscard]] bool hold(Lease& lease, std::uint32_t stag);
  [[nodiscard]] bool lend(std::uint32_t lkey);
  bool invalidate_own(std::uint32_t stag);
  void retire(std::shared_ptr<void> object);
  void retire(LocalWork work);
  std::expected<void, ddp::LocalFault> perform(const LocalInvalidate& work);
  std::expected<void, ddp::LocalFault> perform(const BindWindow& work);

  const std::shared_ptr<StagTable> table_;
  const bool checked_;
  Accessor who_{};
  std::shared_ptr<ReceiveQueue> receives_;
  std::weak_ptr<ReceiveWaiter> waiter_;
  ReceiveQueue::Taken receiving_{};  // the last one taken: DDP fills one at a time
  Landed landed_{};
  BoundedRing<LocalWork> local_{Device::limits().max_qp_wr};
  std::vector<std::shared_ptr<void>> retired_;  // regions and windows, until no lease is held; so above the leases
  Lease remote_lease_;                          // of the STag a peer used last
  Lease local_lease_;                           // of the lkey used last
  std::vector<Lease> lent_;                     // of what borrow() gave away
};

}  // namespace weft::verbs::detail
