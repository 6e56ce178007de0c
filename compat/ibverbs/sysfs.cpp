// SPDX-License-Identifier: Apache-2.0
// The kernel's files about RDMA devices. There are none about ours.
#include <cerrno>
#include <cstddef>
#include <cstdlib>
#include <string>

#include "compat/entry.hpp"
#include "compat/objects/context.hpp"

// Where sysfs is; for programs that look there for other things. As rdma-core has it, SYSFS_PATH may say otherwise.
WEFT_ENTRY const char* ibv_get_sysfs_path() {
  static const std::string path = [] {
    const char* const named = ::secure_getenv("SYSFS_PATH");
    std::string wanted = named != nullptr ? named : "/sys";
    while (!wanted.empty() && wanted.back() == '/') wanted.pop_back();
    return wanted;
  }();
  return path.c_str();
}

WEFT_ENTRY int ibv_read_sysfs_file(const char*, const char*, char*, std::size_t) {
  errno = ENOENT;
  return -1;
}

// The same, by device: part of the interface of hardware drivers.
WEFT_DEFAULT_VERSION(ibv_read_ibdev_sysfs_file, "IBVERBS_PRIVATE_34");
WEFT_ENTRY int ibv_read_ibdev_sysfs_file(char*, std::size_t, void*, const char*, ...) {
  errno = ENOENT;
  return -1;
}
WEFT_OLDER_VERSION(newer_ibv_read_ibdev_sysfs_file, ibv_read_ibdev_sysfs_file, "IBVERBS_PRIVATE_65");
WEFT_ENTRY int newer_ibv_read_ibdev_sysfs_file(char*, std::size_t, void*, const char*, ...) {
  errno = ENOENT;
  return -1;
}
