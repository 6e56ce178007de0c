// SPDX-License-Identifier: Apache-2.0
#include "tools/audit/capture_files.hpp"

#include <fmt/chrono.h>
#include <fmt/format.h>
#include <pcap/pcap.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstdio>
#include <ctime>
#include <filesystem>
#include <string_view>

#include "common/number.hpp"
#include "transport/output_file.hpp"
#include "transport/system_words.hpp"

namespace weft::tools::audit {
namespace {

constexpr std::uint64_t kFileHeader = 24;
constexpr std::uint64_t kRecordHeader = 16;
constexpr std::int64_t kSecond = 1'000'000'000;
constexpr int kSnapLength = 262144;

int dlt_of(conformance::LinkType link) noexcept {
  using conformance::LinkType;
  return link == LinkType::kRawIp || link == LinkType::kUnknown ? DLT_RAW : static_cast<int>(link);
}

}  // namespace

Outcome<RingLimits> RingLimits::parse(const std::vector<std::string>& words) {
  RingLimits limits;
  for (const std::string& word : words) {
    const std::size_t colon = std::min(word.find(':'), word.size());
    const std::string_view key = std::string_view(word).substr(0, colon);
    const std::string_view value = std::string_view(word).substr(std::min(colon + 1, word.size()));
    constexpr std::uint64_t kMost = 1'000'000'000;
    const auto number = parse_number<std::uint64_t>(value);
    std::uint64_t* const place = key == "filesize"   ? &limits.octets
                                 : key == "duration" ? &limits.seconds
                                 : key == "files"    ? &limits.files
                                                     : nullptr;
    const bool good = number && *number > 0 && *number <= kMost;
    if (place == nullptr || !good)
      return usage_error("-b: '" + word + "' is not filesize:KB, duration:SECONDS or files:N.");
    *place = place == &limits.octets ? *number * 1000 : *number;
  }
  if (limits.files != 0 && limits.one_file())
    return usage_error("-b: files:N needs filesize:KB or duration:SECONDS, which begin the next file.");
  return limits;
}

void CaptureFiles::Close::operator()(pcap* of) const noexcept { pcap_close(of); }
void CaptureFiles::Close::operator()(pcap_dumper* file) const noexcept { pcap_dump_close(file); }

CaptureFiles::~CaptureFiles() = default;

void CaptureFiles::fail(const std::string& why) {
  file_.reset();
  outcome_ = std::unexpected(Failure{"the capture was not written: " + why + ".", ExitCode::kUnwritten});
}

bool CaptureFiles::full(const conformance::Packet& packet) const {
  if (file_ == nullptr) return true;
  if (limits_.one_file()) return false;
  const std::uint64_t after = octets_ + kRecordHeader + packet.captured.size();
  const bool large = limits_.octets != 0 && after > limits_.octets && octets_ > kFileHeader;
  const bool old =
      limits_.seconds != 0 && packet.time - first_time_ >= static_cast<std::int64_t>(limits_.seconds) * kSecond;
  return large || old;
}

std::string CaptureFiles::name_of_next(std::int64_t time) {
  ++begun_;
  if (limits_.one_file()) return path_;
  const std::filesystem::path path(path_);
  const auto seconds = static_cast<std::time_t>(time / kSecond);
  std::tm date{};
  ::gmtime_r(&seconds, &date);
  const std::string name =
      fmt::format("{}_{:05}_{:%Y%m%d%H%M%S}{}", path.stem().string(), begun_, date, path.extension().string());
  return (path.parent_path() / name).string();
}

void CaptureFiles::begin(const conformance::Packet& packet) {
  end();
  if (!outcome_) return;
  const std::string name = name_of_next(packet.time);
  const auto descriptor = transport::open_output(name, {});
  if (!descriptor) return fail("cannot write " + name + ": " + descriptor.error().words());
  format_.reset(pcap_open_dead_with_tstamp_precision(dlt_of(packet.link), kSnapLength, PCAP_TSTAMP_PRECISION_NANO));
  std::FILE* const stream = ::fdopen(*descriptor, "wb");
  if (stream == nullptr) ::close(*descriptor);
  file_.reset(stream == nullptr || !format_ ? nullptr : pcap_dump_fopen(format_.get(), stream));
  if (!file_) {
    if (stream != nullptr) std::fclose(stream);
    return fail("cannot write " + name);
  }
  names_.push_back(name);
  octets_ = kFileHeader;
  first_time_ = packet.time;
  if (limits_.files == 0 || names_.size() <= limits_.files) return;
  ::unlink(names_.front().c_str());
  names_.pop_front();
}

void CaptureFiles::end() {
  if (!file_) return;
  const bool whole = pcap_dump_flush(file_.get()) == 0 && std::ferror(pcap_dump_file(file_.get())) == 0;
  const int error = errno;
  file_.reset();
  if (!whole) fail("cannot write " + names_.back() + ": " + system_words(error));
}

void CaptureFiles::take(const conformance::Packet& packet) {
  if (path_.empty() || !outcome_) return;
  if (full(packet)) begin(packet);
  if (!file_) return;
  const pcap_pkthdr header{.ts = {.tv_sec = packet.time / kSecond, .tv_usec = packet.time % kSecond},
                           .caplen = static_cast<bpf_u_int32>(packet.captured.size()),
                           .len = packet.original_size};
  pcap_dump(reinterpret_cast<u_char*>(file_.get()), &header, reinterpret_cast<const u_char*>(packet.captured.data()));
  octets_ += kRecordHeader + packet.captured.size();
  if (std::ferror(pcap_dump_file(file_.get())) != 0) fail("cannot write " + names_.back() + ": " + system_words(errno));
}

Outcome<void> CaptureFiles::finish() {
  end();
  return outcome_;
}

}  // namespace weft::tools::audit
