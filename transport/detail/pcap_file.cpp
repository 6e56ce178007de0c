// SPDX-License-Identifier: Apache-2.0
#include "transport/detail/pcap_file.hpp"

#include <stdio_ext.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <chrono>
#include <cstdio>
#include <utility>

#include "transport/cancellation.hpp"
#include "transport/output_file.hpp"
#include "transport/size_limit.hpp"
#include "transport/system_words.hpp"

namespace weft::transport::detail {
namespace {

constexpr int kSnapLength = 262144;            // the usual value; no packet is longer
constexpr std::size_t kRecordHeaderSize = 16;  // of a packet in the file
constexpr std::size_t kBufferSize = 1 << 17;   // more than a packet, so that each flush is one write of whole packets

std::string sentence(std::string_view what, const std::string& path, std::string_view why) {
  return std::string(what) + ' ' + path + ": " + std::string(why);
}

std::unexpected<PcapError> refused(std::string_view what, const std::string& path, int why) {
  return std::unexpected(PcapError{sentence(what, path, system_words(why)), {}, why});
}

std::unexpected<PcapError> refused(const std::string& path, const FileRefusal& refusal) {
  return std::unexpected(PcapError{sentence("cannot create", path, refusal.words()), refusal.why, refusal.os_error});
}

}  // namespace

PcapFile::PcapFile(std::string path, PcapTap::OnFailure on_failure, pcap_t* format, pcap_dumper_t* dumper) noexcept
    : path_(std::move(path)), format_(format), dumper_(dumper), on_failure_(std::move(on_failure)) {}

PcapFile::~PcapFile() {
  pcap_dump_close(dumper_);
  pcap_close(format_);
}

std::expected<std::shared_ptr<PcapFile>, PcapError> PcapFile::create(const std::string& path,
                                                                     PcapTap::OnFailure on_failure) {
  const auto descriptor = open_output(path, {});
  if (!descriptor) return refused(path, descriptor.error());
  std::FILE* const file = ::fdopen(*descriptor, "wb");
  if (file == nullptr) {
    const int why = errno;
    ::close(*descriptor);
    return refused("cannot create", path, why);
  }
  const SizeLimitIsAnError here;
  std::setvbuf(file, nullptr, _IOFBF, kBufferSize);
  pcap_t* format = pcap_open_dead_with_tstamp_precision(DLT_EN10MB, kSnapLength, PCAP_TSTAMP_PRECISION_NANO);
  pcap_dumper_t* dumper = format == nullptr ? nullptr : pcap_dump_fopen(format, file);
  if (dumper == nullptr || pcap_dump_flush(dumper) != 0) {
    const int why = format == nullptr ? ENOMEM : errno;
    std::fclose(file);
    if (format != nullptr) pcap_close(format);
    return refused("cannot write", path, why);
  }
  return std::shared_ptr<PcapFile>(new PcapFile(path, std::move(on_failure), format, dumper));
}

// The wall clock, for people; but a file whose times run backwards confuses readers.
timeval PcapFile::now() {
  const auto clock = std::chrono::system_clock::now().time_since_epoch();
  latest_ = std::max(latest_, std::int64_t{std::chrono::nanoseconds(clock).count()});
  return {.tv_sec = latest_ / 1'000'000'000,
          .tv_usec = latest_ % 1'000'000'000};  // nanoseconds, as the file header says
}

// `part`: a segment or a datagram.
void PcapFile::write_packet(const auto& part, packet::PieceReader& payload, std::size_t payload_octets) {
  if (failed_) return;
  const NoCancellation here;
  const SizeLimitIsAnError limited;
  packet::compose(frame_, part, payload, payload_octets);
  pcap_pkthdr header{};
  header.ts = now();
  header.caplen = static_cast<bpf_u_int32>(frame_.size());
  header.len = header.caplen;
  pcap_dump(reinterpret_cast<u_char*>(dumper_), &header, reinterpret_cast<const u_char*>(frame_.data()));
  if (pcap_dump_flush(dumper_) != 0 || std::ferror(pcap_dump_file(dumper_)) != 0) return fail(errno);
  octets_ += kRecordHeaderSize + frame_.size();
}

void PcapFile::write(const packet::Segment& segment, packet::PieceReader& payload, std::size_t payload_octets) {
  write_packet(segment, payload, payload_octets);
}

void PcapFile::write(const packet::Datagram& datagram, packet::PieceReader& payload, std::size_t payload_octets) {
  write_packet(datagram, payload, payload_octets);
}

// Removes the incomplete packet at the end of the file, and what closing the file would still write.
void PcapFile::fail(int why) {
  failed_ = true;
  std::FILE* const file = pcap_dump_file(dumper_);
  ::__fpurge(file);
  static_cast<void>(::ftruncate(::fileno(file), static_cast<off_t>(octets_)) == 0);  // a pipe or device has no length
  if (on_failure_) on_failure_({sentence("cannot write", path_, system_words(why)), {}, why});
}

}  // namespace weft::transport::detail
