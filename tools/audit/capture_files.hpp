// SPDX-License-Identifier: Apache-2.0
// -w and -b: the packets of a live capture go to a file, or to a ring of files of which the oldest is removed. The
// options are those of tshark with the same letters.
#pragma once

#include <cstdint>
#include <deque>
#include <memory>
#include <string>
#include <vector>

#include "conformance/packet.hpp"
#include "tools/cli/outcome.hpp"

struct pcap;
struct pcap_dumper;

namespace weft::tools::audit {

// When the next file begins, and how many are kept. 0: no limit.
struct RingLimits {
  std::uint64_t octets{};   // of a file
  std::uint64_t seconds{};  // of packets in a file, by their times
  std::uint64_t files{};

  // "filesize:KB" (of 1000 octets), "duration:SECONDS" and "files:N"; one of the first two is needed, unless there is
  // none at all. Fails with ExitCode::kUsage.
  [[nodiscard]] static Outcome<RingLimits> parse(const std::vector<std::string>& words);
  [[nodiscard]] bool one_file() const noexcept { return octets == 0 && seconds == 0; }
};

// Files are pcap with times in nanoseconds and the owner's alone (mode 0600); links, files of other users and files
// with a second name are refused. Those of a ring are called NAME_00001_YYYYMMDDhhmmss.EXT, with the time (UTC) of
// their first packet. Not thread-safe.
class CaptureFiles {
 public:
  // Nothing is written before the first packet. Without a path nothing ever is.
  CaptureFiles(std::string path, RingLimits limits) : path_(std::move(path)), limits_(limits) {}
  ~CaptureFiles();
  CaptureFiles(const CaptureFiles&) = delete;
  CaptureFiles& operator=(const CaptureFiles&) = delete;

  // Writes a packet. After a failure, later packets are not written.
  void take(const conformance::Packet& packet);
  // Closes the last file. Fails with ExitCode::kUnwritten if anything could not be written.
  [[nodiscard]] Outcome<void> finish();

 private:
  struct Close {
    void operator()(pcap* of) const noexcept;
    void operator()(pcap_dumper* file) const noexcept;
  };
  [[nodiscard]] bool full(const conformance::Packet& packet) const;
  [[nodiscard]] std::string name_of_next(std::int64_t time);
  void begin(const conformance::Packet& packet);
  void end();
  void fail(const std::string& why);

  std::string path_;
  RingLimits limits_;
  Outcome<void> outcome_{};
  std::unique_ptr<pcap, Close> format_{};
  std::unique_ptr<pcap_dumper, Close> file_{};
  std::deque<std::string> names_{};  // of the files that are kept
  std::uint64_t begun_ = 0;          // files
  std::uint64_t octets_ = 0;         // of the file
  std::int64_t first_time_ = 0;      // of the file
};

}  // namespace weft::tools::audit
