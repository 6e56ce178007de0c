// SPDX-License-Identifier: Apache-2.0
/// @file
/// Devices (one per network interface) and protection domains, which create all other objects.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "rdmap/grant.hpp"
#include "transport/interfaces.hpp"
#include "verbs/async_event.hpp"
#include "verbs/completion.hpp"
#include "verbs/datagram.hpp"
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

/// Holds the limits of a device. They are the same for every device.
/// The maxima of objects apply to each open of a device. Creating more fails with Errc::kNoResources; the error names
/// the limit.
struct DeviceLimits {
  std::uint32_t max_pd = 65536;            ///< protection domains
  std::uint32_t max_mr = 1U << 20;         ///< memory regions
  std::uint32_t max_mw = 1U << 20;         ///< memory windows
  std::uint64_t max_mr_size = ~0ULL;       ///< octets of one region
  std::uint32_t max_cq = 65536;            ///< completion queues
  std::uint32_t max_cqe = 1U << 20;        ///< completions in one queue
  std::uint32_t max_qp = 65536;            ///< queue pairs
  std::uint32_t max_qp_wr = 16384;         ///< entries of one send or receive queue
  std::uint32_t max_sge = 32;              ///< segments of one work request
  std::uint32_t max_sge_rd = 1;            ///< segments of an RDMA Read's sink
  std::uint32_t max_inline = 256;          ///< octets of one work request with SendFlags::kInline
  std::uint32_t max_srq = 65536;           ///< shared receive queues
  std::uint32_t max_srq_wr = 65536;        ///< entries of one shared receive queue
  std::uint32_t max_ird = 128;             ///< concurrent inbound RDMA Reads and atomics of one queue pair
  std::uint32_t max_ord = 128;             ///< concurrent outbound RDMA Reads and atomics of one queue pair
  std::uint32_t max_message = 0xFFFFFFFF;  ///< octets of one message
};

/// Describes one device: a network interface of this host.
struct DeviceInfo {
  std::string name{};                ///< device name: "weft_lo", "weft_eth0"
  transport::Interface interface{};  ///< name, index, MTU, state and addresses of the interface
};

/// Specifies a completion queue.
struct CompletionQueueAttributes {
  std::uint32_t capacity = 256;        ///< completions that the queue holds; one more is an overflow
  const CompletionChannel* channel{};  ///< channel for the events of CompletionQueue::arm(), or null
  std::uint64_t context{};             ///< application's value, returned in completion events and async events
};

/// A protection domain: a queue pair can use only memory of its own domain (SEC-2.2.4-02).
/// Device::allocate_protection_domain() creates it. The objects created from a domain keep it alive. Thread-safe.
class ProtectionDomain {
 public:
  /// Registers `length` octets at `address`. Access::kNone permits local reading only.
  /// The memory must remain mapped until it is deregistered. Faults in all pages.
  ///
  /// Errors:
  ///  - Errc::kInvalidArgument: "length" if the range exceeds the address space; "iova" if the tagged offsets would
  ///    wrap; "only_for" if the queue pair is of another domain; "access" or "iova" if the options contradict each
  ///    other.
  ///  - kBadAddress if memory is unmapped, or not writable although `access` has Access::kLocalWrite. Before Linux 5.14
  ///    the first access detects this, not the registration.
  ///  - kNoResources beyond DeviceLimits::max_mr, and beyond set_exposed_memory_limit() ("length").
  [[nodiscard]] Result<MemoryRegion> register_memory(void* address, std::size_t length, Access access,
                                                     const RegionOptions& options = {});
  /// Registers memory that is only read: by gather lists and by RDMA Reads of peers (Access::kRemoteRead).
  /// Errors: as above.
  [[nodiscard]] Result<MemoryRegion> register_memory(const void* address, std::size_t length,
                                                     const RegionOptions& options = {});
  /// Creates a null region: reads through its lkey return zeros, and writes are discarded, at any address and length.
  /// Peers have no access.
  /// Errors: kNoResources beyond DeviceLimits::max_mr.
  [[nodiscard]] Result<MemoryRegion> register_null();
  /// Checks whether work requests of this domain may use the segments: `needed` is Access::kNone for sources, and
  /// kLocalWrite for receives and sinks. Returns the same verdict as a work request that is carried out at this moment,
  /// except for a region that is restricted to one queue pair, which passes.
  /// Errors: Errc::kInvalidKey, "lkey", if a key is unknown or was deregistered, or if it belongs to another domain;
  /// kBadAddress, "access" or "length", if the region is not writable, or the segment is not inside it.
  [[nodiscard]] Result<void> check(const Sge& segment, Access needed) const;
  /// Allocates an unbound memory window. A work request binds it (WindowBind).
  /// Errors: Errc::kNoResources beyond DeviceLimits::max_mw.
  [[nodiscard]] Result<MemoryWindow> allocate_window(WindowType type = WindowType::kType2);
  /// Creates a queue pair in RESET.
  /// The completion queues must be created from the same open of the device, and the shared receive queue from this
  /// domain.
  /// Errors: Errc::kInvalidArgument names an attribute that is missing or belongs elsewhere; kLimitExceeded names one
  /// that exceeds DeviceLimits; kNoResources beyond DeviceLimits::max_qp.
  [[nodiscard]] Result<QueuePair> create_queue_pair(const QueuePairAttributes& attributes);
  /// Creates a queue pair for datagrams in RESET. It receives at the UDP port `local`, where port 0 selects a free one.
  /// QueuePairAttributes::number must be 0: the port decides.
  /// Errors: those of create_queue_pair(); Errc::kInvalidArgument for a port below 1024; kAddressInUse or kSystem for a
  /// port that cannot be opened.
  [[nodiscard]] Result<DatagramQueuePair> create_datagram_queue_pair(const QueuePairAttributes& attributes,
                                                                     const Endpoint& local);
  /// Creates a shared receive queue.
  /// Errors: Errc::kInvalidArgument if max_wr is 0 or less than `limit`; kLimitExceeded beyond
  /// DeviceLimits::max_srq_wr and max_sge; kNoResources beyond DeviceLimits::max_srq.
  [[nodiscard]] Result<SharedReceiveQueue> create_shared_receive_queue(
      const SharedReceiveQueueAttributes& attributes = {});

 private:
  friend class Device;
  [[nodiscard]] Result<MemoryRegion> make_region(const rdmap::Grant& grant);
  [[nodiscard]] Result<std::shared_ptr<detail::ReceiveQueue>> receives_for(const QueuePairAttributes& attributes) const;
  detail::Handle<detail::ProtectionDomainState> self_;
};

/// An open device. Several opens of one interface are independent of each other.
/// Objects created from a device may outlive it. Thread-safe.
class Device {
 public:
  /// Returns the devices of this host, one per network interface, in the order of the interfaces' indexes.
  [[nodiscard]] static Result<std::vector<DeviceInfo>> list();
  /// Opens a device by device name ("weft_eth0") or interface name ("eth0").
  /// Errors: Errc::kNoDevice if there is no such device; kSystem, with os_error, if the process cannot have more
  /// descriptors or threads.
  [[nodiscard]] static Result<Device> open(std::string_view name);
  /// Opens the device that owns this local address. A wildcard address selects the loopback device.
  /// Errors: as above.
  [[nodiscard]] static Result<Device> open(const Address& local);

  /// Returns the description of the device at the time of the open.
  [[nodiscard]] const DeviceInfo& info() const noexcept;
  /// Returns the limits of every device; static storage.
  [[nodiscard]] static const DeviceLimits& limits() noexcept;

  /// Allocates a protection domain. Errors: Errc::kNoResources beyond DeviceLimits::max_pd.
  [[nodiscard]] Result<ProtectionDomain> allocate_protection_domain();
  /// Creates a completion queue.
  /// Errors: Errc::kLimitExceeded if the capacity is 0 or more than DeviceLimits::max_cqe; kNoResources beyond
  /// DeviceLimits::max_cq.
  [[nodiscard]] Result<CompletionQueue> create_completion_queue(const CompletionQueueAttributes& attributes = {});

  /// Returns a descriptor that is readable while async events of this device's objects are pending.
  /// weft owns the descriptor: the program must not close it, but may poll it, duplicate it, or make it non-blocking.
  [[nodiscard]] int async_descriptor() const noexcept;
  /// Returns the next async event. Waits for one unless the descriptor is non-blocking.
  /// Errors: Errc::kWouldBlock if the descriptor is non-blocking and no event is pending; kInterrupted if a signal
  /// arrives.
  [[nodiscard]] Result<AsyncEvent> get_async_event() const;

 private:
  friend Result<Device> detail::open_device(DeviceInfo info, const DeviceLimits& limits);
  detail::Handle<detail::DeviceState> self_;
};

}  // namespace weft::verbs
