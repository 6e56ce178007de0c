// SPDX-License-Identifier: Apache-2.0
// A hostile capture: the octets of a pcap or pcapng file, through the reader and TCP. What comes out of a direction has
// to be in sequence, and nothing comes behind its end.
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <map>
#include <span>
#include <string>
#include <utility>

#include <unistd.h>

#include "conformance/capture_reader.hpp"
#include "conformance/tcp_connections.hpp"

using namespace weft::conformance;

namespace {

void require(bool condition) {
  if (!condition) std::abort();
}

// One per process: libpcap reads files.
const std::string& path() {
  static const std::string name = [] {
    std::string pattern = "/tmp/weft-capture-fuzz-XXXXXX";
    const int file = ::mkstemp(pattern.data());
    require(file >= 0);
    ::close(file);
    std::atexit([] { std::remove(path().c_str()); });
    return pattern;
  }();
  return name;
}

struct Direction {
  std::uint64_t next = 0;
  bool closed = false;
};

class Checker {
 public:
  void poll(TcpConnections& tcp) {
    while (const auto event = tcp.next()) {
      connection_ = event->connection;
      std::visit(*this, event->event);
    }
  }

  void operator()(const TcpEvent& event) { std::visit(*this, event); }
  void operator()(const TcpOpened&) {}
  void operator()(const TcpSegment&) {}
  void operator()(const TcpOctets& octets) {
    for (const std::byte octet : octets.octets) sum_ += std::to_integer<unsigned>(octet);  // reads each
    advance(octets.from, octets.stream_offset, octets.octets.size());
  }
  void operator()(const TcpGap& gap) { advance(gap.from, gap.stream_offset, gap.size); }
  void operator()(const TcpClosed& closed) { std::exchange(of(closed.from).closed, true); }
  void operator()(const ConnectionOver& over) {
    require(over.info.number == connection_);
    for (const End end : {End::kFirst, End::kSecond}) directions_.erase({connection_, end});
  }

 private:
  Direction& of(End end) { return directions_[{connection_, end}]; }
  void advance(End end, std::uint64_t offset, std::uint64_t size) {
    Direction& direction = of(end);
    require(!direction.closed && direction.next == offset && size > 0);
    direction.next += size;
  }

  std::map<std::pair<std::size_t, End>, Direction> directions_{};
  std::size_t connection_ = 0;
  unsigned sum_ = 0;
};

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  std::FILE* file = std::fopen(path().c_str(), "wb");
  require(file != nullptr && std::fwrite(data, 1, size, file) == size);
  std::fclose(file);
  auto reader = CaptureReader::open(path());
  if (!reader) return 0;
  TcpConnections tcp({.connections = 4, .buffered_per_direction = 4096, .buffered = 8192});
  Checker checker;
  for (;;) {
    const auto next = reader->next();
    const auto* packet = std::get_if<Packet>(&next);
    if (packet == nullptr) break;
    require(tcp.take(*packet));
    checker.poll(tcp);
  }
  tcp.finish();
  checker.poll(tcp);
  return 0;
}
