// SPDX-License-Identifier: Apache-2.0
// What a device is and can do, as ibv_query_device(3), ibv_query_device_ex(3), ibv_query_port(3) and ibv_query_gid(3)
// tell it.
#include <algorithm>
#include <array>
#include <bit>
#include <cstring>

#include "compat/objects/context.hpp"
#include "compat/objects/report.hpp"
#include "compat/objects/settings.hpp"
#include "transport/interfaces.hpp"
#include "verbs/device.hpp"

namespace weft::compat {

namespace {

constexpr std::uint8_t kPort = 1;
constexpr std::uint32_t kPkey = 0xffff;

// Copies a structure to a caller that knows more or fewer members of it. Members that only the caller has are zero.
template <typename T>
void give(const T& ours, void* theirs, std::size_t size) {
  std::memset(theirs, 0, size);
  std::memcpy(theirs, &ours, std::min(size, sizeof ours));
}

// What fits in a segment, as the next smaller of the five sizes that InfiniBand knows.
ibv_mtu mtu_of(std::uint32_t octets) {
  if (octets >= 4096) return IBV_MTU_4096;
  if (octets >= 2048) return IBV_MTU_2048;
  if (octets >= 1024) return IBV_MTU_1024;
  return octets >= 512 ? IBV_MTU_512 : IBV_MTU_256;
}

void fill_limits(ibv_device_attr& a) {
  const verbs::DeviceLimits& limits = verbs::Device::limits();
  const auto whole = [](std::uint32_t value) { return static_cast<int>(value); };
  a.max_mr_size = limits.max_mr_size;
  a.max_qp = whole(limits.max_qp);
  a.max_qp_wr = whole(limits.max_qp_wr);
  a.max_sge = whole(limits.max_sge);
  a.max_sge_rd = whole(limits.max_sge_rd);
  a.max_cq = whole(limits.max_cq);
  a.max_cqe = whole(limits.max_cqe);
  a.max_mr = whole(limits.max_mr);
  a.max_mw = whole(limits.max_mw);
  a.max_pd = whole(limits.max_pd);
  a.max_qp_rd_atom = whole(limits.max_ird);
  a.max_qp_init_rd_atom = whole(limits.max_ord);
  a.max_res_rd_atom = whole(limits.max_ird * limits.max_qp);
  a.max_ah = whole(limits.max_qp);         // one for each queue pair
  a.max_mcast_grp = whole(limits.max_qp);  // as many as are joined: each is one of the host's
  a.max_mcast_qp_attach = whole(limits.max_qp);
  a.max_total_mcast_qp_attach = whole(limits.max_qp);
  a.max_srq = whole(limits.max_srq);
  a.max_srq_wr = whole(limits.max_srq_wr);
  a.max_srq_sge = whole(limits.max_sge);
}

// Atomics are atomic with those of all queue pairs of this process, and not with the processor's (RFC 7306 section 5).
ibv_device_attr attributes_of(const Device& device) {
  ibv_device_attr a{};
  std::strcpy(a.fw_ver, "0.1.0");
  a.node_guid = device_guid(device);
  a.sys_image_guid = a.node_guid;
  a.page_size_cap = 4096;
  a.vendor_id = 0x626d74;  // Linux siw's. One that belongs to a vendor would turn that vendor's code paths on.
  a.vendor_part_id = device.info.interface.index;
  a.device_cap_flags =
      IBV_DEVICE_MEM_MGT_EXTENSIONS | IBV_DEVICE_MEM_WINDOW | IBV_DEVICE_MEM_WINDOW_TYPE_2B | IBV_DEVICE_SRQ_RESIZE;
  a.atomic_cap = IBV_ATOMIC_HCA;
  a.max_pkeys = 1;
  a.phys_port_cnt = 1;
  fill_limits(a);
  return a;
}

// The last two octets of an IPv4 address: for programs that know no GIDs (qperf).
std::uint16_t lid_of(const Device& device) {
  const auto address = device_address(device);
  if (!address || address->family != transport::Family::kIpv4) return 0;
  return static_cast<std::uint16_t>(std::to_integer<unsigned>(address->octets[2]) << 8 |
                                    std::to_integer<unsigned>(address->octets[3]));
}

ibv_port_attr port_of(const Device& device, const transport::Interface& interface) {
  ibv_port_attr a{};
  a.lid = lid_of(device);
  a.state = interface.up ? IBV_PORT_ACTIVE : IBV_PORT_DOWN;
  a.max_mtu = a.active_mtu = mtu_of(interface.mtu);
  a.gid_tbl_len = 1;
  a.port_cap_flags = IBV_PORT_CM_SUP | IBV_PORT_DEVICE_MGMT_SUP;
  a.max_msg_sz = verbs::Device::limits().max_message;
  a.pkey_tbl_len = 1;
  a.active_width = 2;  // 4X ...
  a.active_speed = 1;  // ... of 2.5 Gb/s: what the path really carries is not known
  a.phys_state = interface.up ? 5 : 3;
  a.link_layer = IBV_LINK_LAYER_ETHERNET;
  return a;
}

// As it is now; what was known of it, if that cannot be had. One that is gone is down.
transport::Interface interface_now(const Device& device) {
  const auto interfaces = transport::enumerate_interfaces();
  if (!interfaces) return device.info.interface;
  const auto& known = device.info.interface;
  const auto now = std::ranges::find_if(
      *interfaces, [&](const auto& one) { return one.index == known.index && one.name == known.name; });
  if (now != interfaces->end()) return *now;
  transport::Interface gone = known;
  gone.up = false;
  return gone;
}

}  // namespace

int query_device(ibv_context* context, ibv_device_attr* attributes) noexcept {
  *attributes = attributes_of(of(context).device());
  return 0;
}

int query_device_ex(ibv_context* context, const ibv_query_device_ex_input* input, ibv_device_attr_ex* attributes,
                    std::size_t size) noexcept {
  if (input != nullptr && input->comp_mask != 0) {
    return refused("ibv_query_device_ex", EINVAL, "an input that is not known");
  }
  if (size < sizeof(ibv_device_attr)) return refused("ibv_query_device_ex", EINVAL, "the structure is too small");
  ibv_device_attr_ex extended{};
  extended.orig_attr = attributes_of(of(context).device());
  extended.device_cap_flags_ex = extended.orig_attr.device_cap_flags;
  extended.phys_port_cnt_ex = 1;
  give(extended, attributes, size);
  return 0;
}

int query_port(ibv_context* context, std::uint8_t port, ibv_port_attr* attributes, std::size_t size) noexcept {
  if (port != kPort) return refused("ibv_query_port", EINVAL, "every device has one port: 1");
  return guarded_errno([&] {
    const Device& device = of(context).device();
    give(port_of(device, interface_now(device)), attributes, size);
    return 0;
  });
}

// One entry: the address, as RoCE v2 has it. Without one, as siw has it: the hardware address in the first octets.
int query_gid(ibv_context* context, std::uint8_t port, int index, ibv_gid* gid) noexcept {
  if (port != kPort || index != 0) return refused_minus_one("ibv_query_gid", EINVAL, "only GID 0 of port 1 exists");
  const Device& device = of(context).device();
  *gid = {};
  if (const auto address = device_address(device)) {
    const auto octets = address->to_ipv6();
    std::memcpy(gid->raw, octets.data(), octets.size());
  } else {
    const auto guid = std::bit_cast<std::array<std::uint8_t, 8>>(device_guid(device));
    std::ranges::copy(guid, gid->raw);
  }
  return 0;
}

std::uint32_t gid_type() { return device_kind() == verbs::DeviceKind::kRoce ? IBV_GID_TYPE_ROCE_V2 : IBV_GID_TYPE_IB; }

std::uint32_t gid_interface(ibv_context* context) {
  return device_kind() == verbs::DeviceKind::kRoce ? of(context).device().info.interface.index : 0;
}

int query_pkey(ibv_context*, std::uint8_t port, int index, std::uint16_t* pkey) noexcept {
  if (port != kPort || index != 0) return refused_minus_one("ibv_query_pkey", EINVAL, "there is key 0 of port 1 alone");
  *pkey = kPkey;
  return 0;
}

}  // namespace weft::compat
