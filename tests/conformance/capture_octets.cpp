// SPDX-License-Identifier: Apache-2.0
#include "tests/conformance/capture_octets.hpp"

#include <unistd.h>

#include <algorithm>
#include <cstdlib>
#include <stdexcept>

namespace weft::conformance::testing {

PcapOctets::PcapOctets(std::uint16_t link, ByteOrder order, bool nanoseconds)
    : order_(order), nanoseconds_(nanoseconds) {
  put(nanoseconds ? 0xa1b23c4d : 0xa1b2c3d4, 4);
  put(2, 2);
  put(4, 2);
  put(0, 8);
  put(262144, 4);
  put(link, 4);
}

void PcapOctets::put(std::uint64_t value, std::size_t size) {
  order_ == ByteOrder::kBig ? append(octets_, value, size) : append_little(octets_, value, size);
}

PcapOctets& PcapOctets::add(const Octets& packet, std::size_t captured) {
  const std::size_t kept = std::min(captured, packet.size());
  put(++packets_, 4);
  put(nanoseconds_ ? 123'456'789 : 123'456, 4);
  put(kept, 4);
  put(packet.size(), 4);
  octets_.insert(octets_.end(), packet.begin(), packet.begin() + static_cast<std::ptrdiff_t>(kept));
  return *this;
}

PcapngOctets::PcapngOctets(ByteOrder order) : order_(order) { section(order); }

PcapngOctets& PcapngOctets::section(ByteOrder order) {
  order_ = order;
  Octets section;
  put(section, 0x1a2b3c4d, 4);
  put(section, 1, 2);
  put(section, 0, 2);
  put(section, UINT64_MAX, 8);
  block(0x0a0d0d0a, section);
  return *this;
}

void PcapngOctets::put(Octets& to, std::uint64_t value, std::size_t size) const {
  order_ == ByteOrder::kBig ? append(to, value, size) : append_little(to, value, size);
}

void PcapngOctets::block(std::uint32_t type, Octets body) {
  body.resize((body.size() + 3) / 4 * 4);
  put(octets_, type, 4);
  put(octets_, body.size() + 12, 4);
  append(octets_, body);
  put(octets_, body.size() + 12, 4);
}

Octets PcapngOctets::option(std::uint16_t code, const Octets& value) const {
  Octets option;
  put(option, code, 2);
  put(option, value.size(), 2);
  append(option, value);
  option.resize((option.size() + 3) / 4 * 4);
  return option;
}

PcapngOctets& PcapngOctets::interface(std::uint16_t link, std::uint32_t snap_length, const Octets& options) {
  Octets body;
  put(body, link, 2);
  put(body, 0, 2);
  put(body, snap_length, 4);
  append(body, options);
  block(1, body);
  return *this;
}

PcapngOctets& PcapngOctets::add(const Octets& packet, std::uint32_t interface) {
  return add_at(packet, 1'123'456, interface);  // microseconds
}

PcapngOctets& PcapngOctets::add_at(const Octets& packet, std::uint64_t time, std::uint32_t interface) {
  Octets body;
  put(body, interface, 4);
  put(body, time >> 32, 4);
  put(body, time & 0xffffffff, 4);
  put(body, packet.size(), 4);
  put(body, packet.size(), 4);
  append(body, packet);
  body.resize((body.size() + 3) / 4 * 4);
  append(body, option(1, testing::octets("a comment")));
  append(body, option(0, {}));
  block(6, body);
  return *this;
}

PcapngOctets& PcapngOctets::add_old(const Octets& packet, std::uint16_t interface) {
  Octets body;
  put(body, interface, 2);
  put(body, 3, 2);  // drops
  put(body, 0, 4);
  put(body, 1'123'456, 4);
  put(body, packet.size(), 4);
  put(body, packet.size(), 4);
  append(body, packet);
  block(2, body);
  return *this;
}

PcapngOctets& PcapngOctets::add_custom() {
  Octets body;
  put(body, 32473, 4);  // a private enterprise number
  append(body, testing::octets("of a vendor"));
  block(0x0bad, body);
  return *this;
}

PcapngOctets& PcapngOctets::add_secrets(std::string_view key_log) {
  Octets body;
  put(body, 0x544c534b, 4);
  put(body, key_log.size(), 4);
  append(body, testing::octets(key_log));
  block(10, body);
  return *this;
}

PcapngOctets& PcapngOctets::add_simple(const Octets& packet) {
  Octets body;
  put(body, packet.size(), 4);
  append(body, packet);
  block(3, body);
  return *this;
}

PcapngOctets& PcapngOctets::add_unknown_block() {
  block(0x0bae, Octets(20));
  return *this;
}

TemporaryFile::TemporaryFile(const Octets& octets) {
  path_ = (std::filesystem::temp_directory_path() / "weft-capture-XXXXXX").string();
  const int file = ::mkstemp(path_.data());
  if (file < 0 || ::write(file, octets.data(), octets.size()) != static_cast<ssize_t>(octets.size())) {
    throw std::runtime_error("cannot write " + path_);
  }
  ::close(file);
}

TemporaryFile::~TemporaryFile() {
  std::error_code ignored;
  std::filesystem::remove(path_, ignored);
}

}  // namespace weft::conformance::testing
