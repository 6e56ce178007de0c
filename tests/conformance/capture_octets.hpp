// SPDX-License-Identifier: Apache-2.0
// Capture files, octet by octet.
#pragma once

#include <filesystem>
#include <string>

#include "tests/conformance/wire_packets.hpp"

namespace weft::conformance::testing {

enum class ByteOrder : std::uint8_t { kBig, kLittle };

// LINKTYPE_ values, as they stand in files.
constexpr std::uint16_t kFileNull = 0;
constexpr std::uint16_t kFileEthernet = 1;
constexpr std::uint16_t kFileRaw = 101;
constexpr std::uint16_t kFileLoop = 108;
constexpr std::uint16_t kFileSll = 113;
constexpr std::uint16_t kFileIpv4 = 228;
constexpr std::uint16_t kFileIpv6 = 229;
constexpr std::uint16_t kFileSll2 = 276;

// Each packet is a second and 123,456 (microseconds) or 123,456,789 (nanoseconds) later than the one before.
class PcapOctets {
 public:
  explicit PcapOctets(std::uint16_t link = kFileRaw, ByteOrder order = ByteOrder::kLittle, bool nanoseconds = false);
  PcapOctets& add(const Octets& packet, std::size_t captured = SIZE_MAX);
  [[nodiscard]] const Octets& octets() const noexcept { return octets_; }

 private:
  void put(std::uint64_t value, std::size_t size);
  Octets octets_{};
  ByteOrder order_;
  bool nanoseconds_;
  std::uint32_t packets_ = 0;
};

class PcapngOctets {
 public:
  explicit PcapngOctets(ByteOrder order = ByteOrder::kLittle);
  // Another section, in this order.
  PcapngOctets& section(ByteOrder order);
  // `options`: as they stand in the file.
  PcapngOctets& interface(std::uint16_t link, std::uint32_t snap_length = 262144, const Octets& options = {});
  // An option of this section's byte order.
  [[nodiscard]] Octets option(std::uint16_t code, const Octets& value) const;
  PcapngOctets& add_at(const Octets& packet, std::uint64_t time, std::uint32_t interface = 0);
  PcapngOctets& add(const Octets& packet, std::uint32_t interface = 0);
  PcapngOctets& add_simple(const Octets& packet);
  PcapngOctets& add_unknown_block();
  PcapngOctets& add_old(const Octets& packet, std::uint16_t interface = 0);
  PcapngOctets& add_custom();
  PcapngOctets& add_secrets(std::string_view key_log);
  [[nodiscard]] const Octets& octets() const noexcept { return octets_; }

 private:
  void put(Octets& to, std::uint64_t value, std::size_t size) const;
  void block(std::uint32_t type, Octets body);
  Octets octets_{};
  ByteOrder order_;
};

// A file that is gone with it.
class TemporaryFile {
 public:
  explicit TemporaryFile(const Octets& octets);
  ~TemporaryFile();
  TemporaryFile(const TemporaryFile&) = delete;
  TemporaryFile& operator=(const TemporaryFile&) = delete;
  [[nodiscard]] const std::string& path() const noexcept { return path_; }

 private:
  std::string path_{};
};

}  // namespace weft::conformance::testing
