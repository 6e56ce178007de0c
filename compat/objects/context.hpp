// SPDX-License-Identifier: Apache-2.0
// Devices and their opens, as libibverbs' structures with our part behind them. The derived objects of this folder all
// follow one pattern: the C structure is the base class, so that the pointer that a program holds is ours, one
// static_cast away.
#pragma once

#include <infiniband/verbs.h>
#undef ibv_get_device_list  // macros and inline functions of the header, over the names that we define
#undef ibv_query_port
#undef ibv_reg_mr
#undef ibv_reg_mr_iova

#include <cstddef>
#include <optional>
#include <string>

#include "compat/objects/acknowledgements.hpp"
#include "compat/objects/living.hpp"
#include "compat/objects/registry.hpp"
#include "compat/objects/users.hpp"
#include "verbs/device.hpp"

namespace weft::compat {

// One per interface that was ever seen; never freed, so a pointer from one list is good in the next.
struct Device : ibv_device {
  verbs::DeviceInfo info{};  // as of the last listing
};

struct Context : verbs_context {
  Context(Device& device, verbs::Device opened);
  ~Context();
  Context(const Context&) = delete;
  Context& operator=(const Context&) = delete;
  [[nodiscard]] Device& device() const noexcept { return static_cast<Device&>(*context.device); }
  verbs::Device engine;
  const Alive<ibv_context> alive{&context};
};

inline Context& of(ibv_context* context) noexcept { return *static_cast<Context*>(verbs_get_ctx(context)); }
inline Device& of(ibv_device* device) noexcept { return *static_cast<Device*>(device); }

// A program's promise that one thread at a time uses the objects of a parent domain: nothing here needs it.
struct Td : ibv_td {
  explicit Td(ibv_context* opened) : ibv_td{.context = opened} {}
  Users users{};
  const Alive<Td> alive{this};
};
inline Td& of(ibv_td* td) noexcept { return *static_cast<Td*>(td); }

struct Pd : ibv_pd {
  verbs::ProtectionDomain engine;
  Users users;
  const Use domain_use;  // of a parent domain, which is the same domain for the engine
  const Use thread_use;
  const Alive<Pd> alive{this};
  explicit Pd(ibv_context* opened, verbs::ProtectionDomain domain, Users* parent_of = nullptr, Users* threads = nullptr)
      : ibv_pd{.context = opened, .handle = 0}, engine(std::move(domain)), domain_use(parent_of), thread_use(threads) {}
};
inline Pd& of(ibv_pd* pd) noexcept { return *static_cast<Pd*>(pd); }

// --- Devices
ibv_device** get_device_list(int* count) noexcept;
void free_device_list(ibv_device** list) noexcept;
struct FreeDeviceList {
  void operator()(ibv_device** list) const noexcept { free_device_list(list); }
};
// Returns whether other hosts can be reached through it: not the loopback one, up, and with an address.
bool leads_somewhere(const verbs::DeviceInfo& info) noexcept;
// The device that has this local address; null when there is none.
Device* find_device(const verbs::Address& local);
// Its first IPv4 address, or else IPv6: the GID, and where queue pairs listen that the program connects itself. Nothing
// if it has none.
std::optional<verbs::Address> device_address(const Device& device);
std::uint64_t device_guid(const Device& device) noexcept;  // network byte order

// --- Opens
ibv_context* open_device(ibv_device* device) noexcept;
int close_device(ibv_context* context) noexcept;
// The open of a device that the connection manager hands out as rdma_cm_id::verbs, and its default protection domain;
// both live as long as the process. Null, with errno, when the device cannot be opened.
Context* shared_context(Device& device);
Pd* shared_domain(Context& context);

// --- What a device is and can do
int query_device(ibv_context* context, ibv_device_attr* attributes) noexcept;
int query_device_ex(ibv_context* context, const ibv_query_device_ex_input* input, ibv_device_attr_ex* attributes,
                    std::size_t size) noexcept;
// `size`: how much of the structure the caller knows.
int query_port(ibv_context* context, std::uint8_t port, ibv_port_attr* attributes, std::size_t size) noexcept;
int query_gid(ibv_context* context, std::uint8_t port, int index, ibv_gid* gid) noexcept;  // -1 and errno
// Return type and interface of every GID as the kernel does: a GID that is not of RoCE has type IB and interface 0.
std::uint32_t gid_type();
std::uint32_t gid_interface(ibv_context* context);
int query_pkey(ibv_context* context, std::uint8_t port, int index, std::uint16_t* pkey) noexcept;  // -1 and errno

ibv_pd* alloc_pd(ibv_context* context) noexcept;
int dealloc_pd(ibv_pd* pd) noexcept;
ibv_td* alloc_td(ibv_context* context, ibv_td_init_attr* attributes) noexcept;
int dealloc_td(ibv_td* td) noexcept;
ibv_pd* alloc_parent_domain(ibv_context* context, ibv_parent_domain_init_attr* attributes) noexcept;

// --- Asynchronous events
int get_async_event(ibv_context* context, ibv_async_event* event);  // -1 and errno
void ack_async_event(ibv_async_event* event) noexcept;

}  // namespace weft::compat
