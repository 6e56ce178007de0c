// SPDX-License-Identifier: Apache-2.0
// The packets of a capture: a pcap or pcapng file in any byte order, as it is or compressed by gzip, zstd or xz; the
// standard input with the same; or a live interface.
//
//   StopSwitch stop;                                        // for signal handlers; may be left out
//   auto reader = CaptureReader::open("trace.pcapng", &stop);
//   const auto damage = read_packets(*reader, [&](const Packet& packet) { ... });
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

// Why a capture cannot be read, or not any further.
struct CaptureError {
  // What is wrong.
  enum class Kind : std::uint8_t {
    kCannotRead,       // no such file, no right to read it, the disk fails; or it asks for too much memory to unpack
    kNotACapture,      // neither pcap nor pcapng
    kCutShort,         // it ends inside a packet or block, or its compressed octets end too early
    kDamaged,          // a length or a block in it makes no sense, or it cannot be unpacked any further
    kMixedInterfaces,  // pcapng with several interfaces whose packets libpcap cannot give through one reader
    kUnknownLinkType,  // weft does not know where its packets have the IP header
    kNoPermission,     // to capture
    kNoSuchInterface,  // of this name
    kInterfaceFailed,  // went down, or cannot be captured from
    kStopped,          // before it was known what capture it is
  };
  Kind kind{};             // for programs
  std::string sentence{};  // for people: names the file or interface, and the reason
};

struct NothingYet {};  // a live interface is quiet: ask again
struct CaptureEnd {};  // there are no more packets

// How much of a file has been read, for a progress bar. Of a compressed one, compressed octets count.
struct CaptureProgress {
  std::uint64_t octets{};  // read up to now
  std::uint64_t of{};      // in the file
};

// One capture that is being read. Not safe for threads; a StopSwitch may be turned by any.
class CaptureReader {
 public:
  // "-" is the standard input. Once `stop` is turned, next() ends, and so does the opening of a pipe that is quiet. The
  // switch has to outlive the reader; without one (null) nothing ends before the capture does.
  [[nodiscard]] static std::expected<CaptureReader, CaptureError> open(const std::string& path,
                                                                       const StopSwitch* stop = nullptr);
  // TCP packets only; they are numbered as they are given. Needs the right to capture (CAP_NET_RAW).
  [[nodiscard]] static std::expected<CaptureReader, CaptureError> open_interface(const std::string& name,
                                                                                 const StopSwitch* stop = nullptr);
  ~CaptureReader();                                    // closes the file or interface
  CaptureReader(CaptureReader&&) noexcept;             // the other one is not used any more
  CaptureReader& operator=(CaptureReader&&) noexcept;  // what this was is closed

  // A packet's octets are valid until the next call. An error comes behind everything that could be read before the
  // damage; it and the end are final: every later call says the same.
  using Next = std::variant<Packet, NothingYet, CaptureEnd, CaptureError>;
  // Waits for a packet of a pipe; of an interface for a fraction of a second only, then it is NothingYet.
  [[nodiscard]] Next next();

  [[nodiscard]] LinkType link() const noexcept;                   // how its packets begin
  [[nodiscard]] std::optional<CaptureProgress> progress() const;  // nothing for pipes and interfaces
  [[nodiscard]] std::string_view filter() const noexcept;         // of a live interface, as pcap-filter(7); else empty

 private:
  class Source;
  explicit CaptureReader(std::unique_ptr<Source> source) noexcept;
  std::unique_ptr<Source> source_;
};

// Hands over each packet up to the end, the damage or the turn of the switch. Returns what is damaged, if anything is.
[[nodiscard]] std::optional<CaptureError> read_packets(CaptureReader& reader,
                                                       const std::function<void(const Packet&)>& take);

}  // namespace weft::conformance
