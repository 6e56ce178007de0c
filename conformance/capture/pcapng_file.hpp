// SPDX-License-Identifier: Apache-2.0
// Reads pcapng (draft-ietf-opsawg-pcapng): sections of either byte order, interfaces of different kinds and snap
// lengths, and the TLS secrets in the file, all of which libpcap refuses or passes over. Comments and unknown blocks
// are skipped. Every octet is hostile: memory is bounded whatever a length claims.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <utility>
#include <variant>
#include <vector>

#include "conformance/capture/unpacked_file.hpp"
#include "conformance/packet.hpp"

namespace weft::conformance::capture {

class PcapngFile {
 public:
  static constexpr std::size_t kMostBlock = std::size_t{16} << 20;    // octets of a block that is not skipped
  static constexpr std::size_t kMostInterfaces = 65536;               // of a section
  static constexpr std::size_t kMostSecrets = std::size_t{16} << 20;  // octets of a file; further ones are ignored

  // Returns whether a file that begins so is pcapng.
  [[nodiscard]] static bool is_begun_by(Bytes octets) noexcept;

  // `file` must outlive it. `name` is for sentences.
  PcapngFile(UnpackedFile& file, std::string name);

  // The next packet; its octets are valid until the next call. Packets of unknown link types are packets, too; where
  // there is no other, the end is an error. The end, also where reading was stopped, and errors are final.
  using Next = std::variant<Packet, CaptureEnd, CaptureError>;
  [[nodiscard]] Next next();

  // Secrets since the last call, in the format of SSLKEYLOGFILE. They precede the packets that need them.
  [[nodiscard]] std::string take_secrets() { return std::exchange(secrets_, {}); }

 private:
  struct Interface {
    LinkType link = LinkType::kUnknown;
    std::uint32_t snap_length{};  // 0: no limit
    std::uint8_t resolution = 6;  // of times: if_tsresol
    std::int64_t offset{};        // seconds: if_tsoffset
  };
  struct BlockHeader {
    std::uint32_t type{};
    std::uint32_t length{};  // of the block, as it says
    std::size_t body{};      // octets between header and trailer
  };
  enum class Read : std::uint8_t { kAll, kNothing, kCut };

  [[nodiscard]] Read read(MutableBytes into);
  bool refill();
  std::optional<CaptureError> skip(std::size_t size);
  std::variant<BlockHeader, CaptureEnd, CaptureError> read_header();
  std::optional<CaptureError> begin_section();
  std::optional<CaptureError> read_body(const BlockHeader& header, bool wanted);
  std::variant<std::monostate, Packet, CaptureError> take_block(const BlockHeader& header);
  std::optional<CaptureError> take_interface();
  void take_options(Bytes options, Interface& interface) const;
  void take_secrets_block();
  std::variant<std::monostate, Packet, CaptureError> take_packet(std::uint32_t interface);
  std::variant<std::monostate, Packet, CaptureError> take_simple();
  [[nodiscard]] CaptureError damaged(const std::string& what) const;
  [[nodiscard]] CaptureError cut_short() const;
  // What comes before an error of the blocks: that of the file, or that reading was stopped.
  [[nodiscard]] Next ended(const Next& otherwise) const;

  [[nodiscard]] std::uint16_t number16(Bytes octets) const noexcept;
  [[nodiscard]] std::uint32_t number32(Bytes octets) const noexcept;

  UnpackedFile& file_;
  std::string name_;
  bool little_ = true;  // byte order of the section
  bool begun_ = false;  // a section
  std::vector<Interface> interfaces_{};
  std::optional<std::uint16_t> unknown_link_{};  // the first link type that is not known here
  bool any_known_ = false;                       // a packet of a link type that is
  std::vector<std::byte> buffer_;
  Bytes waiting_{};  // in buffer_
  int error_ = 0;    // of reading
  std::vector<std::byte> body_{};
  std::string secrets_{};
  std::size_t secrets_taken_ = 0;
  std::uint64_t packets_ = 0;
};

}  // namespace weft::conformance::capture
