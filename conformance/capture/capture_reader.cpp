// SPDX-License-Identifier: Apache-2.0
#include "conformance/capture_reader.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>
#include <pcap/pcap.h>
#include <poll.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <cstdio>
#include <system_error>
#include <utility>

#include "conformance/capture/pcap_words.hpp"
#include "conformance/capture/pcapng_file.hpp"
#include "conformance/capture/unpacked_file.hpp"
#include "conformance/key_log.hpp"
#include "packet/encapsulation.hpp"
#include "transport/system_words.hpp"

namespace weft::conformance {
namespace {

using Kind = CaptureError::Kind;
using Error = std::array<char, PCAP_ERRBUF_SIZE>;

constexpr int kSnapLength = 262144;         // no packet is longer
constexpr int kPatience = 100;              // milliseconds that the kernel gathers packets of a live interface
constexpr int kInterfaceBuffer = 64 << 20;  // octets that may wait in the kernel while we work

struct ClosePcap {
  void operator()(pcap_t* pcap) const noexcept { pcap_close(pcap); }
};
using Pcap = std::unique_ptr<pcap_t, ClosePcap>;

std::string in_words(const std::string& path) { return path == "-" ? "the standard input" : path; }

// libpcap was asked for nanoseconds; an interface that cannot gives microseconds. The seconds of a damaged file may be
// anything: the sum wraps and is no worse.
std::int64_t nanoseconds(const timeval& time, int precision) {
  const std::uint64_t unit = precision == PCAP_TSTAMP_PRECISION_NANO ? 1 : 1000;
  return static_cast<std::int64_t>(static_cast<std::uint64_t>(time.tv_sec) * 1'000'000'000 +
                                   static_cast<std::uint64_t>(time.tv_usec) * unit);
}

// TCP, and what may carry it: encapsulations, and their fragments. `vlan` is an error where the link layer is no
// Ethernet, and moves the offsets of what follows it.
std::string filter_for(pcap_t* pcap) {
  std::string filter = "tcp";
  for (const int protocol : packet::kTunnels) filter += fmt::format(" or ip proto {0} or ip6 proto {0}", protocol);
  filter += fmt::format(" or (udp and (port {}))", fmt::join(packet::kTunnelPorts, " or port "));
  filter += " or ip[6:2] & 0x1fff != 0 or ip6 proto 44";
  if (pcap_datalink(pcap) != DLT_EN10MB) return filter;
  for (const int type : packet::kTunnelTypes) filter += fmt::format(" or ether proto {:#06x}", type);
  return filter + " or vlan";
}

bool set_filter(pcap_t* pcap, const std::string& filter) {
  bpf_program program{};
  if (pcap_compile(pcap, &program, filter.c_str(), 1, PCAP_NETMASK_UNKNOWN) != 0) return false;
  const bool set = pcap_setfilter(pcap, &program) == 0;
  pcap_freecode(&program);
  return set;
}

}  // namespace

class CaptureReader::Source {
 public:
  // `file` is what `pcap` reads; null for a live interface, which has a filter.
  Source(std::string name, std::unique_ptr<capture::UnpackedFile> file, Pcap pcap, LinkType link,
         const StopSwitch* stop, std::string filter = "")
      : name_(std::move(name)),
        file_(std::move(file)),
        pcap_(std::move(pcap)),
        link_(link),
        stop_(stop),
        filter_(std::move(filter)),
        precision_(pcap_get_tstamp_precision(pcap_.get())) {}

  // pcapng, which libpcap reads in parts only.
  Source(std::string name, std::unique_ptr<capture::UnpackedFile> file, const StopSwitch* stop)
      : name_(std::move(name)), file_(std::move(file)), stop_(stop), blocks_(std::in_place, *file_, name_) {}

  Next next() {
    if (over_) return *over_;
    if (stopped()) return finish(CaptureEnd{});
    if (blocks_) return next_of_blocks();
    pcap_pkthdr* header = nullptr;
    const u_char* octets = nullptr;
    switch (pcap_next_ex(pcap_.get(), &header, &octets)) {
      case 1: return packet(*header, octets);
      case 0: return wait();
      case PCAP_ERROR_BREAK: return finish(at_end());  // also the end of a file
      default: return finish(at_error());
    }
  }

  [[nodiscard]] std::string take_secrets() { return blocks_ ? blocks_->take_secrets() : std::string(); }

  [[nodiscard]] std::optional<CaptureProgress> progress() const {
    return file_ == nullptr ? std::nullopt : file_->progress();
  }
  [[nodiscard]] std::string_view filter() const noexcept { return filter_; }

 private:
  Next next_of_blocks() {
    auto next = blocks_->next();
    if (const auto* packet = std::get_if<Packet>(&next)) return *packet;
    if (auto* error = std::get_if<CaptureError>(&next)) return finish(std::move(*error));
    return finish(CaptureEnd{});
  }

  Packet packet(const pcap_pkthdr& header, const u_char* octets) {
    return {.number = ++packets_,
            .time = nanoseconds(header.ts, precision_),
            .link = link_,
            .captured = std::as_bytes(std::span(octets, header.caplen)),
            .original_size = std::max(header.len, header.caplen)};
  }

  [[nodiscard]] bool stopped() const noexcept { return stop_ != nullptr && stop_->stopped(); }

  // For packets of a live interface, or for the switch.
  Next wait() const {
    std::array<pollfd, 2> ready{
        {{pcap_get_selectable_fd(pcap_.get()), POLLIN, 0}, {stop_ != nullptr ? stop_->descriptor() : -1, POLLIN, 0}}};
    static_cast<void>(
        ::poll(ready.data(), ready.size(), kPatience));  // a signal ends it early, and the caller asks again
    return NothingYet{};
  }

  // Compressed octets may be damaged where the packets in them end by chance.
  [[nodiscard]] Next at_end() const {
    if (!stopped() && file_ != nullptr && file_->trouble()) return *file_->trouble();
    return CaptureEnd{};
  }

  [[nodiscard]] Next at_error() const {
    if (stopped()) return CaptureEnd{};  // inside a packet, which is no damage
    if (file_ != nullptr && file_->trouble()) return *file_->trouble();
    const char* said = pcap_geterr(pcap_.get());
    return file_ == nullptr ? capture::interface_error(name_, PCAP_ERROR, said) : capture::file_error(name_, said);
  }

  Next finish(Next how) {
    over_ = how;
    return how;
  }

  std::string name_;
  std::unique_ptr<capture::UnpackedFile> file_;
  Pcap pcap_{};  // goes before the file that it reads
  LinkType link_{};
  const StopSwitch* stop_;
  std::string filter_{};
  int precision_{};
  std::uint64_t packets_ = 0;
  std::optional<capture::PcapngFile> blocks_{};  // instead of `pcap_`
  std::optional<Next> over_{};
};

CaptureReader::CaptureReader(std::unique_ptr<Source> source) noexcept : source_(std::move(source)) {}
CaptureReader::~CaptureReader() = default;
CaptureReader::CaptureReader(CaptureReader&&) noexcept = default;
CaptureReader& CaptureReader::operator=(CaptureReader&&) noexcept = default;

CaptureReader::Next CaptureReader::next() { return source_->next(); }
std::string CaptureReader::take_secrets() { return source_->take_secrets(); }
std::optional<CaptureProgress> CaptureReader::progress() const { return source_->progress(); }
std::string_view CaptureReader::filter() const noexcept { return source_->filter(); }

namespace {

// libpcap took `file` for no capture.
CaptureError not_opened(const capture::UnpackedFile& file, const std::string& name, std::string_view said,
                        const StopSwitch* stop) {
  if (stop != nullptr && stop->stopped()) return {Kind::kStopped, name + " gave no capture before the interrupt"};
  if (file.trouble()) return *file.trouble();
  CaptureError error = capture::file_error(name, said);
  if (!file.compression().empty()) error.sentence += ", once unpacked (" + std::string(file.compression()) + ')';
  return error;
}

}  // namespace

std::expected<CaptureReader, CaptureError> CaptureReader::open(const std::string& path, const StopSwitch* stop) {
  const std::string name = in_words(path);
  auto file = std::make_unique<capture::UnpackedFile>(path, name, stop);
  if (file->is_open() && capture::PcapngFile::is_begun_by(file->peek()))
    return CaptureReader(std::make_unique<Source>(name, std::move(file), stop));
  std::FILE* stream = file->is_open() ? file->make_stream() : nullptr;
  if (stream == nullptr) {
    return std::unexpected(CaptureError{Kind::kCannotRead, "cannot read " + name + ": " + system_words(errno)});
  }
  Error said{};
  Pcap pcap(pcap_fopen_offline_with_tstamp_precision(stream, PCAP_TSTAMP_PRECISION_NANO, said.data()));
  if (!pcap) {
    std::fclose(stream);
    return std::unexpected(not_opened(*file, name, said.data(), stop));
  }
  const int dlt = pcap_datalink(pcap.get());
  const auto link = capture::link_type(dlt);
  if (!link) return std::unexpected(capture::unknown_link_type(name, dlt));
  return CaptureReader(std::make_unique<Source>(name, std::move(file), std::move(pcap), *link, stop));
}

std::expected<CaptureReader, CaptureError> CaptureReader::open_interface(const std::string& name,
                                                                         const StopSwitch* stop) {
  Error said{};
  const Pcap::pointer made = pcap_create(name.c_str(), said.data());
  if (made == nullptr) return std::unexpected(capture::interface_error(name, PCAP_ERROR, said.data()));
  Pcap pcap(made);
  pcap_set_snaplen(made, kSnapLength);
  pcap_set_promisc(made, 1);
  pcap_set_timeout(made, kPatience);
  pcap_set_buffer_size(made, kInterfaceBuffer);
  pcap_set_tstamp_precision(made, PCAP_TSTAMP_PRECISION_NANO);  // where it cannot, libpcap keeps microseconds
  if (const int status = pcap_activate(made); status < 0) {
    return std::unexpected(capture::interface_error(name, status, status == PCAP_ERROR ? pcap_geterr(made) : ""));
  }
  const auto link = capture::link_type(pcap_datalink(made));
  if (!link) return std::unexpected(capture::unknown_link_type(name, pcap_datalink(made)));
  // Only Source::wait() sleeps.
  const std::string filter = filter_for(made);
  if (!set_filter(made, filter) || pcap_setnonblock(made, 1, said.data()) != 0)
    return std::unexpected(capture::interface_error(name, PCAP_ERROR, pcap_geterr(made)));
  return CaptureReader(std::make_unique<Source>(name, nullptr, std::move(pcap), *link, stop, filter));
}

std::optional<CaptureError> read_packets(CaptureReader& reader, const std::function<void(const Packet&)>& take,
                                         KeyLog* keys) {
  for (;;) {
    const auto next = reader.next();
    if (const std::string secrets = reader.take_secrets(); keys != nullptr && !secrets.empty()) keys->add(secrets);
    if (const auto* error = std::get_if<CaptureError>(&next)) return *error;
    if (std::holds_alternative<CaptureEnd>(next)) return std::nullopt;
    if (const auto* packet = std::get_if<Packet>(&next)) take(*packet);
  }
}

}  // namespace weft::conformance
