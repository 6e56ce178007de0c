// SPDX-License-Identifier: Apache-2.0
#include "conformance/capture/decompressor.hpp"

#include <algorithm>
#include <array>
#include <cstdint>
#include <initializer_list>

namespace weft::conformance::capture {
namespace {

bool begins_with(Bytes head, std::initializer_list<std::uint8_t> magic) {
  return head.size() >= magic.size() &&
         std::ranges::equal(magic, head.first(magic.size()),
                            [](std::uint8_t octet, std::byte there) { return std::byte{octet} == there; });
}

// A zstd file may begin with a frame that is to be skipped: pzstd's do. Sixteen magic numbers are for these.
bool begins_with_zstd(Bytes head) {
  if (begins_with(head, {0x28, 0xb5, 0x2f, 0xfd})) return true;
  return head.size() >= 4 && (head[0] & std::byte{0xf0}) == std::byte{0x50} &&
         begins_with(head.subspan(1), {0x2a, 0x4d, 0x18});
}

}  // namespace

std::unique_ptr<Decompressor> decompressor_for(Bytes head) {
  if (begins_with(head, {0x1f, 0x8b})) return make_gzip_decompressor();
  if (begins_with_zstd(head)) return make_zstd_decompressor();
  if (begins_with(head, {0xfd, '7', 'z', 'X', 'Z', 0})) return make_xz_decompressor();
  return nullptr;
}

}  // namespace weft::conformance::capture
