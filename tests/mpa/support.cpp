// SPDX-License-Identifier: Apache-2.0
#include "support.hpp"

#include <algorithm>
#include <fstream>
#include <nlohmann/json.hpp>
#include <stdexcept>

namespace weft::mpa::test {

Octets from_hex(std::string_view hex) {
  Octets out;
  std::string digits;
  for (const char c : hex) {
    if (c == ' ') continue;
    digits += c;
    if (digits.size() < 2) continue;
    out.push_back(static_cast<std::byte>(std::stoul(digits, nullptr, 16)));
    digits.clear();
  }
  return out;
}

Octets from_text(std::string_view text) { return copy(std::as_bytes(std::span(text))); }

Octets copy(Bytes octets) { return {octets.begin(), octets.end()}; }

Octets operator+(Octets left, const Octets& right) {
  left.insert(left.end(), right.begin(), right.end());
  return left;
}

Octets pattern(std::size_t size, unsigned seed) {
  Octets out(size);
  for (std::size_t i = 0; i < size; ++i) out[i] = static_cast<std::byte>(1 + (i * 7 + seed * 13) % 251);
  return out;
}

Octets vector_named(const std::string& name) {
  static const nlohmann::json vectors = nlohmann::json::parse(std::ifstream(WEFT_MPA_VECTORS));
  for (const auto& vector : vectors) {
    if (vector.at("name") == name) return from_hex(vector.at("hex").get<std::string>());
  }
  throw std::runtime_error("no vector " + name);
}

std::uint32_t reference_crc(Bytes octets) {
  std::uint32_t value = 0xffffffff;
  for (const std::byte octet : octets) {
    value ^= std::to_integer<std::uint32_t>(octet);
    for (int bit = 0; bit < 8; ++bit) value = value >> 1 ^ ((value & 1) != 0 ? 0x82f63b78u : 0u);
  }
  return ~value;
}

namespace {

// Writes octets into a stream and puts a Marker wherever one is due.
class ReferenceWriter {
 public:
  ReferenceWriter(bool markers, std::uint64_t position, const ReferenceOptions& options)
      : markers_(markers), position_(position), options_(options) {}

  void put(std::byte octet) {
    if (markers_ && position_ % 512 == 0) marker();
    if (!header_) header_ = position_;
    raw(octet);
  }
  // A Marker that is due before a field which it must not split.
  void settle() {
    if (markers_ && position_ % 512 == 0) marker();
  }
  void raw(std::byte octet) {
    out_.push_back(octet);
    ++position_;
  }
  [[nodiscard]] const Octets& out() const { return out_; }

 private:
  void marker() {
    const auto distance = static_cast<std::uint16_t>(header_ ? position_ - *header_ : 0);
    const auto pointer = static_cast<std::uint16_t>((distance + options_.pointer_add) | options_.pointer_or);
    raw(static_cast<std::byte>(options_.reserved >> 8));
    raw(static_cast<std::byte>(options_.reserved & 0xff));
    raw(static_cast<std::byte>(pointer >> 8));
    raw(static_cast<std::byte>(pointer & 0xff));
  }

  bool markers_;
  std::uint64_t position_;
  ReferenceOptions options_;
  std::optional<std::uint64_t> header_{};
  Octets out_{};
};

}  // namespace

Octets reference_fpdu(Bytes ulpdu, bool markers, std::uint64_t position, const ReferenceOptions& options) {
  ReferenceWriter writer(markers, position, options);
  writer.put(static_cast<std::byte>(ulpdu.size() >> 8));
  writer.put(static_cast<std::byte>(ulpdu.size() & 0xff));
  for (const std::byte octet : ulpdu) writer.put(octet);
  for (std::size_t used = 2 + ulpdu.size(); used % 4 != 0; ++used) writer.put(options.pad);
  writer.settle();
  const std::uint32_t crc = options.crc.value_or(reference_crc(writer.out()));
  for (int shift = 0; shift < 32; shift += 8) writer.raw(static_cast<std::byte>(crc >> shift & 0xff));
  return writer.out();
}

Octets seal(FpduSender& sender, Bytes ulpdu) {
  Octets room(sender.fpdu_size(ulpdu.size()));
  std::ranges::copy(ulpdu, room.begin() + static_cast<std::ptrdiff_t>(sender.prefix_size()));
  room.resize(sender.seal(room, ulpdu.size()));
  return room;
}

Reading read_in_pieces(FpduReceiver receiver, const Octets& stream, const std::vector<std::size_t>& cuts) {
  Reading reading;
  Octets waiting;
  std::size_t begin = 0;
  for (std::size_t i = 0; i <= cuts.size(); ++i) {
    const std::size_t end = i < cuts.size() ? cuts[i] : stream.size();
    waiting.insert(waiting.end(), stream.begin() + static_cast<std::ptrdiff_t>(begin),
                   stream.begin() + static_cast<std::ptrdiff_t>(end));
    begin = end;
    while (true) {
      const auto result = receiver.next(waiting);
      if (!result) {
        reading.error = result.error();
        break;
      }
      if (!*result) break;
      reading.ulpdus.push_back(copy((*result)->ulpdu));
      reading.offsets.push_back((*result)->stream_offset);
      waiting.erase(waiting.begin(), waiting.begin() + static_cast<std::ptrdiff_t>((*result)->consumed));
    }
  }
  reading.unconsumed = waiting.size();
  return reading;
}

Octets octets_of(const StartupFrame& frame) {
  Octets room(frame.size());
  serialize(frame, room);
  return room;
}

StartupFrame frame(FrameKind kind, std::uint8_t revision) {
  StartupFrame result;
  result.kind = kind;
  result.crc = true;
  result.revision = revision;
  return result;
}

}  // namespace weft::mpa::test
