// SPDX-License-Identifier: Apache-2.0
#include "compat/rsockets/sizes.hpp"

#include <algorithm>
#include <fstream>

#include "compat/rsockets/wire.hpp"
#include "verbs/device.hpp"

namespace weft::compat::rsockets {

namespace {

void read_number(const std::string& path, std::uint32_t& value) {
  std::ifstream file(path);
  if (std::uint32_t number = 0; file >> number) value = number;
}

}  // namespace

Sizes Sizes::within_limits() const {
  Sizes fit = *this;
  fit.send_buffer = std::clamp(send_buffer, kMinBuffer, kMaxBuffer);
  fit.receive_buffer = std::clamp(receive_buffer, kMinBuffer, kMaxBuffer) & ~1U;  // two halves
  fit.send_queue = std::clamp(send_queue, kMinQueue, kMaxQueue);
  fit.receive_queue = std::clamp(receive_queue, kMinQueue, kMaxQueue);
  fit.inline_octets = std::min(inline_octets, verbs::Device::limits().max_inline);
  fit.iomap_entries = round_iomap_entries(iomap_entries);
  return fit;
}

Sizes read_sizes(const std::string& folder) {
  Sizes sizes;
  read_number(folder + "/mem_default", sizes.receive_buffer);
  read_number(folder + "/wmem_default", sizes.send_buffer);
  read_number(folder + "/sqsize_default", sizes.send_queue);
  read_number(folder + "/rqsize_default", sizes.receive_queue);
  read_number(folder + "/inline_default", sizes.inline_octets);
  read_number(folder + "/iomap_size", sizes.iomap_entries);
  return sizes.within_limits();
}

const Sizes& default_sizes() {
  static const Sizes sizes = read_sizes("/etc/rdma/rsocket");
  return sizes;
}

}  // namespace weft::compat::rsockets
