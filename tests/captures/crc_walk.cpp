// SPDX-License-Identifier: Apache-2.0
#include "tests/captures/crc_walk.hpp"

#include <optional>
#include <string_view>

#include "common/crc32c.hpp"

namespace weft::captures {
namespace {

constexpr std::size_t kStartupFrame = 20;  // key, flags, revision, length of the private data

std::size_t octet(Bytes octets, std::size_t at) { return std::to_integer<std::size_t>(octets[at]); }
std::size_t big_endian16(Bytes octets, std::size_t at) { return octet(octets, at) << 8 | octet(octets, at + 1); }

struct Startup {
  bool crc{};
  std::size_t size{};
};

std::optional<Startup> startup(Bytes octets) {
  if (octets.size() < kStartupFrame) return {};
  const std::string_view key(reinterpret_cast<const char*>(octets.data()), 11);
  if (key != "MPA ID Req " && key != "MPA ID Rep ") return {};
  return Startup{(octet(octets, 16) & 0x40U) != 0, kStartupFrame + big_endian16(octets, 18)};
}

bool good(Bytes fpdu) {
  std::size_t crc = 0;
  for (std::size_t i = 4; i > 0; --i) crc = crc << 8 | octet(fpdu, fpdu.size() - 5 + i);
  return crc == crc32c(fpdu.first(fpdu.size() - 4));
}

}  // namespace

CrcWalk walk_crcs(const Connection& connection, Side side) {
  const std::vector<std::byte> stream = octets_from(connection, side);
  const auto ours = startup(stream);
  const auto theirs = startup(octets_from(connection, side == Side::kClient ? Side::kServer : Side::kClient));
  if (!ours || !theirs || ours->size > stream.size()) return {};
  CrcWalk walk{ours->crc || theirs->crc, 0, 0};
  for (Bytes rest = Bytes(stream).subspan(ours->size); rest.size() >= 2;) {
    const std::size_t size = (2 + big_endian16(rest, 0) + 3) / 4 * 4 + 4;
    if (size > rest.size()) break;
    ++walk.fpdus;
    if (walk.crc && !good(rest.first(size))) ++walk.bad;
    rest = rest.subspan(size);
  }
  return walk;
}

}  // namespace weft::captures
