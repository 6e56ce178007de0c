// SPDX-License-Identifier: Apache-2.0
/// @file
/// Reading of captures: pcap and pcapng files in any byte order, plain or compressed by gzip, zstd or xz; the standard
/// input with the same content; or a live interface.
///
///     StopSwitch stop;                                        // for signal handlers; optional
///     auto reader = CaptureReader::open("trace.pcapng", &stop);
///     const auto damage = read_packets(*reader, [&](const Packet& packet) { ... });
#pragma once

#include <cstdint>
#include <expected>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <variant>

#include "conformance/packet.hpp"
#include "conformance/stop_switch.hpp"

namespace weft::conformance {

/// Describes why a capture cannot be read, or not any further.
struct CaptureError {
  /// Identifies the error.
  enum class Kind : std::uint8_t {
    kCannotRead,  ///< the file does not exist or cannot be read, the disk fails, or decompression needs too much memory
    kNotACapture,      ///< neither pcap nor pcapng
    kCutShort,         ///< the file ends within a packet or block, or its compressed octets end early
    kDamaged,          ///< a length or block is invalid, or decompression fails
    kUnknownLinkType,  ///< weft does not know the link type of the packets
    kNoPermission,     ///< the process lacks the permission to capture
    kNoSuchInterface,  ///< no interface has this name
    kInterfaceFailed,  ///< the interface went down, or cannot be captured from
    kStopped,          ///< stopped before the kind of the capture was known
  };
  Kind kind{};             ///< error, for programs
  std::string sentence{};  ///< one sentence for people, which names the file or interface and the reason
};

/// Reports that a live interface had no packet in time: call next() again.
struct NothingYet {};
/// Reports that there are no more packets.
struct CaptureEnd {};

/// Describes how much of a file was read, for a progress bar. For a compressed file, counts compressed octets.
struct CaptureProgress {
  std::uint64_t octets{};  ///< octets read so far
  std::uint64_t of{};      ///< octets of the file
};

/// Reads one capture. Not thread-safe, but any thread may call StopSwitch::stop().
class CaptureReader {
 public:
  /// Opens a file. "-" is the standard input.
  /// Once `stop` is turned, next() reports the end, and an open() that waits for a pipe fails. The switch must outlive
  /// the reader. It may be null: then only the end of the capture ends the reading.
  [[nodiscard]] static std::expected<CaptureReader, CaptureError> open(const std::string& path,
                                                                       const StopSwitch* stop = nullptr);
  /// Opens a live interface and captures packets that are TCP or may carry it. Packets are numbered in order. Requires
  /// the capability CAP_NET_RAW.
  [[nodiscard]] static std::expected<CaptureReader, CaptureError> open_interface(const std::string& name,
                                                                                 const StopSwitch* stop = nullptr);
  /// Closes the file or interface.
  ~CaptureReader();
  /// Takes over the capture of another reader, which must not be used afterwards.
  CaptureReader(CaptureReader&&) noexcept;
  /// Closes the capture and takes over that of another reader, which must not be used afterwards.
  CaptureReader& operator=(CaptureReader&&) noexcept;

  /// Holds a result of next(). The octets of a packet are valid until the next call.
  /// An error follows all packets that precede the damage. An error and the end are final: later calls return the same.
  using Next = std::variant<Packet, NothingYet, CaptureEnd, CaptureError>;
  /// Returns the next packet. Waits for a pipe until there is one. Waits for an interface for a fraction of a second,
  /// and then returns NothingYet.
  [[nodiscard]] Next next();

  /// Returns TLS secrets that the packets so far were preceded by, in the format of a key log, and forgets them: pass
  /// them to KeyLog::add() before the packet. Only pcapng has them (Decryption Secrets Blocks).
  [[nodiscard]] std::string take_secrets();

  /// Returns the progress; nothing for pipes and interfaces.
  [[nodiscard]] std::optional<CaptureProgress> progress() const;
  /// Returns the filter of a live interface in the syntax of pcap-filter(7); else empty.
  [[nodiscard]] std::string_view filter() const noexcept;

 private:
  class Source;
  explicit CaptureReader(std::unique_ptr<Source> source) noexcept;
  std::unique_ptr<Source> source_;
};

class KeyLog;

/// Passes each packet to `take`, up to the end, the first error or the turn of the switch. Returns the error, if any.
/// Secrets in the capture are added to `keys`, unless that is null.
[[nodiscard]] std::optional<CaptureError> read_packets(CaptureReader& reader,
                                                       const std::function<void(const Packet&)>& take,
                                                       KeyLog* keys = nullptr);

}  // namespace weft::conformance
