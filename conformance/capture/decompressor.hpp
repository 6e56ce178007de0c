// SPDX-License-Identifier: Apache-2.0
// Takes the compression off a capture: gzip, zstd or xz, told by their magic numbers. Archives are hostile: each of
// them is given a bounded amount of memory, whatever it asks for (docs/decisions/0004-captures.md#compressed-captures).
#pragma once

#include <memory>
#include <optional>
#include <string>
#include <string_view>

#include "common/wire.hpp"
#include "conformance/capture_reader.hpp"

namespace weft::conformance::capture {

inline constexpr std::size_t kLongestMagic = 6;           // octets that tell which compression it is
inline constexpr int kMostWindowLog = 27;                 // of zstd: 128 MiB, what `zstd --ultra -22` asks for
inline constexpr std::uint64_t kMostMemory = 128U << 20;  // of xz: twice what `xz -9` asks for

class Decompressor {
 public:
  virtual ~Decompressor() = default;

  struct Fault {
    CaptureError::Kind kind{};
    std::string words{};  // of the library
  };
  // Unpacks from the front of `in` to the front of `out` and takes off both what was used, until one of them is empty.
  // `last`: nothing will follow what is in `in`.
  [[nodiscard]] virtual std::optional<Fault> unpack(Bytes& in, MutableBytes& out, bool last) = 0;
  // All that has come makes one or more whole archives, one after the other.
  [[nodiscard]] virtual bool complete() const noexcept = 0;
  [[nodiscard]] virtual std::string_view name() const noexcept = 0;  // "gzip"
};

// For a file that begins with `head`; null where that is no magic number of these three.
[[nodiscard]] std::unique_ptr<Decompressor> decompressor_for(Bytes head);

[[nodiscard]] std::unique_ptr<Decompressor> make_gzip_decompressor();
[[nodiscard]] std::unique_ptr<Decompressor> make_zstd_decompressor();
[[nodiscard]] std::unique_ptr<Decompressor> make_xz_decompressor();

}  // namespace weft::conformance::capture
