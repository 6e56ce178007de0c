// SPDX-License-Identifier: Apache-2.0
#include "conformance/startup_search.hpp"

#include <algorithm>
#include <string_view>

namespace weft::conformance {
namespace {

using mpa::FrameKind;

constexpr std::size_t kResembles = 12;  // octets of 16 that are right in a key that is wrong
// One of these parts is intact in a key with one wrong octet, wherever it is.
constexpr std::string_view kHead = "MPA ID ";
constexpr std::string_view kTail = " Frame";
constexpr std::size_t kTailAt = 10;
constexpr std::size_t kUnmistakable = 8;   // octets of a key that was cut: "MPA ID R"
constexpr std::uint8_t kLastRevision = 3;  // more than there are

using Key = std::array<std::byte, mpa::kKeySize>;

// The keys, from the one place that knows them.
Key key_of(FrameKind kind) noexcept {
  std::array<std::byte, mpa::kFixedFrameSize> frame{};
  mpa::serialize(mpa::StartupFrame{.kind = kind}, frame);
  Key key{};
  std::copy_n(frame.begin(), key.size(), key.begin());
  return key;
}

std::size_t agreement(Bytes octets, FrameKind kind) noexcept {
  const Key key = key_of(kind);
  std::size_t equal = 0;
  for (std::size_t i = 0; i < key.size(); ++i) equal += octets[i] == key[i] ? 1 : 0;
  return equal;
}

std::optional<KeyFound> key_at(Bytes octets, std::size_t at) noexcept {
  const Bytes candidate = octets.subspan(at, mpa::kKeySize);
  const std::size_t request = agreement(candidate, FrameKind::kRequest);
  const std::size_t reply = agreement(candidate, FrameKind::kReply);
  const std::size_t best = std::max(request, reply);
  if (best < kResembles) return std::nullopt;
  return KeyFound{at, reply > request ? FrameKind::kReply : FrameKind::kRequest};
}

// The first key whose part `part`, `offset` octets after its beginning, is intact.
std::optional<KeyFound> find_by(Bytes octets, std::string_view part, std::size_t offset) noexcept {
  if (octets.size() < mpa::kKeySize) return std::nullopt;
  const std::string_view text(reinterpret_cast<const char*>(octets.data()), octets.size());
  for (std::size_t at = text.find(part, offset); at != std::string_view::npos; at = text.find(part, at + 1)) {
    if (at - offset + mpa::kKeySize > octets.size()) return std::nullopt;
    if (const auto found = key_at(octets, at - offset)) return found;
  }
  return std::nullopt;
}

// Whatever the key. With 4 octets of private data, zero: S asks for as many.
std::optional<mpa::StartupFrame> read_fixed_part(Bytes octets) noexcept {
  std::array<std::byte, mpa::kFixedFrameSize + mpa::kEnhancedDataSize> front{};
  std::ranges::copy(octets.first(mpa::kFixedFrameSize), front.begin());
  std::ranges::copy(key_of(FrameKind::kRequest), front.begin());
  front[18] = std::byte{0};
  front[19] = std::byte{mpa::kEnhancedDataSize};
  auto frame = mpa::parse_startup_frame(front, FrameKind::kRequest);
  if (!frame || !*frame) return std::nullopt;  // never
  (*frame)->private_data = {};
  return **frame;
}

}  // namespace

std::optional<KeyFound> find_key(Bytes octets) noexcept {
  const auto head = find_by(octets, kHead, 0);
  const auto tail = find_by(octets, kTail, kTailAt);
  if (head && tail) return head->at <= tail->at ? head : tail;
  return head ? head : tail;
}

std::optional<KeyFound> find_cut_key(Bytes octets) noexcept {
  for (std::size_t size = std::min(octets.size(), mpa::kKeySize - 1); size >= kUnmistakable; --size) {
    for (const FrameKind kind : {FrameKind::kRequest, FrameKind::kReply}) {
      const Key key = key_of(kind);
      if (std::ranges::equal(octets.last(size), Bytes(key).first(size))) return KeyFound{octets.size() - size, kind};
    }
  }
  return std::nullopt;
}

bool resembles_key(Bytes octets) noexcept { return key_at(octets, 0).has_value(); }

bool resembles_fixed_part(Bytes octets) noexcept {
  if (startup_size(octets) > mpa::kMaxStartupFrameSize) return false;
  const auto frame = read_fixed_part(octets);
  return frame && frame->reserved == 0 && frame->revision >= 1 && frame->revision <= kLastRevision;
}

RepairedFrame::RepairedFrame(Bytes octets, FrameKind kind)
    : octets_(octets.begin(),
              octets.begin() + static_cast<std::ptrdiff_t>(std::min(octets.size(), mpa::kMaxStartupFrameSize))),
      kind_(kind) {
  const Key key = key_of(kind);
  std::copy_n(key.begin(), std::min(key.size(), octets_.size()), octets_.begin());
}

std::expected<std::optional<mpa::StartupFrame>, mpa::Fault> RepairedFrame::parse() const noexcept {
  return mpa::parse_startup_frame(octets_, kind_);
}

StartupFlags startup_flags(Bytes octets) noexcept {
  const auto frame = read_fixed_part(octets);
  return frame ? StartupFlags{frame->markers, frame->crc, frame->reject} : StartupFlags{};
}

std::size_t startup_size(Bytes octets) noexcept {
  const Bytes fixed = octets.first(mpa::kFixedFrameSize);
  return fixed.size() + mpa::missing_octets(fixed);
}

}  // namespace weft::conformance
