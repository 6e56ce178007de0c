// SPDX-License-Identifier: Apache-2.0
// All of a capture at once, and pipes to read captures from.
#pragma once

#include <fcntl.h>
#include <gtest/gtest.h>
#include <unistd.h>

#include <array>
#include <optional>
#include <string>
#include <vector>

#include "conformance/capture_reader.hpp"
#include "tests/conformance/capture_octets.hpp"

namespace weft::conformance::testing {

// Everything in a capture: packets (with octets of their own), and how it ended.
struct Read {
  std::vector<Packet> packets{};
  std::vector<Octets> octets{};
  std::optional<CaptureError> error{};
};

inline Read read(const std::string& path) {
  Read all;
  auto reader = CaptureReader::open(path);
  if (!reader) return {.error = reader.error()};
  for (;;) {
    const auto next = reader->next();
    if (const auto* packet = std::get_if<Packet>(&next)) {
      all.packets.push_back(*packet);
      all.octets.emplace_back(packet->captured.begin(), packet->captured.end());
      continue;
    }
    if (const auto* error = std::get_if<CaptureError>(&next)) all.error = *error;
    EXPECT_EQ(reader->next().index(), next.index());  // final
    return all;
  }
}

inline Read read(const Octets& octets) { return read(TemporaryFile(octets).path()); }

// A pipe with a writer that says `said` and then is silent, without ever closing it.
class QuietPipe {
 public:
  explicit QuietPipe(const Octets& said) {
    EXPECT_EQ(::pipe2(ends_.data(), O_CLOEXEC), 0);
    EXPECT_EQ(::write(ends_[1], said.data(), said.size()), static_cast<ssize_t>(said.size()));
  }
  ~QuietPipe() {
    for (const int end : ends_) ::close(end);
  }
  QuietPipe(const QuietPipe&) = delete;
  QuietPipe& operator=(const QuietPipe&) = delete;
  [[nodiscard]] std::string path() const { return "/dev/fd/" + std::to_string(ends_[0]); }

 private:
  std::array<int, 2> ends_{};
};

}  // namespace weft::conformance::testing
