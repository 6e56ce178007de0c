// SPDX-License-Identifier: Apache-2.0
// Every device, opened: the same opens that identifiers name in their member verbs.
#include <cstdlib>

#include "compat/objects/cm.hpp"
#include "compat/objects/context.hpp"
#include "compat/objects/report.hpp"

namespace weft::compat {

namespace {

struct FreeList {
  void operator()(ibv_context** list) const noexcept { cm_free_devices(list); }
};

// Returns how many could be opened.
int open_all(ibv_device* const* devices, int count, ibv_context** into) {
  int opened = 0;
  for (int i = 0; i < count; ++i) {
    if (Context* const context = shared_context(of(devices[i]))) into[opened++] = &context->context;
  }
  return opened;
}

}  // namespace

ibv_context** cm_get_devices(int* count) noexcept {
  return guarded_null([&]() -> ibv_context** {
    int listed = 0;
    const std::unique_ptr<ibv_device*, FreeDeviceList> devices(get_device_list(&listed));
    if (!devices) return nullptr;
    std::unique_ptr<ibv_context*, FreeList> opens(static_cast<ibv_context**>(
        std::calloc(static_cast<std::size_t>(listed) + 1, sizeof(ibv_context*))));  // ends with a null pointer
    if (!opens) throw std::bad_alloc();
    const int opened = open_all(devices.get(), listed, opens.get());
    if (count != nullptr) *count = opened;
    return opens.release();
  });
}

void cm_free_devices(ibv_context** list) noexcept { std::free(static_cast<void*>(list)); }

}  // namespace weft::compat
