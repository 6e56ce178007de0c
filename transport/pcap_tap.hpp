// SPDX-License-Identifier: Apache-2.0
// Writes what connections sent and received into a pcap file, as Ethernet, IP and TCP packets that Wireshark opens.
// Nothing is captured, so nothing needs a privilege: the octets are those that passed through read() and write(), and
// the headers around them are composed here. Order, content and direction are true; segment limits, TCP options and
// acknowledgements are what a quiet network might have shown.
#pragma once

#include <cstddef>
#include <cstdint>
#include <expected>
#include <functional>
#include <memory>
#include <span>
#include <string>
#include <string_view>

#include "common/wire.hpp"
#include "transport/endpoint.hpp"

namespace weft::transport {

namespace detail {
class PcapFile;
struct PcapConversation;
}  // namespace detail

class PcapStream;

struct PcapError {
  std::string sentence{};      // names the path and the cause
  std::string_view refusal{};  // the cause, when it is not the system's: a link, another user's file; static storage
  int os_error{};              // errno; 0 then
};

// One file for any number of connections. Thread-safe. The file has its name from the beginning, and every call leaves
// whole packets in it: it can be read while the program runs, and after it was killed. When a write fails (a full disk, a
// limit of setrlimit(2)), the file ends behind the last whole packet.
class PcapTap {
 public:
  // Creates or truncates `path`, for its owner alone; follows no link, and writes to no file of another user. A named
  // pipe needs a reader. The first failure to write later (disk full ...) is told to `on_failure`, once,
  // by the thread whose octets were to be written; no packets follow. It must not call the tap or its streams.
  using OnFailure = std::function<void(const PcapError&)>;
  [[nodiscard]] static std::expected<PcapTap, PcapError> create(const std::string& path, OnFailure on_failure = {});
  ~PcapTap();
  PcapTap(PcapTap&&) noexcept;
  PcapTap& operator=(PcapTap&&) noexcept;

  enum class Opener : std::uint8_t { kLocal, kRemote };  // who sent the SYN
  static constexpr std::size_t kMaxSegment = 65495;      // 65535 octets of IPv4 packet less IPv4 and TCP headers

  // Writes the three packets of the handshake. `mss` is the most payload of one packet; 0 means kMaxSegment. The stream
  // may outlive the tap; the file is closed with the last of them.
  [[nodiscard]] PcapStream open(const Endpoint& local, const Endpoint& remote, Opener opener, std::size_t mss = 0);

 private:
  explicit PcapTap(std::shared_ptr<detail::PcapFile> file) noexcept;
  std::shared_ptr<detail::PcapFile> file_;
};

// One connection in the file. Thread-safe. Each call starts a new packet: call sent() with one FPDU, or without
// Markers with a run of whole FPDUs, and dissectors find an FPDU at the packet's start. Calls after the end of their
// direction write nothing.
class PcapStream {
 public:
  PcapStream() noexcept;  // writes nothing
  ~PcapStream();          // writes nothing: a connection whose end was not told stays open in the file
  PcapStream(PcapStream&&) noexcept;
  PcapStream& operator=(PcapStream&&) noexcept;

  void sent(std::span<const Bytes> pieces);  // one run of octets
  void sent(Bytes octets) { sent(std::span(&octets, 1)); }
  void received(Bytes octets);
  void fin_sent();
  void fin_received();
  void rst_sent();
  void rst_received();

 private:
  friend class PcapTap;
  explicit PcapStream(std::unique_ptr<detail::PcapConversation> conversation) noexcept;
  std::unique_ptr<detail::PcapConversation> conversation_;
};

}  // namespace weft::transport
