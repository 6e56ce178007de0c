// SPDX-License-Identifier: Apache-2.0
#include <sys/mman.h>
#include <unistd.h>

#include <bit>
#include <cerrno>
#include <limits>

#include "verbs/datagram/datagram_queue_pair_state.hpp"
#include "verbs/device.hpp"
#include "verbs/memory/exposed_memory.hpp"
#include "verbs/memory/receive_queue.hpp"
#include "verbs/memory/region_state.hpp"
#include "verbs/objects/argument_checks.hpp"
#include "verbs/objects/completion_queue_state.hpp"
#include "verbs/objects/queue_pair_state.hpp"
#include "verbs/progress/runtime.hpp"

namespace weft::verbs {

namespace {

Result<void> within(std::uint32_t value, std::uint32_t limit, std::string_view argument) {
  if (value > limit) return fail(Errc::kLimitExceeded, argument, "larger than the device's limit");
  return {};
}

std::uintptr_t page_size() {
  static const auto size = static_cast<std::uintptr_t>(sysconf(_SC_PAGESIZE));
  return size;
}

int populate(std::uintptr_t first, std::size_t length, int advice) {
  int result = 0;
  do {
    result = madvise(std::bit_cast<void*>(first), length, advice);
  } while (result != 0 && (errno == EINTR || errno == EAGAIN));
  return result;
}

// Linux before 5.14 does not know the question; then a mistake shows at the first access.
bool can_ask() {
  static const bool known = [] {
    alignas(4096) static const std::byte page[4096]{};
    return page_size() != sizeof page ||
           populate(std::bit_cast<std::uintptr_t>(&page[0]), sizeof page, MADV_POPULATE_READ) == 0;
  }();
  return known;
}

// SEC-2.2.2-01, SEC-7.3-01, DDP-8.3.2-05, RDMAP-8.1.2-04: a caller exposes only memory that it may read, or write,
// itself. The kernel answers by faulting the pages in, which changes nothing in them; so a peer's access later neither
// faults nor waits.
Result<void> fault_in(std::byte* start, std::size_t length, bool writable) {
  if (length == 0 || !can_ask()) return {};
  const auto first = std::bit_cast<std::uintptr_t>(start) & ~(page_size() - 1);
  const auto end = std::bit_cast<std::uintptr_t>(start) + length;
  const std::size_t span = (end - first + page_size() - 1) & ~(page_size() - 1);
  if (populate(first, span, writable ? MADV_POPULATE_WRITE : MADV_POPULATE_READ) == 0) return {};
  return fail(Errc::kBadAddress, "address",
              writable ? "not all of it is mapped and writable" : "not all of it is mapped", EFAULT);
}

// Its last page included, so that rounding up to pages does not wrap.
bool inside_address_space(std::uintptr_t start, std::size_t length) {
  constexpr auto kEnd = std::numeric_limits<std::uintptr_t>::max();
  return length == 0 || (start <= kEnd - length && start + length <= kEnd - page_size());
}

}  // namespace

// The owner says which octets, at which offsets, with which rights and for which stream (RDMAP-3.2-10, DDP-8.3-03).
Result<MemoryRegion> ProtectionDomain::register_memory(void* address, std::size_t length, Access access,
                                                       const RegionOptions& options) {
  if (const auto sound = detail::check(access); !sound) return std::unexpected(sound.error());
  auto* start = static_cast<std::byte*>(address);
  const bool zero_based = has(access, Access::kZeroBased);
  if (zero_based && options.iova) return fail(Errc::kInvalidArgument, "iova", "contradicts zero-based access");
  if (!inside_address_space(std::bit_cast<std::uintptr_t>(address), length)) {
    return fail(Errc::kInvalidArgument, "length", "runs past the end of the address space");
  }
  if (options.only_for != nullptr && options.only_for->self_->domain->number != self_->number) {
    return fail(Errc::kInvalidArgument, "only_for", "belongs to another protection domain");
  }
  const std::uint64_t iova = zero_based ? 0 : options.iova.value_or(std::bit_cast<std::uintptr_t>(address));
  if (length != 0 && iova + (length - 1) < iova)
    return fail(Errc::kInvalidArgument, "iova", "tagged offsets would wrap");
  const auto mapped = options.on_demand ? Result<void>{} : fault_in(start, length, has(access, Access::kLocalWrite));
  if (!mapped) return std::unexpected(mapped.error());
  const std::uint64_t stream = options.only_for != nullptr ? options.only_for->self_->identity : 0;
  return make_region({.start = start, .length = length, .first_offset = iova, .access = access, .only_stream = stream});
}

Result<MemoryRegion> ProtectionDomain::register_null() {
  return make_region(
      {.length = std::numeric_limits<std::uint64_t>::max(), .access = Access::kLocalWrite, .null = true});
}

Result<MemoryRegion> ProtectionDomain::make_region(const rdmap::Grant& grant) {
  auto share = detail::Quota::take(self_->device->quotas.regions);
  if (!share) return std::unexpected(share.error());
  auto exposed = detail::expose(static_cast<std::size_t>(grant.length), grant.access);
  if (!exposed) return std::unexpected(exposed.error());
  auto state = detail::RegionState::create(self_.runtime->stags(), self_.state, grant,
                                           {.of_device = std::move(*share), .exposed = std::move(*exposed)});
  if (!state) return fail(Errc::kNoResources, "region", "no STag is left");
  MemoryRegion region;
  region.self_ = {self_.runtime, std::move(state)};
  return region;
}

Result<MemoryRegion> ProtectionDomain::register_memory(const void* address, std::size_t length,
                                                       const RegionOptions& options) {
  // Without local write access nothing writes there.
  return register_memory(const_cast<void*>(address), length, Access::kRemoteRead, options);
}

Result<void> ProtectionDomain::check(const Sge& segment, Access needed) const {
  if (segment.length == 0) return {};
  const auto lease = self_.runtime->stags()->lease(segment.lkey);
  if (!lease) return fail(Errc::kInvalidKey, "lkey", "unknown, or its region was deregistered");
  const rdmap::Grant& grant = lease->grant();
  const auto found = rdmap::resolve_local(grant, {.domain = self_->number, .stream = grant.only_stream}, needed,
                                          segment.address, segment.length);
  if (found) return {};
  switch (found.error()) {
    case ddp::LocalFault::kInvalidKey: break;
    case ddp::LocalFault::kAccessRights: return fail(Errc::kBadAddress, "access", "the region is not writable");
    case ddp::LocalFault::kBaseOrBounds: return fail(Errc::kBadAddress, "length", "not all of it is inside the region");
  }
  return fail(Errc::kInvalidKey, "lkey", "belongs to a window or to another protection domain");
}

Result<MemoryWindow> ProtectionDomain::allocate_window(WindowType type) {
  auto share = detail::Quota::take(self_->device->quotas.windows);
  if (!share) return std::unexpected(share.error());
  auto state = detail::WindowState::create(self_.runtime->stags(), self_.state, std::move(*share), type);
  if (!state) return fail(Errc::kNoResources, "window", "no STag is left");
  MemoryWindow window;
  window.self_ = {self_.runtime, std::move(state)};
  return window;
}

Result<SharedReceiveQueue> ProtectionDomain::create_shared_receive_queue(
    const SharedReceiveQueueAttributes& attributes) {
  const DeviceLimits& limits = Device::limits();
  if (attributes.max_wr == 0) return fail(Errc::kInvalidArgument, "max_wr", "zero");
  if (const auto fits = within(attributes.max_wr, limits.max_srq_wr, "max_wr"); !fits)
    return std::unexpected(fits.error());
  if (const auto fits = within(attributes.max_sge, limits.max_sge, "max_sge"); !fits)
    return std::unexpected(fits.error());
  if (attributes.limit > attributes.max_wr) return fail(Errc::kInvalidArgument, "limit", "larger than the queue");
  auto share = detail::Quota::take(self_->device->quotas.shared_receive_queues);
  if (!share) return std::unexpected(share.error());
  const detail::ReceiveQueue::Shape shape{.max_wr = attributes.max_wr,
                                          .max_sge = attributes.max_sge,
                                          .limit = attributes.limit,
                                          .context = attributes.context,
                                          .shared = true};
  SharedReceiveQueue queue;
  queue.self_ = {self_.runtime, std::make_shared<detail::ReceiveQueue>(self_.state, shape, std::move(*share))};
  return queue;
}

namespace {

Result<void> check_all(const QueuePairAttributes& attributes) {
  const DeviceLimits& limits = Device::limits();
  if (attributes.send_cq == nullptr) return fail(Errc::kInvalidArgument, "send_cq", "missing");
  if (attributes.receive_cq == nullptr) return fail(Errc::kInvalidArgument, "receive_cq", "missing");
  constexpr std::uint32_t kLowest = QueuePairAttributes::kHighestAssignedNumber + 1;
  constexpr std::uint32_t kHighest = detail::QueuePairNumbers::kHighest;
  if (attributes.number != 0 && (attributes.number < kLowest || attributes.number > kHighest)) {
    return fail(Errc::kInvalidArgument, "number", "reserved for weft, or more than 24 bits");
  }
  if (attributes.max_send_wr == 0) return fail(Errc::kInvalidArgument, "max_send_wr", "zero");
  for (const auto& fits : {within(attributes.max_send_wr, limits.max_qp_wr, "max_send_wr"),
                           within(attributes.max_receive_wr, limits.max_qp_wr, "max_receive_wr"),
                           within(attributes.max_send_sge, limits.max_sge, "max_send_sge"),
                           within(attributes.max_receive_sge, limits.max_sge, "max_receive_sge"),
                           within(attributes.max_inline, limits.max_inline, "max_inline")}) {
    if (!fits) return fits;
  }
  return {};
}

}  // namespace

Result<std::shared_ptr<detail::ReceiveQueue>> ProtectionDomain::receives_for(
    const QueuePairAttributes& attributes) const {
  if (const auto sound = check_all(attributes); !sound) return std::unexpected(sound.error());
  const detail::DeviceState& device = *self_->device;
  if (!attributes.send_cq->self_->belongs_to(device)) {
    return fail(Errc::kInvalidArgument, "send_cq", "belongs to another opened device");
  }
  if (!attributes.receive_cq->self_->belongs_to(device)) {
    return fail(Errc::kInvalidArgument, "receive_cq", "belongs to another opened device");
  }
  if (attributes.srq == nullptr) {
    const detail::ReceiveQueue::Shape shape{.max_wr = attributes.max_receive_wr, .max_sge = attributes.max_receive_sge};
    return std::make_shared<detail::ReceiveQueue>(self_.state, shape);
  }
  auto receives = attributes.srq->self_.state;
  if (receives->domain().number != self_->number) {
    return fail(Errc::kInvalidArgument, "srq", "belongs to another protection domain");
  }
  return receives;
}

Result<QueuePair> ProtectionDomain::create_queue_pair(const QueuePairAttributes& attributes) {
  auto receives = receives_for(attributes);
  if (!receives) return std::unexpected(receives.error());
  auto share = detail::Quota::take(self_->device->quotas.queue_pairs);
  if (!share) return std::unexpected(share.error());
  detail::QueuePairNumber number;
  if (attributes.number == 0)
    number = detail::QueuePairNumber(detail::QueuePairNumbers::of_process().take().value_or(0));
  if (attributes.number == 0 && number.value() == 0) {
    return fail(Errc::kNoResources, "queue pair", "no number is left");
  }
  QueuePair pair;
  pair.self_ = {self_.runtime, std::make_shared<detail::QueuePairState>(
                                   detail::QueuePairState::Parts{.stags = self_.runtime->stags(),
                                                                 .domain = self_.state,
                                                                 .send_cq = attributes.send_cq->self_.state,
                                                                 .receive_cq = attributes.receive_cq->self_.state,
                                                                 .receives = std::move(*receives)},
                                   attributes, std::move(number), std::move(*share))};
  return pair;
}

Result<DatagramQueuePair> ProtectionDomain::create_datagram_queue_pair(const QueuePairAttributes& attributes,
                                                                       const Endpoint& local) {
  if (attributes.number != 0) return fail(Errc::kInvalidArgument, "number", "the port decides a datagram queue pair's");
  auto receives = receives_for(attributes);
  if (!receives) return std::unexpected(receives.error());
  auto share = detail::Quota::take(self_->device->quotas.queue_pairs);
  if (!share) return std::unexpected(share.error());
  auto socket = transport::DatagramSocket::bind(local);
  if (!socket) {
    const bool in_use = socket.error() == std::errc::address_in_use;
    return fail(in_use ? Errc::kAddressInUse : Errc::kSystem, "local", "no UDP port can be opened there",
                socket.error().value());
  }
  const std::uint32_t number = DatagramQueuePair::number_at(socket->local().port);
  if (number <= QueuePairAttributes::kHighestAssignedNumber) {
    return fail(Errc::kInvalidArgument, "local", "the port is below 1024");
  }
  if (number == DatagramQueuePair::kMulticastNumber) {
    return fail(Errc::kAddressInUse, "local", "port 65535 is that of multicast groups");
  }
  DatagramQueuePair pair;
  pair.self_ = {self_.runtime,
                std::make_shared<detail::DatagramQueuePairState>(
                    detail::DatagramQueuePairState::Parts{.runtime = *self_.runtime,
                                                          .domain = self_.state,
                                                          .send_cq = attributes.send_cq->self_.state,
                                                          .receive_cq = attributes.receive_cq->self_.state,
                                                          .receives = std::move(*receives)},
                    attributes, std::move(*socket), std::move(*share))};
  return pair;
}

}  // namespace weft::verbs
