// SPDX-License-Identifier: Apache-2.0
// A fuzzer's octets as a capture file: libpcap reads files.
#pragma once

#include <unistd.h>

#include <cstddef>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <string>

namespace weft::fuzz {

inline void require(bool condition) {
  if (!condition) std::abort();
}

// One per process.
inline const std::string& capture_path() {
  static const std::string name = [] {
    std::string pattern = "/tmp/weft-capture-fuzz-XXXXXX";
    const int file = ::mkstemp(pattern.data());
    require(file >= 0);
    ::close(file);
    std::atexit([] { std::remove(capture_path().c_str()); });
    return pattern;
  }();
  return name;
}

// The path of the file that has them until the next call.
inline const std::string& as_capture(const std::uint8_t* data, std::size_t size) {
  std::FILE* const file = std::fopen(capture_path().c_str(), "wb");
  require(file != nullptr && std::fwrite(data, 1, size, file) == size);
  std::fclose(file);
  return capture_path();
}

}  // namespace weft::fuzz
