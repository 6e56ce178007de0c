// SPDX-License-Identifier: Apache-2.0
// Devices (one per network interface) and protection domains: where everything else is made.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "transport/interfaces.hpp"
#include "verbs/async_event.hpp"
#include "verbs/completion.hpp"
#include "verbs/endpoint.hpp"
#include "verbs/memory.hpp"
#include "verbs/queue_pair.hpp"
#include "verbs/shared_receive_queue.hpp"

namespace weft::verbs {

class Device;
struct DeviceInfo;
struct DeviceLimits;

namespace detail {
class DeviceState;
class ProtectionDomainState;
Result<Device> open_device(DeviceInfo info, const DeviceLimits& limits);
}  // namespace detail

// What one device can do. The same for every device. The counts of objects hold for each open of a device: one more is
// refused with Errc::kNoResources, which names the limit.
struct DeviceLimits {
  std::uint32_t max_pd = 65536;            // protection domains
  std::uint32_t max_mr = 1U << 20;         // memory regions
  std::uint32_t max_mw = 1U << 20;         // memory windows
  std::uint64_t max_mr_size = ~0ULL;       // octets of one region
  std::uint32_t max_cq = 65536;            // completion queues
  std::uint32_t max_cqe = 1U << 20;        // completions that one queue holds
  std::uint32_t max_qp = 65536;            // queue pairs
  std::uint32_t max_qp_wr = 16384;         // uncompleted work requests of one send or receive queue
  std::uint32_t max_sge = 16;              // segments of one work request
  std::uint32_t max_sge_rd = 1;            // segments of an RDMA Read's sink
  std::uint32_t max_inline = 256;          // octets of one work request with SendFlags::kInline
  std::uint32_t max_srq = 65536;           // shared receive queues
  std::uint32_t max_srq_wr = 65536;        // receives of one of them
  std::uint32_t max_ird = 128;             // inbound reads and atomics per queue pair
  std::uint32_t max_ord = 128;             // outbound reads and atomics per queue pair
  std::uint32_t max_message = 0xFFFFFFFF;  // octets of one message
};

// One device: a network interface of this host.
struct DeviceInfo {
  std::string name{};                // "weft_lo", "weft_eth0"
  transport::Interface interface{};  // its name, index, MTU, state and addresses
};

// What a completion queue is made with.
struct CompletionQueueAttributes {
  std::uint32_t capacity = 256;        // completions that it holds; one more is an overflow
  const CompletionChannel* channel{};  // where armed completions are announced
  std::uint64_t context{};             // comes back in completion and async events
};

// A protection domain: memory and queue pairs only meet inside one (SEC-2.2.4-02). Its objects keep it alive.
class ProtectionDomain {
 public:
  // Refused as Errc::kInvalidArgument: a range that runs past the end of the address space ("length"), tagged offsets
  // that would wrap ("iova"), a queue pair of another domain ("only_for"), rights that contradict each other
  // ("access"). Faults the whole range in, so memory that is unmapped or lacks the right to be written is refused here.
  // Errc::kNoResources beyond DeviceLimits::max_mr, and beyond set_exposed_memory_limit() ("length").
  [[nodiscard]] Result<MemoryRegion> register_memory(void* address, std::size_t length, Access access,
                                                     const RegionOptions& options = {});
  // For memory that is only read from: gather lists, remote reads. Refused as above.
  [[nodiscard]] Result<MemoryRegion> register_memory(const void* address, std::size_t length,
                                                     const RegionOptions& options = {});
  // Not bound yet: a work request does that (WindowBind). Errc::kNoResources beyond DeviceLimits::max_mw.
  [[nodiscard]] Result<MemoryWindow> allocate_window(WindowType type = WindowType::kType2);
  // Its completion queues come from this domain's device (this open of it), a shared receive queue from this domain.
  // Errc::kInvalidArgument names what is missing or comes from elsewhere, kLimitExceeded what the device cannot do;
  // kNoResources beyond DeviceLimits::max_qp.
  [[nodiscard]] Result<QueuePair> create_queue_pair(const QueuePairAttributes& attributes);
  // Its size, segments and limit are checked: Errc::kInvalidArgument, or kLimitExceeded beyond what the device can do.
  [[nodiscard]] Result<SharedReceiveQueue> create_shared_receive_queue(
      const SharedReceiveQueueAttributes& attributes = {});

 private:
  friend class Device;
  detail::Handle<detail::ProtectionDomainState> self_;
};

// An opened device. Several opens of one interface are independent.
class Device {
 public:
  // All interfaces of this host, in the order of their index.
  [[nodiscard]] static Result<std::vector<DeviceInfo>> list();
  // By device name or interface name. Errc::kNoDevice when there is none; kSystem, with os_error, where the process can
  // have no more descriptors or threads.
  [[nodiscard]] static Result<Device> open(std::string_view name);
  // The device that owns this local address; a wildcard address gives the loopback device. Errors as above.
  [[nodiscard]] static Result<Device> open(const Address& local);

  [[nodiscard]] const DeviceInfo& info() const noexcept;       // as it was when the device was opened
  [[nodiscard]] static const DeviceLimits& limits() noexcept;  // static storage

  // Errc::kNoResources beyond DeviceLimits::max_pd.
  [[nodiscard]] Result<ProtectionDomain> allocate_protection_domain();
  // Errc::kLimitExceeded when the capacity is 0 or more than DeviceLimits::max_cqe; kNoResources beyond max_cq.
  [[nodiscard]] Result<CompletionQueue> create_completion_queue(const CompletionQueueAttributes& attributes = {});

  // Async events of the objects made from this device. The descriptor behaves like a completion channel's.
  [[nodiscard]] int async_descriptor() const noexcept;
  // Waits for an event, unless the descriptor is non-blocking (Errc::kWouldBlock) or a signal arrives (kInterrupted).
  [[nodiscard]] Result<AsyncEvent> get_async_event() const;

 private:
  friend Result<Device> detail::open_device(DeviceInfo info, const DeviceLimits& limits);
  detail::Handle<detail::DeviceState> self_;
};

}  // namespace weft::verbs
