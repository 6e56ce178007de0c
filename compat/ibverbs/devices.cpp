// SPDX-License-Identifier: Apache-2.0
// Finding, opening and asking devices.
#include "compat/entry.hpp"
#include "compat/objects/context.hpp"

using namespace weft;

WEFT_DEFAULT_VERSION(ibv_get_device_list, "IBVERBS_1.1");
WEFT_ENTRY ibv_device** ibv_get_device_list(int* num_devices) { return compat::get_device_list(num_devices); }

WEFT_DEFAULT_VERSION(ibv_free_device_list, "IBVERBS_1.1");
WEFT_ENTRY void ibv_free_device_list(ibv_device** list) { compat::free_device_list(list); }

WEFT_DEFAULT_VERSION(ibv_get_device_name, "IBVERBS_1.1");
WEFT_ENTRY const char* ibv_get_device_name(ibv_device* device) { return device->name; }

WEFT_DEFAULT_VERSION(ibv_get_device_guid, "IBVERBS_1.1");
WEFT_ENTRY __be64 ibv_get_device_guid(ibv_device* device) { return compat::device_guid(compat::of(device)); }

// The kernel's number of an RDMA device, which ours have not: the answer that ibv_get_device_index(3) has for that.
WEFT_ENTRY int ibv_get_device_index(ibv_device*) { return -1; }

WEFT_DEFAULT_VERSION(ibv_open_device, "IBVERBS_1.1");
WEFT_ENTRY ibv_context* ibv_open_device(ibv_device* device) { return compat::open_device(device); }

WEFT_DEFAULT_VERSION(ibv_close_device, "IBVERBS_1.1");
WEFT_ENTRY int ibv_close_device(ibv_context* context) { return compat::close_device(context); }

WEFT_DEFAULT_VERSION(ibv_query_device, "IBVERBS_1.1");
WEFT_ENTRY int ibv_query_device(ibv_context* context, ibv_device_attr* device_attr) {
  return compat::query_device(context, device_attr);
}

// Only programs that were built before ibv_context had a query_port of its own call this; their structure ends at
// `flags`, before port_cap_flags2.
WEFT_DEFAULT_VERSION(ibv_query_port, "IBVERBS_1.1");
WEFT_ENTRY int ibv_query_port(ibv_context* context, std::uint8_t port_num, _compat_ibv_port_attr* port_attr) {
  constexpr std::size_t kFirstLayout = 48;
  return compat::query_port(context, port_num, reinterpret_cast<ibv_port_attr*>(port_attr), kFirstLayout);
}

WEFT_DEFAULT_VERSION(ibv_query_pkey, "IBVERBS_1.1");
WEFT_ENTRY int ibv_query_pkey(ibv_context* context, std::uint8_t port_num, int index, __be16* pkey) {
  return compat::query_pkey(context, port_num, index, pkey);
}

WEFT_ENTRY int ibv_get_pkey_index(ibv_context* context, std::uint8_t port_num, __be16 pkey) {
  __be16 found = 0;
  for (int index = 0; compat::query_pkey(context, port_num, index, &found) == 0; ++index) {
    if (found == pkey) return index;
  }
  return -1;
}
