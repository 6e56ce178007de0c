// SPDX-License-Identifier: Apache-2.0
// A hostile stream at the FPDU receiver, whole and in pieces: the same ULPDUs, the same error, and every call makes
// progress.
#include <algorithm>
#include <cstdint>
#include <cstdlib>
#include <optional>
#include <span>
#include <vector>

#include "mpa/fpdu_receiver.hpp"

using namespace weft;

namespace {

struct Reading {
  std::vector<std::vector<std::byte>> ulpdus{};
  std::optional<mpa::FpduError> error{};
  bool operator==(const Reading&) const = default;
};

void require(bool condition) {
  if (!condition) std::abort();
}

// Shows the receiver `piece` octets more whenever it asks for more.
Reading read(mpa::FpduReceiver receiver, std::vector<std::byte> stream, std::size_t piece) {
  Reading reading;
  MutableBytes rest(stream);
  std::size_t shown = std::min(piece, rest.size());
  while (true) {
    const auto result = receiver.next(rest.first(shown));
    if (!result) {
      reading.error = result.error();
      return reading;
    }
    if (*result) {
      require((*result)->consumed > 0 && (*result)->consumed <= shown);
      reading.ulpdus.emplace_back((*result)->ulpdu.begin(), (*result)->ulpdu.end());
      rest = rest.subspan((*result)->consumed);
      shown -= (*result)->consumed;
    } else {
      require(receiver.missing() > 0 && receiver.missing() <= mpa::kMaxFpduSize);
      if (shown == rest.size()) return reading;
      shown = std::min(shown + piece, rest.size());
    }
  }
}

}  // namespace

// Octet 0: bit 0 CRC, bit 1 Markers, the rest the size of the pieces; octet 1: start position in words.
extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  if (size < 2) return 0;
  const auto octets = std::as_bytes(std::span(data + 2, size - 2));
  const std::vector<std::byte> stream(octets.begin(), octets.end());
  const mpa::FpduReceiver receiver({.crc = (data[0] & 1) != 0, .markers = (data[0] & 2) != 0},
                                   std::uint64_t{data[1]} * 4);
  require(read(receiver, stream, stream.size() + 1) == read(receiver, stream, 1u + (data[0] >> 2)));
  return 0;
}
