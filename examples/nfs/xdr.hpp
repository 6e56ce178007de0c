// SPDX-License-Identifier: Apache-2.0
// XDR (RFC 4506): what RPC, NFS and RPC-over-RDMA consist of. Numbers are big-endian, and everything is padded to four
// octets.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <stdexcept>
#include <string>
#include <string_view>
#include <vector>

namespace nfs {

// Anything that ends a command: its text says what was wrong.
struct Failure : std::runtime_error {
  using std::runtime_error::runtime_error;
};

using Octets = std::vector<std::byte>;

class Encoder {
 public:
  Encoder& u32(std::uint32_t value) {
    for (int shift = 24; shift >= 0; shift -= 8) octets_.push_back(static_cast<std::byte>(value >> shift));
    return *this;
  }
  Encoder& u64(std::uint64_t value) {
    return u32(static_cast<std::uint32_t>(value >> 32)).u32(static_cast<std::uint32_t>(value));
  }
  // As they are: they are XDR already.
  Encoder& append(std::span<const std::byte> octets) {
    octets_.insert(octets_.end(), octets.begin(), octets.end());
    return *this;
  }
  // With their number in front.
  Encoder& opaque(std::span<const std::byte> octets) {
    u32(static_cast<std::uint32_t>(octets.size())).append(octets);
    octets_.resize((octets_.size() + 3) / 4 * 4);
    return *this;
  }
  Encoder& text(std::string_view characters) { return opaque(std::as_bytes(std::span(characters))); }

  [[nodiscard]] const Octets& octets() const noexcept { return octets_; }

 private:
  Octets octets_;
};

// Reads what a server sent: no length is believed before it is checked.
class Decoder {
 public:
  explicit Decoder(std::span<const std::byte> octets) noexcept : left_(octets) {}

  std::span<const std::byte> take(std::size_t count) {
    if (count > left_.size()) throw Failure("the reply ends too early");
    const auto taken = left_.first(count);
    left_ = left_.subspan(count);
    return taken;
  }
  std::uint32_t u32() {
    std::uint32_t value = 0;
    for (const std::byte octet : take(4)) value = value << 8 | std::to_integer<std::uint32_t>(octet);
    return value;
  }
  std::uint64_t u64() {
    const std::uint64_t high = u32();
    return high << 32 | u32();
  }
  bool boolean() {
    const std::uint32_t value = u32();
    if (value > 1) throw Failure("the reply has a boolean that is neither 0 nor 1");
    return value == 1;
  }
  std::span<const std::byte> opaque(std::size_t longest) {
    const std::size_t count = u32();
    if (count > longest) throw Failure("the reply has more octets than the protocol permits");
    const auto padded = take((count + 3) / 4 * 4);
    return padded.first(count);
  }
  std::string text(std::size_t longest) {
    const auto octets = opaque(longest);
    return {reinterpret_cast<const char*>(octets.data()), octets.size()};
  }
  [[nodiscard]] std::span<const std::byte> left() const noexcept { return left_; }

 private:
  std::span<const std::byte> left_;
};

}  // namespace nfs
