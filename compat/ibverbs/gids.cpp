// SPDX-License-Identifier: Apache-2.0
// The table of GIDs. A port of an RNIC has one, made of its MAC; it addresses nothing.
#include <algorithm>
#include <cstring>

#include "compat/entry.hpp"
#include "compat/objects/context.hpp"
#include "compat/objects/report.hpp"

using namespace weft;

WEFT_DEFAULT_VERSION(ibv_query_gid, "IBVERBS_1.1");
WEFT_ENTRY int ibv_query_gid(ibv_context* context, std::uint8_t port_num, int index, ibv_gid* gid) {
  return compat::query_gid(context, port_num, index, gid);
}

namespace {

// `size`: of the structure that the caller was built with. False, with errno, when there is no such entry.
bool fill_entry(ibv_context* context, std::uint32_t port, std::uint32_t index, ibv_gid_entry* into, std::size_t size) {
  ibv_gid_entry entry{};
  if (port > UINT8_MAX || index > INT32_MAX) {
    errno = EINVAL;
    return false;
  }
  if (compat::query_gid(context, static_cast<std::uint8_t>(port), static_cast<int>(index), &entry.gid) != 0)
    return false;
  entry.gid_index = index;
  entry.port_num = port;
  entry.gid_type = compat::gid_type();
  entry.ndev_ifindex = compat::gid_interface(context);
  std::memset(into, 0, size);
  std::memcpy(into, &entry, std::min(size, sizeof entry));
  return true;
}

}  // namespace

WEFT_ENTRY int _ibv_query_gid_ex(ibv_context* context, std::uint32_t port_num, std::uint32_t gid_index,
                                 ibv_gid_entry* entry, std::uint32_t flags, std::size_t entry_size) {
  if (flags != 0) return compat::refused("ibv_query_gid_ex", EOPNOTSUPP, "flags are not known");
  return fill_entry(context, port_num, gid_index, entry, entry_size) ? 0 : errno;
}

WEFT_ENTRY ssize_t _ibv_query_gid_table(ibv_context* context, ibv_gid_entry* entries, std::size_t max_entries,
                                        std::uint32_t flags, std::size_t entry_size) {
  if (flags != 0) return -compat::refused("ibv_query_gid_table", EOPNOTSUPP, "flags are not known");
  if (max_entries == 0) return -compat::refused("ibv_query_gid_table", EINVAL, "no room for the one entry");
  return fill_entry(context, 1, 0, entries, entry_size) ? 1 : -errno;
}

// Called by ibv_devinfo. Its enumeration, which no public header has, is that of sysfs: 0 is "IB/RoCE v1".
WEFT_DEFAULT_VERSION(ibv_query_gid_type, "IBVERBS_PRIVATE_34");
WEFT_ENTRY int ibv_query_gid_type(ibv_context* context, std::uint8_t port_num, unsigned index, unsigned* type) {
  ibv_gid gid{};
  if (index > INT32_MAX) {
    errno = EINVAL;
    return -1;
  }
  if (compat::query_gid(context, port_num, static_cast<int>(index), &gid) != 0) return -1;
  *type = compat::gid_type() == IBV_GID_TYPE_ROCE_V2 ? 1 : 0;
  return 0;
}
WEFT_OLDER_VERSION(newer_ibv_query_gid_type, ibv_query_gid_type, "IBVERBS_PRIVATE_65");
WEFT_ENTRY int newer_ibv_query_gid_type(ibv_context* context, std::uint8_t port_num, unsigned index, unsigned* type) {
  return ibv_query_gid_type(context, port_num, index, type);
}
