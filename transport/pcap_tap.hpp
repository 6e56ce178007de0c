// SPDX-License-Identifier: Apache-2.0
// Capture of connections and datagrams to a pcap file, as Ethernet, IP and TCP or UDP packets that Wireshark reads. It
// needs no privileges, because the octets are those that passed through system calls, and the packet headers are
// generated here. Order, content and direction are true; segment sizes, TCP options and acknowledgments are plausible
// ones of an idle network.
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
class PcapDatagrams;

struct PcapError {
  std::string sentence{};      // sentence that names the path and the cause
  std::string_view refusal{};  // cause if weft refuses: a link, or a file of another user; static storage
  int os_error{};              // errno; 0 if weft refuses
};

// Captures any number of connections and of sockets for datagrams to one file. Thread-safe. The file has its name from
// the beginning, and after each call it contains complete packets only: it is readable while the program runs, and
// after the program was killed. If a write fails (disk full, limit of setrlimit(2)), the file ends after the last
// complete packet.
class PcapTap {
 public:
  // Creates or truncates `path`, accessible to its owner only. Follows no links, and writes to no file of another user.
  // A named pipe needs a reader. The first failed write later (disk full ...) calls `on_failure` once, in the thread
  // whose octets were to be written, and ends the capture. `on_failure` must not call the tap or its streams.
  using OnFailure = std::function<void(const PcapError&)>;
  [[nodiscard]] static std::expected<PcapTap, PcapError> create(const std::string& path, OnFailure on_failure = {});
  ~PcapTap();
  PcapTap(PcapTap&&) noexcept;
  PcapTap& operator=(PcapTap&&) noexcept;

  enum class Opener : std::uint8_t { kLocal, kRemote };  // sender of the SYN
  static constexpr std::size_t kMaxSegment = 65495;      // 65535 octets of an IPv4 packet less the IPv4 and TCP headers

  // Writes the three packets of the handshake. `mss` is the maximum payload of one packet; 0 means kMaxSegment. The
  // stream may outlive the tap; the last of them closes the file.
  [[nodiscard]] PcapStream open(const Endpoint& local, const Endpoint& remote, Opener opener, std::size_t mss = 0);
  // Writes nothing. As with a stream, the capture of datagrams may outlive the tap.
  [[nodiscard]] PcapDatagrams open_datagrams(const Endpoint& local) noexcept;

 private:
  explicit PcapTap(std::shared_ptr<detail::PcapFile> file) noexcept;
  std::shared_ptr<detail::PcapFile> file_;
};

// Captures one connection. Thread-safe. Each call starts a new packet: call sent() with one FPDU or, without Markers,
// with several complete FPDUs, so that dissectors find an FPDU at the beginning of the packet. Calls after the end of
// their direction write nothing.
class PcapStream {
 public:
  PcapStream() noexcept;  // writes nothing
  // Writes nothing: a connection whose end was not reported remains open in the file.
  ~PcapStream();
  PcapStream(PcapStream&&) noexcept;
  PcapStream& operator=(PcapStream&&) noexcept;

  // Contiguous octets.
  void sent(std::span<const Bytes> pieces);
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

// Captures the datagrams of one UDP socket, each as one packet: at most kMaxPayload octets. Thread-safe. Allocates no
// memory once the longest one was written. Writes nothing of a peer whose IP version is not that of the socket.
class PcapDatagrams {
 public:
  static constexpr std::size_t kMaxPayload = 65507;  // 65535 octets of an IPv4 packet less the IPv4 and UDP headers

  PcapDatagrams() noexcept;  // writes nothing
  ~PcapDatagrams();
  PcapDatagrams(PcapDatagrams&&) noexcept;
  PcapDatagrams& operator=(PcapDatagrams&&) noexcept;

  [[nodiscard]] explicit operator bool() const noexcept { return file_ != nullptr; }
  void sent(const Endpoint& to, Bytes octets);
  void received(const Endpoint& from, Bytes octets);

 private:
  friend class PcapTap;
  PcapDatagrams(std::shared_ptr<detail::PcapFile> file, const Endpoint& local) noexcept;
  void record(const Endpoint& from, const Endpoint& to, Bytes octets);

  std::shared_ptr<detail::PcapFile> file_{};
  Endpoint local_{};
};

}  // namespace weft::transport
