// SPDX-License-Identifier: Apache-2.0
// Private to transport/: a pcap file with nanosecond timestamps. Includes libpcap.
#pragma once

#include <pcap/pcap.h>

#include <cstdint>
#include <expected>
#include <memory>
#include <mutex>
#include <optional>
#include <string>
#include <vector>

#include "common/wire.hpp"
#include "packet/conversation.hpp"
#include "transport/pcap_tap.hpp"

namespace weft::transport::detail {

class PcapFile final : public packet::SegmentSink {
 public:
  static std::expected<std::shared_ptr<PcapFile>, PcapError> create(const std::string& path,
                                                                    PcapTap::OnFailure on_failure);
  ~PcapFile();
  PcapFile(const PcapFile&) = delete;
  PcapFile& operator=(const PcapFile&) = delete;

  // One lock for the file and all its conversations: it keeps sequence numbers and packets in the same order.
  [[nodiscard]] std::unique_lock<std::mutex> lock() { return std::unique_lock(mutex_); }

  // The rest needs the lock.
  void write(const packet::Segment& segment, packet::PieceReader& payload, std::size_t payload_octets) override;
  void write(const packet::Datagram& datagram, packet::PieceReader& payload, std::size_t payload_octets);
  // Initial sequence numbers, apart from each other so that a reused pair of ports is seen to be a new connection.
  [[nodiscard]] std::uint32_t next_initial_sequence() noexcept { return initial_sequence_ += 0x01000193; }

 private:
  static constexpr std::uint64_t kFileHeaderSize = 24;

  PcapFile(std::string path, PcapTap::OnFailure on_failure, pcap_t* format, pcap_dumper_t* dumper) noexcept;
  void write_packet(const auto& part, packet::PieceReader& payload, std::size_t payload_octets);
  void fail(int why);
  [[nodiscard]] timeval now();

  std::mutex mutex_;
  std::string path_;
  pcap_t* format_;
  pcap_dumper_t* dumper_;
  PcapTap::OnFailure on_failure_;
  std::uint64_t octets_ = kFileHeaderSize;  // of the file header and the complete packets
  bool failed_ = false;
  std::vector<std::byte> frame_{};
  std::uint32_t initial_sequence_ = 0;
  std::int64_t latest_ = 0;  // nanoseconds
};

}  // namespace weft::transport::detail
