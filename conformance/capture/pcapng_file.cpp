// SPDX-License-Identifier: Apache-2.0
#include "conformance/capture/pcapng_file.hpp"

#include <algorithm>
#include <array>
#include <cerrno>

#include "conformance/capture/pcap_words.hpp"
#include "transport/system_words.hpp"

namespace weft::conformance::capture {
namespace {

// Section 4 and 11.1 of the draft.
enum BlockType : std::uint32_t {
  kSection = 0x0a0d0d0a,  // the same in either byte order
  kInterface = 1,
  kOldPacket = 2,
  kSimplePacket = 3,
  kJournal = 9,
  kEnhancedPacket = 6,
  kSecrets = 10,
  kCustom = 0x00000bad,
  kCustomNotCopied = 0x40000bad,
};
// Returns whether the body of such a block is used.
constexpr bool is_read(std::uint32_t type) noexcept {
  return type == kSection || type == kInterface || type == kOldPacket || type == kSimplePacket ||
         type == kEnhancedPacket || type == kSecrets;
}
constexpr std::uint32_t kMagic = 0x1a2b3c4d;
constexpr std::uint32_t kTlsKeyLog = 0x544c534b;
constexpr std::size_t kHeader = 8;   // type and length
constexpr std::size_t kTrailer = 4;  // the length again

constexpr std::size_t kBuffer = std::size_t{256} << 10;

constexpr std::size_t padded(std::size_t size) noexcept { return (size + 3) / 4 * 4; }

// Octets of a body before the packet's.
struct PacketLayout {
  static constexpr std::size_t kSize = 20;
  static constexpr std::size_t kHighTime = 4;
  static constexpr std::size_t kLowTime = 8;
  static constexpr std::size_t kCaptured = 12;
  static constexpr std::size_t kOriginal = 16;
};

// Units of 10^-n or, with the highest bit, 2^-n seconds. The times of a damaged file may be anything: sums wrap.
std::int64_t nanoseconds_of(std::uint64_t units, std::uint8_t resolution) noexcept {
  constexpr unsigned kNano = 9;
  const unsigned n = resolution & 0x7fU;
  if ((resolution & 0x80U) != 0) {
    __extension__ using Wide = unsigned __int128;
    return n > 93 ? 0 : static_cast<std::int64_t>(static_cast<std::uint64_t>(Wide{units} * 1'000'000'000U >> n));
  }
  std::uint64_t power = 1;
  for (unsigned i = 0; i < (n > kNano ? std::min(n - kNano, 19U) : kNano - n); ++i) power *= 10;
  return static_cast<std::int64_t>(n > kNano ? units / power : units * power);
}

}  // namespace

bool PcapngFile::is_begun_by(Bytes octets) noexcept {
  return octets.size() >= 4 && Be<0, std::uint32_t>::get(octets) == kSection;
}

PcapngFile::PcapngFile(UnpackedFile& file, std::string name) : file_(file), name_(std::move(name)), buffer_(kBuffer) {}

std::uint16_t PcapngFile::number16(Bytes octets) const noexcept {
  return little_ ? Le<0, std::uint16_t>::get(octets) : Be<0, std::uint16_t>::get(octets);
}

std::uint32_t PcapngFile::number32(Bytes octets) const noexcept {
  return little_ ? Le<0, std::uint32_t>::get(octets) : Be<0, std::uint32_t>::get(octets);
}

CaptureError PcapngFile::damaged(const std::string& what) const {
  return {CaptureError::Kind::kDamaged, name_ + " is damaged: " + what};
}

CaptureError PcapngFile::cut_short() const {
  return {CaptureError::Kind::kCutShort, name_ + " is cut short: it ends inside a block"};
}

PcapngFile::Next PcapngFile::ended(const Next& otherwise) const {
  if (file_.stopped()) return CaptureEnd{};  // perhaps inside a block, which is no damage
  if (file_.trouble()) return *file_.trouble();
  if (error_ != 0)
    return CaptureError{CaptureError::Kind::kCannotRead, name_ + " cannot be read: " + system_words(error_)};
  const bool whole = std::holds_alternative<CaptureEnd>(otherwise);
  if (whole && unknown_link_ && !any_known_) return unknown_link_type(name_, *unknown_link_);
  return otherwise;
}

bool PcapngFile::refill() {
  const ssize_t got = file_.read(buffer_);
  if (got < 0) error_ = errno;
  waiting_ = Bytes(buffer_).first(got > 0 ? static_cast<std::size_t>(got) : 0);
  return got > 0;
}

PcapngFile::Read PcapngFile::read(MutableBytes into) {
  std::size_t there = 0;
  while (there < into.size()) {
    if (waiting_.empty() && !refill()) return there == 0 ? Read::kNothing : Read::kCut;
    const Bytes now = waiting_.first(std::min(waiting_.size(), into.size() - there));
    std::ranges::copy(now, into.begin() + static_cast<std::ptrdiff_t>(there));
    there += now.size();
    waiting_ = waiting_.subspan(now.size());
  }
  return Read::kAll;
}

std::optional<CaptureError> PcapngFile::skip(std::size_t size) {
  std::array<std::byte, 4096> octets;
  while (size > 0) {
    const std::size_t now = std::min(size, octets.size());
    if (read(MutableBytes(octets).first(now)) != Read::kAll) return cut_short();
    size -= now;
  }
  return std::nullopt;
}

// The first octet of a block may be missing without harm, and no other one.
std::variant<PcapngFile::BlockHeader, CaptureEnd, CaptureError> PcapngFile::read_header() {
  std::array<std::byte, kHeader> octets;
  switch (read(octets)) {
    case Read::kNothing: return CaptureEnd{};
    case Read::kCut: return cut_short();
    case Read::kAll: break;
  }
  BlockHeader header{.type = number32(octets)};
  if (Be<0, std::uint32_t>::get(octets) == kSection) {
    header.type = kSection;
    if (auto error = begin_section()) return *error;
  } else if (!begun_) {
    return damaged("it has a block before its first section");
  }
  header.length = number32(Bytes(octets).subspan(4));
  const std::size_t before = header.type == kSection ? kHeader + 4 : kHeader;  // with the magic
  if (header.length < before + kTrailer) return damaged("a block claims " + std::to_string(header.length) + " octets");
  header.body = padded(header.length) - before - kTrailer;
  return header;
}

// The byte order of a section follows the length, which has it.
std::optional<CaptureError> PcapngFile::begin_section() {
  std::array<std::byte, 4> magic;
  if (read(magic) != Read::kAll) return cut_short();
  if (Le<0, std::uint32_t>::get(magic) == kMagic) {
    little_ = true;
  } else if (Be<0, std::uint32_t>::get(magic) == kMagic) {
    little_ = false;
  } else {
    return damaged("a section has no byte-order magic");
  }
  begun_ = true;
  interfaces_.clear();
  return std::nullopt;
}

std::optional<CaptureError> PcapngFile::read_body(const BlockHeader& header, bool wanted) {
  if (!wanted) {
    if (auto error = skip(header.body)) return error;
  } else {
    if (header.body > kMostBlock)
      return damaged("a block claims " + std::to_string(header.length) + " octets; the limit is " +
                     std::to_string(kMostBlock));
    body_.resize(header.body);
    if (header.body > 0 && read(body_) != Read::kAll) return cut_short();
  }
  std::array<std::byte, kTrailer> trailer;
  if (read(trailer) != Read::kAll) return cut_short();
  if (number32(trailer) != header.length) return damaged("the two lengths of a block differ");
  return std::nullopt;
}

PcapngFile::Next PcapngFile::next() {
  for (;;) {
    const auto got = read_header();
    if (std::holds_alternative<CaptureEnd>(got)) return ended(CaptureEnd{});
    if (const auto* const wrong = std::get_if<CaptureError>(&got)) return ended(*wrong);
    const auto* const header = std::get_if<BlockHeader>(&got);
    if (const auto error = read_body(*header, is_read(header->type))) return ended(*error);
    const auto taken = take_block(*header);
    if (const auto* const packet = std::get_if<Packet>(&taken)) {
      any_known_ = any_known_ || packet->link != LinkType::kUnknown;
      return *packet;
    }
    if (const auto* const wrong = std::get_if<CaptureError>(&taken)) return *wrong;
  }
}

std::variant<std::monostate, Packet, CaptureError> PcapngFile::take_block(const BlockHeader& header) {
  switch (header.type) {
    case kSection:
      if (body_.size() < 12) return damaged("the header of a section is too short");
      if (number16(body_) != 1) return damaged("a section has version " + std::to_string(number16(body_)));
      return {};
    case kInterface:
      if (auto error = take_interface()) return *error;
      return {};
    case kEnhancedPacket:
    case kOldPacket:  // whose interface has 16 bits, and a count of drops follows
      if (body_.size() < PacketLayout::kSize) return damaged("the block of a packet is too short");
      return take_packet(header.type == kOldPacket ? number16(body_) : number32(body_));
    case kSimplePacket: return take_simple();
    case kSecrets: take_secrets_block(); return {};
    case kJournal:
    case kCustom:
    case kCustomNotCopied: ++packets_; return {};  // Wireshark numbers them as it numbers packets
    default: return {};
  }
}

std::optional<CaptureError> PcapngFile::take_interface() {
  constexpr std::size_t kFixed = 8;  // link type, reserved, snap length
  if (body_.size() < kFixed) return damaged("the block of an interface is too short");
  if (interfaces_.size() == kMostInterfaces)
    return damaged("a section has more than " + std::to_string(kMostInterfaces) + " interfaces");
  const auto link = link_type(number16(body_));
  if (!link && !unknown_link_) unknown_link_ = number16(body_);
  Interface interface{.link = link.value_or(LinkType::kUnknown), .snap_length = number32(Bytes(body_).subspan(4))};
  take_options(Bytes(body_).subspan(kFixed), interface);
  interfaces_.push_back(interface);
  return std::nullopt;
}

// Options that are cut are no reason to refuse the packets.
void PcapngFile::take_options(Bytes options, Interface& interface) const {
  constexpr std::uint16_t kEnd = 0, kResolution = 9, kOffset = 14;
  while (options.size() >= 4) {
    const std::uint16_t code = number16(options);
    const std::size_t size = number16(options.subspan(2));
    options = options.subspan(4);
    if (code == kEnd || size > options.size()) return;
    if (code == kResolution && size == 1) interface.resolution = std::to_integer<std::uint8_t>(options[0]);
    if (code == kOffset && size == 8) {
      const std::uint64_t first = number32(options), second = number32(options.subspan(4));
      interface.offset = static_cast<std::int64_t>(little_ ? second << 32 | first : first << 32 | second);
    }
    options = options.subspan(std::min(padded(size), options.size()));
  }
}

void PcapngFile::take_secrets_block() {
  constexpr std::size_t kFixed = 8;  // kind and length
  if (body_.size() < kFixed || number32(body_) != kTlsKeyLog) return;
  const Bytes octets = Bytes(body_).subspan(kFixed);
  const std::size_t size = std::min<std::size_t>(number32(Bytes(body_).subspan(4)), octets.size());
  if (size > kMostSecrets - secrets_taken_) return;
  secrets_taken_ += size;
  secrets_.append(reinterpret_cast<const char*>(octets.data()), size);
  secrets_ += '\n';
}

std::variant<std::monostate, Packet, CaptureError> PcapngFile::take_packet(std::uint32_t interface) {
  const Bytes body = body_;
  if (interface >= interfaces_.size())
    return damaged("a packet is of interface " + std::to_string(interface) + ", which the section does not have");
  const Interface& from = interfaces_[interface];
  const std::uint64_t units = std::uint64_t{number32(body.subspan(PacketLayout::kHighTime))} << 32 |
                              number32(body.subspan(PacketLayout::kLowTime));
  const std::uint32_t captured = number32(body.subspan(PacketLayout::kCaptured));
  if (captured > body.size() - PacketLayout::kSize) return damaged("a packet is longer than its block");
  const auto seconds = static_cast<std::uint64_t>(from.offset) * 1'000'000'000U;
  return Packet{
      .number = ++packets_,
      .time = static_cast<std::int64_t>(seconds + static_cast<std::uint64_t>(nanoseconds_of(units, from.resolution))),
      .link = from.link,
      .captured = body.subspan(PacketLayout::kSize, captured),
      .original_size = std::max(number32(body.subspan(PacketLayout::kOriginal)), captured)};
}

// It has no time, and no other length than the original one: the snap length of the first interface may have cut it.
std::variant<std::monostate, Packet, CaptureError> PcapngFile::take_simple() {
  constexpr std::size_t kFixed = 4;
  const Bytes body = body_;
  if (body.size() < kFixed) return damaged("the block of a packet is too short");
  if (interfaces_.empty()) return damaged("a packet is of interface 0, which the section does not have");
  const std::uint32_t original = number32(body);
  const std::uint32_t snap = interfaces_[0].snap_length;
  const std::uint32_t captured = snap == 0 ? original : std::min(original, snap);
  if (captured > body.size() - kFixed) return damaged("a packet is longer than its block");
  return Packet{.number = ++packets_,
                .link = interfaces_[0].link,
                .captured = body.subspan(kFixed, captured),
                .original_size = original};
}

}  // namespace weft::conformance::capture
