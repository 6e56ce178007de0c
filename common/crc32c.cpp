// SPDX-License-Identifier: Apache-2.0
#include "common/crc32c.hpp"

#include <isa-l/crc.h>

namespace weft {

namespace {

constexpr std::size_t kLongest = 1U << 30;  // ISA-L counts in int

std::uint32_t advance(std::uint32_t state, Bytes octets) noexcept {
  // ISA-L takes a pointer to mutable octets but only reads them.
  auto* start = const_cast<unsigned char*>(reinterpret_cast<const unsigned char*>(octets.data()));
  return crc32_iscsi(start, static_cast<int>(octets.size()), state);
}

}  // namespace

Crc32c& Crc32c::update(Bytes octets) noexcept {
  for (; octets.size() > kLongest; octets = octets.subspan(kLongest)) {
    register_ = advance(register_, octets.first(kLongest));
  }
  if (!octets.empty()) register_ = advance(register_, octets);
  return *this;
}

}  // namespace weft
